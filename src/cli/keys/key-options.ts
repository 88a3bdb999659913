/**
 * What a key may do, on the command line: the options of `keys create` and `keys update`, and their values.
 */

import { type Command, Option } from 'commander';
import type { KeyChanges } from '../../app/embedding/key-changes.ts';
import { SCOPES, type Scope } from '../../domain/access/api-keys.ts';
import { DEFAULT_PER_DAY, DEFAULT_PER_HOUR } from '../../domain/access/sliding-window.ts';
import { RegistryError } from '../../domain/values/errors.ts';
import { onlyGiven } from '../../domain/values/given.ts';
import { CommandError, EXIT } from '../terminal/context.ts';
import { collectCodes, collectTexts } from '../terminal/options.ts';

/** What the command line says of a key. */
export interface KeyOptions {
  readonly name?: string;
  readonly scope?: readonly string[];
  readonly allowIp?: readonly string[];
  readonly anyIp?: true;
  readonly allowHost?: readonly string[];
  readonly anyHost?: true;
  readonly lookupOnly?: boolean;
  readonly allowExport?: boolean;
  readonly cooperative?: readonly string[];
  readonly anyCooperative?: true;
  readonly purpose?: string | false;
  readonly requirePurpose?: boolean;
  readonly perHour?: number;
  readonly perDay?: number;
  readonly expires?: string;
  readonly neverExpires?: true;
}

/** The option that a value is given by. */
const OPTION_OF: { readonly [value: string]: string } = {
  scopes: 'scope',
  allowedAddresses: 'allow-ip',
  allowedHosts: 'allow-host',
  perHour: 'per-hour',
  perDay: 'per-day',
};

const parseCount = (text: string): number => (/^[0-9]{1,8}$/.test(text) ? Number(text) : Number.NaN);

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
    .option('--name <name>', `who holds the key, 1 to 100 characters${required}`)
    .option('--scope <scope>', `what it may do: ${SCOPES.join(', ')}; ${REPEATED}${required}`, collectTexts)
    .option(
      '--allow-ip <block>',
      `IPv4 or IPv6 address or CIDR block it may come from; ${REPEATED}${orDefault('from anywhere')}`,
      collectTexts,
    )
    .option(
      '--allow-host <domain>',
      `domain it may be used for, or *.a.rw for every domain below a.rw; ${REPEATED}${orDefault('any')}`,
      collectTexts,
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
    )
    .option('--require-purpose', `requests that show persons need X-Purpose${orDefault('no')}`)
    .option('--per-hour <n>', `requests an hour${orDefault(DEFAULT_PER_HOUR)}`, parseCount)
    .option('--per-day <n>', `requests a day${orDefault(DEFAULT_PER_DAY)}`, parseCount)
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
 * What the options change; what is not named stays as it is.
 * @param cooperatives ids of those that are named
 */
export const keyChanges = (options: KeyOptions, cooperatives: readonly number[] | undefined): KeyChanges =>
  onlyGiven({
    name: options.name,
    scopes: options.scope as readonly Scope[] | undefined,
    allowedAddresses: options.anyIp === true ? null : options.allowIp,
    allowedHosts: options.anyHost === true ? null : options.allowHost,
    isLookupOnly: options.lookupOnly,
    mayExport: options.allowExport,
    cooperatives: options.anyCooperative === true ? null : cooperatives,
    purpose: options.purpose === false ? null : options.purpose,
    requiresPurpose: options.requirePurpose,
    perHour: options.perHour,
    perDay: options.perDay,
    expires: options.neverExpires === true ? null : options.expires,
  });

export const NO_KEY = 'There is no key with this id. `keys list` shows all.';

/** A refusal of the operations, in the words of the command line. */
export function toCommandError(error: unknown): unknown {
  if (!(error instanceof RegistryError)) return error;
  if (error.code === 'not_found') return new CommandError(EXIT.refused, NO_KEY);
  if (error.fields === undefined) return error;
  const faults = Object.entries(error.fields).map(
    ([value, messages]) => `--${OPTION_OF[value] ?? value}: ${messages.join(' ')}`,
  );
  return new CommandError(EXIT.usage, faults.join('\n'));
}
