/** What makes no sense of a key, although it is allowed: its holder would be refused, or get nothing. */
import { type Message, say } from '../values/message.ts';
import type { ApiKey, ApiKeyValues, Scope } from './api-keys.ts';

/** What else a warning may depend on. */
export interface KeyContext {
  /** Epoch seconds. */
  readonly now: number;
  /** The other keys. */
  readonly others: readonly Pick<ApiKey, 'id' | 'name'>[];
}

/** @returns the warning, or undefined */
type Rule = (key: ApiKeyValues, context: KeyContext) => Message | undefined;

const only = (isWrong: boolean, warning: Message): Message | undefined => (isWrong ? warning : undefined);

const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** What a `--lookup-only` key is refused, whatever its scopes. */
const CLOSED_TO_LOOKUPS: readonly Scope[] = [
  'members:write',
  'loans:read',
  'loans:write',
  'payments:read',
  'payments:write',
  'webhooks:receive',
];

const RULES: readonly Rule[] = [
  ({ expiresAt }, { now }) =>
    only(
      expiresAt !== null && expiresAt <= now,
      say('The key has expired already: every request is refused.'),
    ),
  ({ name }, { others }) => {
    const same = others.find((other) => sameName(other.name, name));
    return same && say('Key {id} has the same name.', { id: same.id });
  },
  ({ limits: { perHour, perDay } }) =>
    only(
      perHour > perDay,
      say('The limit of an hour, {perHour}, is above that of a day, {perDay}, which counts.', {
        perHour,
        perDay,
      }),
    ),
  ({ scopes }) =>
    only(
      scopes.includes('members:financials') && !scopes.includes('members:read'),
      say('members:financials without members:read adds nothing to lookups, which the key may not make.'),
    ),
  ({ scopes }) => {
    const blind = scopes.filter(
      (scope) => scope.endsWith(':write') && !scopes.includes(scope.replace('write', 'read') as Scope),
    );
    return only(
      blind.length > 0,
      say('{scopes} without reading: the key cannot read what it has written.', { scopes: blind }),
    );
  },
  ({ mayExport, scopes }) =>
    only(
      mayExport && !scopes.some((scope) => scope.endsWith(':read')),
      say('The key may export, and has no scope for reading that there would be an export of.'),
    ),
  ({ purpose, requiresPurpose }) =>
    only(
      purpose !== null && requiresPurpose,
      say('The purpose is never recorded: each request must state its own.'),
    ),
  ({ isLookupOnly, mayExport }) =>
    only(
      isLookupOnly && mayExport,
      say('The key may export, and is for lookups only: it can export nothing.'),
    ),
  ({ isLookupOnly, scopes }) => {
    const closed = scopes.filter((scope) => CLOSED_TO_LOOKUPS.includes(scope));
    return only(
      isLookupOnly && closed.length > 0,
      say('The key is for lookups only: it cannot use {scopes}.', { scopes: closed }),
    );
  },
];

/** A sentence for each thing that makes no sense. */
export const warningsOf = (key: ApiKeyValues, context: KeyContext): readonly Message[] =>
  RULES.flatMap((rule) => rule(key, context) ?? []);
