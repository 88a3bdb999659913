/** `keys`: create, list, show, update, disable, enable and rotate API keys (docs/keys.md#keys). */
import type { Command } from 'commander';
import { openConfiguredStorage } from '../../app/storage.ts';
import type { Config } from '../../config.ts';
import type { ApiKey } from '../../domain/access/api-keys.ts';
import { warningsOf } from '../../domain/access/key-warnings.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';
import type { Message } from '../../domain/values/message.ts';
import { nowSeconds } from '../../runtime/clock.ts';
import { issueSecret } from '../../runtime/key-secret.ts';
import type { ApiKeyStore } from '../../store/ports/api-keys.ts';
import type { Storage } from '../../store/ports/storage.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { parseDuration, parseIdOf } from '../terminal/options.ts';
import { formatJson } from '../terminal/output.ts';
import { addPrintOptions, configOf, type PrintOptions, type SettingOptions } from '../terminal/settings.ts';
import { withStore } from '../terminal/with-store.ts';
import { codesOfKeys, idsOfCodes } from './key-cooperatives.ts';
import {
  addRemovalOptions,
  addValueOptions,
  type KeyChangeOptions,
  type KeyValueOptions,
  keyChanges,
  newKeyValues,
} from './key-options.ts';
import { describeIssuedKey, describeKey, formatKey, formatKeys, type Showing } from './key-text.ts';

/** One command at work: its configuration, its storage, and its time in epoch seconds. */
interface Run {
  readonly config: Config;
  readonly storage: Storage;
  readonly now: number;
}

export function declareKeys(keys: Command, context: CliContext): void {
  declareCreate(addPrintOptions(keys.command('create')), context);
  declareList(addPrintOptions(keys.command('list')), context);
  declareShow(addPrintOptions(addId(keys.command('show'))), context);
  declareUpdate(addPrintOptions(addId(keys.command('update'))), context);
  declareSwitch(addPrintOptions(addId(keys.command('disable'))), context, false);
  declareSwitch(addPrintOptions(addId(keys.command('enable'))), context, true);
  declareRotate(addPrintOptions(addId(keys.command('rotate'))), context);
}

const addId = (command: Command) =>
  command.argument('<id>', 'id of the key', parseIdOf('a key, as `keys list`'));

function startRun(context: CliContext, options: SettingOptions): Run {
  const config = configOf(context, options);
  return { config, storage: openConfiguredStorage(config, context.clock), now: nowSeconds(context.clock) };
}

/** @param use `issue` creates a missing place for keys */
const withKeys = <T>(
  { storage }: Run,
  work: (store: ApiKeyStore) => Awaitable<T>,
  use: 'issue' | 'manage' = 'manage',
): Promise<T> => withStore(storage.openKeys(use), work);

function found(key: ApiKey | undefined): ApiKey {
  if (key === undefined) {
    throw new CommandError(EXIT.refused, 'There is no key with this id. `keys list` shows all.');
  }
  return key;
}

async function showingOf(run: Run, keys: readonly ApiKey[]): Promise<Showing> {
  const { config, storage, now } = run;
  const uses = await withKeys(run, (store) => store.uses(now));
  return { now, zone: config.zone, codes: await codesOfKeys(storage, keys), uses };
}

async function printKey(
  context: CliContext,
  run: Run,
  key: ApiKey,
  options: PrintOptions,
  more: Warnings = {},
): Promise<void> {
  const showing = await showingOf(run, [key]);
  const isJson = options.json === true;
  context.out(isJson ? formatJson({ ...describeKey(key, showing), ...more }) : formatKey(key, showing));
}

interface Warnings {
  readonly warnings?: readonly Message[];
}

/** @returns what makes no sense of a key; for people it is also printed */
async function warn(
  { err }: CliContext,
  run: Run,
  key: ApiKey,
  { json }: PrintOptions,
): Promise<readonly Message[]> {
  const others = (await withKeys(run, (store) => store.list(run.now))).filter(({ id }) => id !== key.id);
  const warnings = warningsOf(key, { now: run.now, others });
  if (json !== true) for (const warning of warnings) err(`Warning: ${warning}\n`);
  return warnings;
}

