/**
 * What a key may do, on the command line: the options of `keys create` and `keys update`, and their values.
 */

import { type Command, Option } from 'commander';
import { type ApiKey, type ApiKeyValues, SCOPES, type Scope } from '../../domain/access/api-keys.ts';
import { parseKeyExpiry, parseNewExpiry } from '../../domain/access/key-values.ts';
import { DEFAULT_PER_DAY, DEFAULT_PER_HOUR } from '../../domain/access/sliding-window.ts';
import type { TimeZone } from '../../domain/values/date-time.ts';
import { FieldError } from '../../domain/values/errors.ts';
import { onlyGiven } from '../../domain/values/given.ts';
import { CommandError, EXIT } from '../terminal/context.ts';
import {
  collectAddresses,
  collectCodes,
  collectHosts,
  collectScopes,
  parseLimit,
  parseName,
  parsePurpose,
} from '../terminal/options.ts';

export interface KeyValueOptions {
  readonly name?: string;
  readonly scope?: readonly Scope[];
  readonly allowIp?: readonly string[];
  readonly allowHost?: readonly string[];
  readonly lookupOnly?: true;
  readonly allowExport?: true;
  readonly cooperative?: readonly string[];
  readonly purpose?: string;
  readonly requirePurpose?: true;
  readonly perHour?: number;
  readonly perDay?: number;
  readonly expires?: string;
}

export interface KeyChangeOptions
  extends Omit<KeyValueOptions, 'lookupOnly' | 'allowExport' | 'purpose' | 'requirePurpose'> {
  readonly lookupOnly?: boolean;
  readonly allowExport?: boolean;
  readonly purpose?: string | false;
  readonly requirePurpose?: boolean;
  readonly anyIp?: true;
  readonly anyHost?: true;
  readonly anyCooperative?: true;
  readonly neverExpires?: true;
}

/** @throws CommandError for a code that no cooperative has */
type CooperativeIds = (codes: readonly string[]) => Promise<readonly number[]>;

const REPEATED = 'repeat the option, or separate with commas';

/**
 * The options that give a key its values.
 * @param use an update keeps whatever is not named
 */
export function addValueOptions(command: Command, use: 'create' | 'update'): Command {
  const isNew = use === 'create';
  const orDefault = (value: string | number) => (isNew ? ` (default: ${value})` : ' (default: unchanged)');
  const required = isNew ? ' (required)' : ' (default: unchanged)';
  return command
    .option('--name <name>', `who holds the key, 1 to 100 characters${required}`, parseName)
    .option('--scope <scope>', `what it may do: ${SCOPES.join(', ')}; ${REPEATED}${required}`, collectScopes)
    .option(
      '--allow-ip <block>',
      `IPv4 or IPv6 address or CIDR block it may come from; ${REPEATED}${orDefault('from anywhere')}`,
      collectAddresses,
    )
    .option(
      '--allow-host <domain>',
      `domain it may be used for, or *.a.rw for every domain below a.rw; ${REPEATED}${orDefault('any')}`,
      collectHosts,
    )
    .option(
      '--lookup-only',
      `it finds persons by the full national ID, and shows nobody otherwise${orDefault('no')}`,
    )
    .option('--allow-export', `it takes away all rows that its scopes show, at once${orDefault('no')}`)
    .option(
      '--cooperative <code>',
      `cooperative that it sees; others do not exist for it; ${REPEATED}${orDefault('all')}`,
      collectCodes,
    )
    .option(
      '--purpose <text>',
      `recorded with its readings where a request has no X-Purpose${orDefault('none')}`,
      parsePurpose,
    )
    .option('--require-purpose', `requests that show persons need X-Purpose${orDefault('no')}`)
    .option('--per-hour <n>', `requests an hour${orDefault(DEFAULT_PER_HOUR)}`, parseLimit)
    .option('--per-day <n>', `requests a day${orDefault(DEFAULT_PER_DAY)}`, parseLimit)
    .option(
      '--expires <date>',
      `last valid day, in the registry's time zone, or the instant at which it ends${orDefault('never')}`,
    );
}

