/** Parsers of command-line values; an invalid one ends the command with status 2. */
import { InvalidArgumentError } from 'commander';
import { parseOverlap } from '../../domain/access/key-values.ts';
import { FieldError } from '../../domain/values/errors.ts';
import { say } from '../../domain/values/message.ts';
import { parseNamedCode } from '../../domain/values/text.ts';
import { parseTypes, WEBHOOK_TYPES, type WebhookType } from '../../domain/webhooks/types.ts';
import { IMPORT_KINDS, type ImportKind } from '../../store/contract/import/import-session.ts';
import { CommandError, EXIT } from './context.ts';

/**
 * Values with commas between them. An empty one is an error: in `"$A,$B"` it is a variable that is not set.
 */
function split(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.includes('')) throw new InvalidArgumentError('A value between the commas is empty.');
  return parts;
}

const withNew = <T>(before: readonly T[], added: readonly T[]): readonly T[] => [
  ...new Set([...before, ...added]),
];

/** @throws InvalidArgumentError for what a rule refuses */
export function accept<T>(value: T | FieldError): T {
  if (value instanceof FieldError) throw new InvalidArgumentError(value.message);
  return value;
}

/** `--scope members:read,members:write`, or the option repeated. */
export const collectTexts = (text: string, before: readonly string[] = []): readonly string[] =>
  withNew(before, split(text));

/**
 * The code of a cooperative.
 * @throws CommandError, not commander's error, which repeats a wrong value: it may be a mistyped national ID
 */
export function parseCode(text: string): string {
  const code = parseNamedCode(text);
  if (!(code instanceof FieldError)) return code;
  throw new CommandError(EXIT.usage, `Expected the code of a cooperative. ${code.message}`);
}

export const collectCodes = (text: string, before: readonly string[] = []): readonly string[] =>
  withNew(before, split(text).map(parseCode));

/** Types of webhooks, or kinds such as `member.*`. */
export const collectTypes = (text: string, before: readonly WebhookType[] = []): readonly WebhookType[] =>
  withNew(before, accept(parseTypes(split(text), WEBHOOK_TYPES)));

/** @param what has the id, and where it is shown */
export const parseIdOf =
  (what: string) =>
  (text: string): number => {
    if (/^[1-9][0-9]{0,11}$/.test(text)) return Number(text);
    throw new InvalidArgumentError(`Expected the id of ${what} shows it.`);
  };

/** Seconds of `90s`, `30m`, `24h` or `7d`. */
export const parseDuration = (text: string): number => accept(parseOverlap(text));

/** @throws CommandError `usage` */
export function parseKind(name: string): ImportKind {
  const kind = IMPORT_KINDS.find((known) => known === name);
  if (kind !== undefined) return kind;
  throw new CommandError(EXIT.usage, say('Known kinds: {kinds}.', { kinds: IMPORT_KINDS }));
}