/** Prints a key with its secret: the only time that it is shown. */
async function printIssued(
  context: CliContext,
  run: Run,
  { key, secret }: { key: ApiKey; secret: string },
  options: PrintOptions,
  more: Warnings = {},
): Promise<void> {
  const showing = await showingOf(run, [key]);
  if (options.json === true) {
    context.out(formatJson({ ...describeIssuedKey(key, secret, showing), ...more }));
    return;
  }
  context.out(`${formatKey(key, showing)}\n${secret}\n`);
  context.err('This is the only time the key is shown. Keep it like a password.\n');
}

function declareCreate(command: Command, context: CliContext): void {
  addValueOptions(command, 'create')
    .description('issue a key, which is printed once')
    .addHelpText(
      'after',
      '\nExample:\n  keys create --name "Union portal" --scope members:read --allow-ip 10.20.0.0/16\n',
    )
    .action(async (options: PrintOptions & KeyValueOptions) => {
      const run = startRun(context, options);
      const { config, now } = run;
      const idsOf = (codes: readonly string[]) => idsOfCodes(run.storage, codes);
      const values = await newKeyValues(options, idsOf, config.zone, now);
      const secret = issueSecret();
      const key = await withKeys(run, (store) => store.create(values, secret, now), 'issue');
      const warnings = await warn(context, run, key, options);
      await printIssued(context, run, { key, secret: secret.text }, options, { warnings });
      if (!(await run.storage.exists())) context.err(`There is no registry at ${config.storage} yet.\n`);
    });
}

function declareList(command: Command, context: CliContext): void {
  command.description('list all keys').action(async (options: PrintOptions) => {
    const run = startRun(context, options);
    const keys = await withKeys(run, (store) => store.list(run.now));
    const showing = await showingOf(run, keys);
    context.out(
      options.json === true
        ? formatJson({ keys: keys.map((key) => describeKey(key, showing)) })
        : formatKeys(keys, showing),
    );
  });
}

function declareShow(command: Command, context: CliContext): void {
  command
    .description('show one key with its restrictions')
    .action(async (id: number, options: PrintOptions) => {
      const run = startRun(context, options);
      await printKey(context, run, found(await withKeys(run, (store) => store.find(id, run.now))), options);
    });
}

function declareUpdate(command: Command, context: CliContext): void {
  addRemovalOptions(addValueOptions(command, 'update'))
    .description('replace what the options name, lists as a whole; the rest stays')
    .action(async (id: number, options: PrintOptions & KeyChangeOptions) => {
      const run = startRun(context, options);
      const key = await withKeys(run, async (store) => {
        const stored = found(await store.find(id, run.now));
        const idsOf = (codes: readonly string[]) => idsOfCodes(run.storage, codes);
        const changes = await keyChanges(options, stored, idsOf, run.config.zone);
        return found(await store.update(id, changes, run.now));
      });
      const warnings = await warn(context, run, key, options);
      await printKey(context, run, key, options, { warnings });
    });
}

function declareSwitch(command: Command, context: CliContext, isActive: boolean): void {
  command
    .description(`${command.name()} a key, effective from the next request`)
    .action(async (id: number, options: PrintOptions) => {
      const run = startRun(context, options);
      const key = await withKeys(run, (store) => store.update(id, { isActive }, run.now));
      await printKey(context, run, found(key), options);
    });
}

function declareRotate(command: Command, context: CliContext): void {
  command
    .description('issue a new secret for a key; its id, limits and usage stay')
    .option(
      '--overlap <time>',
      'how long the old secret stays valid: 90s, 30m, 24h, 7d, at most 90d (default: it ends at once)',
      parseDuration,
    )
    .action(async (id: number, options: PrintOptions & { readonly overlap?: number }) => {
      const run = startRun(context, options);
      const secret = issueSecret();
      const key = await withKeys(run, (store) => store.rotate(id, secret, options.overlap ?? 0, run.now));
      await printIssued(context, run, { key: found(key), secret: secret.text }, options);
    });
}