/** The options that take a restriction away: the only way to do so. */
export function addRemovalOptions(command: Command): Command {
  return command
    .addOption(new Option('--any-ip', 'remove the address allowlist').conflicts('allowIp'))
    .addOption(new Option('--any-host', 'remove the host allowlist').conflicts('allowHost'))
    .option('--no-lookup-only', 'allow whatever the scopes allow')
    .option('--no-allow-export', 'refuse exports again')
    .addOption(new Option('--any-cooperative', 'let it see all cooperatives').conflicts('cooperative'))
    .option('--no-purpose', 'record what requests say, or nothing')
    .option('--no-require-purpose', 'answer requests without X-Purpose again')
    .addOption(new Option('--never-expires', 'remove the expiry date').conflicts('expires'));
}

/**
 * The values of a new key.
 * @param idsOf ids of the cooperatives with these codes
 * @param now epoch seconds
 * @throws CommandError when the name or the scopes are missing, or the expiry date is invalid or over
 */
export async function newKeyValues(
  options: KeyValueOptions,
  idsOf: CooperativeIds,
  zone: TimeZone,
  now: number,
): Promise<ApiKeyValues> {
  const { name, scope: scopes } = options;
  if (name === undefined) throw new CommandError(EXIT.usage, 'Name the holder: --name "Union portal".');
  if (scopes === undefined) {
    throw new CommandError(EXIT.usage, `Give at least one --scope of ${SCOPES.join(', ')}.`);
  }
  const { expires } = options;
  const expiresAt = expires === undefined ? null : acceptExpiry(parseNewExpiry(expires, zone, now));
  return {
    name,
    scopes,
    allowedAddresses: options.allowIp ?? [],
    allowedHosts: options.allowHost ?? [],
    isLookupOnly: options.lookupOnly === true,
    mayExport: options.allowExport === true,
    cooperatives: options.cooperative === undefined ? null : await idsOf(options.cooperative),
    purpose: options.purpose ?? null,
    requiresPurpose: options.requirePurpose === true,
    limits: { perHour: options.perHour ?? DEFAULT_PER_HOUR, perDay: options.perDay ?? DEFAULT_PER_DAY },
    expiresAt,
  };
}

/**
 * The values that an update replaces; what is not named stays as it is stored.
 * @throws CommandError when nothing is named, a code is unknown, or the expiry date is invalid
 */
export async function keyChanges(
  options: KeyChangeOptions,
  stored: ApiKey,
  idsOf: CooperativeIds,
  zone: TimeZone,
): Promise<Partial<ApiKeyValues>> {
  const { name, scope, perHour, perDay, expires, lookupOnly, cooperative } = options;
  const end = expires === undefined ? undefined : acceptExpiry(parseKeyExpiry(expires, zone));
  const keepsLimits = perHour === undefined && perDay === undefined;
  const some = cooperative === undefined ? undefined : await idsOf(cooperative);
  const changes = onlyGiven({
    name,
    scopes: scope,
    allowedAddresses: options.anyIp === true ? [] : options.allowIp,
    allowedHosts: options.anyHost === true ? [] : options.allowHost,
    isLookupOnly: lookupOnly,
    mayExport: options.allowExport,
    cooperatives: some ?? (options.anyCooperative === true ? null : undefined),
    purpose: options.purpose === false ? null : options.purpose,
    requiresPurpose: options.requirePurpose,
    limits: keepsLimits ? undefined : { ...stored.limits, ...onlyGiven({ perHour, perDay }) },
    expiresAt: options.neverExpires === true ? null : end,
  });
  if (Object.keys(changes).length === 0) {
    throw new CommandError(
      EXIT.usage,
      'Nothing to change: name at least one option, see `keys update --help`.',
    );
  }
  return changes;
}

/** The zone is known only once every option has been read. */
function acceptExpiry(end: number | FieldError): number {
  if (end instanceof FieldError) throw new CommandError(EXIT.usage, `--expires: ${end.message}`);
  return end;
}
