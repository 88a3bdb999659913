/** `keys`: create, list, show, update, disable, enable and rotate API keys (docs/keys.md#keys). */
import { type Command, Option } from 'commander';
import { type ApiKeyStore, openKeys } from '../access/api-key-store.ts';
import { type ApiKey, prefixOf, SCOPES } from '../access/api-keys.ts';
import { DEFAULT_PER_DAY, DEFAULT_PER_HOUR } from '../access/rate-limiter.ts';
import { openRegistry } from '../open-registry.ts';
import type { CooperativeSummary } from '../registry/cooperatives.ts';
import { openStoredData } from '../registry/stored/stored-data.ts';
import type { Storage } from '../sqlite/storage.ts';
import { type CliContext, CommandError, EXIT, noRegistryHere } from '../terminal/context.ts';
import { collectCodes, collectTexts, parseIdOf } from '../terminal/options.ts';
import { showingNobody } from '../terminal/record-reading.ts';
import { acting, type Run, withStore } from '../terminal/run.ts';
import { addPrintOptions, type PrintOptions } from '../terminal/settings.ts';
import { onlyGiven } from '../values/declared-fields.ts';
import { type Awaitable, notFound, RegistryError } from '../values/errors.ts';
import type { Message } from '../values/message.ts';
import { createKeys, type KeyChanges, type KeyOperations, type NewKey } from './key-operations.ts';
import { describeKey, formatKey, formatKeys, type KeyContext } from './key-text.ts';

interface KeyOptions {
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

/** Names of options by the field of `KeyChanges`; by default, both have the same name. */
const OPTION_OF: { readonly [value: string]: string } = {
  scopes: 'scope',
  allowedAddresses: 'allow-ip',
  allowedHosts: 'allow-host',
  perHour: 'per-hour',
  perDay: 'per-day',
};

const parseCount = (text: string): number => (/^[0-9]{1,8}$/.test(text) ? Number(text) : Number.NaN);

const REPEATED = 'repeat the option, or separate with commas';

function addValueOptions(command: Command, use: 'create' | 'update'): Command {
  const isNew = use === 'create';
  const orDefault = (value: string | number) => (isNew ? ` (default: ${value})` : ' (default: unchanged)');
  const required = isNew ? ' (required)' : ' (default: unchanged)';
  return command
    .option('--name <name>', `name of the holder, 1 to 100 characters${required}`)
    .option('--scope <scope>', `what it may do: ${SCOPES.join(', ')}; ${REPEATED}${required}`, collectTexts)
    .option(
      '--allow-ip <block>',
      `IPv4 or IPv6 address or CIDR block that it may be used from; ${REPEATED}${orDefault('from anywhere')}`,
      collectTexts,
    )
    .option(
      '--allow-host <domain>',
      `domain it may be used for, or *.a.rw for every domain below a.rw; ${REPEATED}${orDefault('any')}`,
      collectTexts,
    )
    .option('--lookup-only', `it finds persons by the full national ID only${orDefault('no')}`)
    .option('--allow-export', `it may export all rows that its scopes allow${orDefault('no')}`)
    .option(
      '--cooperative <code>',
      `cooperative that it is restricted to; ${REPEATED}${orDefault('all')}`,
      collectCodes,
    )
    .option('--purpose <text>', `purpose recorded for requests without X-Purpose${orDefault('none')}`)
    .option('--require-purpose', `requests that show persons need X-Purpose${orDefault('no')}`)
    .option('--per-hour <n>', `requests an hour${orDefault(DEFAULT_PER_HOUR)}`, parseCount)
    .option('--per-day <n>', `requests a day${orDefault(DEFAULT_PER_DAY)}`, parseCount)
    .option(
      '--expires <date>',
      `last valid day, in the registry's time zone, or the instant at which it ends${orDefault('never')}`,
    );
}

function addRemovalOptions(command: Command): Command {
  return command
    .addOption(new Option('--any-ip', 'remove the address allowlist').conflicts('allowIp'))
    .addOption(new Option('--any-host', 'remove the host allowlist').conflicts('allowHost'))
    .option('--no-lookup-only', 'remove the restriction to lookups')
    .option('--no-allow-export', 'refuse exports again')
    .addOption(
      new Option('--any-cooperative', 'remove the restriction to cooperatives').conflicts('cooperative'),
    )
    .option('--no-purpose', 'record only the purpose that requests state')
    .option('--no-require-purpose', 'accept requests without X-Purpose again')
    .addOption(new Option('--never-expires', 'remove the expiry date').conflicts('expires'));
}

/** @throws CommandError for an unknown code of a cooperative; StorageError when there is no registry */
async function changesOf({ options, storage }: Run<PrintOptions & KeyOptions>): Promise<KeyChanges> {
  const ids = options.cooperative && (await idsOfCodes(storage, options.cooperative));
  return onlyGiven({
    name: options.name,
    scopes: options.scope,
    allowedAddresses: options.anyIp === true ? null : options.allowIp,
    allowedHosts: options.anyHost === true ? null : options.allowHost,
    isLookupOnly: options.lookupOnly,
    mayExport: options.allowExport,
    cooperatives: options.anyCooperative === true ? null : ids,
    purpose: options.purpose === false ? null : options.purpose,
    requiresPurpose: options.requirePurpose,
    perHour: options.perHour,
    perDay: options.perDay,
    expires: options.neverExpires === true ? null : options.expires,
  });
}

export function declareKeys(keys: Command, context: CliContext): void {
  const command = (name: string, description: string) =>
    addPrintOptions(showingNobody(keys.command(name))).description(description);
  const one = (name: string, description: string) =>
    command(name, description).argument('<id>', 'id of the key', parseIdOf('a key, as `keys list`'));
  addValueOptions(command('create', 'issue a key, which is printed once'), 'create')
    .option('--create', 'create an empty registry where there is none')
    .addHelpText(
      'after',
      '\nExample:\n  keys create --name "Union portal" --scope members:read --allow-ip 10.20.0.0/16\n',
    )
    .action(acting(context, create));
  command('list', 'list all keys').action(acting(context, list));
  one('show', 'show one key with its restrictions').action(
    acting(context, (run, id: number) => operate(run, () => ({ id }))),
  );
  addRemovalOptions(
    addValueOptions(
      one('update', 'replace the values that the options name (entire lists); the rest stays'),
      'update',
    ),
  ).action(acting(context, update));
  for (const [name, isActive] of [
    ['disable', false],
    ['enable', true],
  ] as const)
    one(name, `${name} a key, effective from the next request`).action(
      acting(context, (run, id: number) => operate(run, (operations) => operations.activate(id, isActive))),
    );
  one('rotate', 'issue a new secret for a key; its id, limits and usage stay the same')
    .option(
      '--overlap <time>',
      'how long the old secret stays valid: 90s, 30m, 24h, 7d, at most 90d (default: it ends at once)',
    )
    .action(
      acting(context, (run: Run<PrintOptions & { readonly overlap?: string }>, id: number) =>
        operate(run, (operations) => operations.rotate(id, run.options.overlap)),
      ),
    );
}

export const NO_KEY = 'There is no key with this id. `keys list` shows all.';

function toCommandError(error: unknown): unknown {
  if (!(error instanceof RegistryError)) return error;
  if (error.code === 'not_found') return new CommandError(EXIT.refused, NO_KEY);
  if (error.fields === undefined) return error;
  const faults = Object.entries(error.fields).map(
    ([value, messages]) => `--${OPTION_OF[value] ?? value}: ${messages.join(' ')}`,
  );
  return new CommandError(EXIT.usage, faults.join('\n'));
}

interface Outcome {
  readonly id: number;
  readonly warnings?: readonly Message[];
  readonly secret?: string;
}

async function operate(
  run: Run<PrintOptions & { readonly create?: true }>,
  work: (operations: KeyOperations) => Awaitable<Outcome>,
  use: 'issue' | 'manage' = 'manage',
): Promise<void> {
  const { storage } = run;
  let opened: ApiKeyStore | undefined;
  const open = (): ApiKeyStore => {
    if (use === 'issue' && !storage.exists()) {
      // A file of keys without a registry would look as if the registry was lost.
      if (run.options.create !== true) throw noRegistryHere(storage);
      void openRegistry(storage).close();
    }
    opened ??= openKeys(storage, use);
    return opened;
  };
  try {
    const outcome = await work(createKeys(open, run.now, run.zone));
    await printKey(run, open(), outcome);
  } catch (error) {
    throw toCommandError(error);
  } finally {
    opened?.close();
  }
}

async function printKey(run: Run, store: ApiKeyStore, { id, warnings, secret }: Outcome): Promise<void> {
  const key = store.find(id, run.now);
  if (key === undefined) throw notFound();
  const description = describeKey(key, await readContext(store, run, [key]));
  const issued = secret === undefined ? {} : { key: secret, prefix: prefixOf(secret) };
  const isForPeople = run.options.json !== true;
  if (isForPeople) for (const warning of warnings ?? []) run.err(`Warning: ${warning}\n`);
  run.show(
    { ...description, ...issued, ...(warnings && { warnings: warnings.map(String) }) },
    formatKey(description) + (secret === undefined ? '' : `\n${secret}\n`),
  );
  if (isForPeople && secret !== undefined)
    run.err('This is the only time the key is shown. Keep it like a password.\n');
}

async function readContext(
  store: ApiKeyStore,
  { storage, zone, now }: Run,
  keys: readonly ApiKey[],
): Promise<KeyContext> {
  const needsCodes = keys.some(({ cooperatives }) => cooperatives !== null) && storage.exists();
  const summaries = needsCodes ? await listCooperatives(storage) : [];
  const codes = new Map(summaries.map(({ id, code }) => [id, code]));
  return { now, zone, codes, uses: store.uses(now) };
}

async function create(run: Run<PrintOptions & KeyOptions & { readonly create?: true }>): Promise<void> {
  const { name, scope } = run.options;
  const issue = async (operations: KeyOperations) => {
    if (name === undefined) throw new CommandError(EXIT.usage, 'Name the holder: --name "Union portal".');
    if (scope === undefined)
      throw new CommandError(EXIT.usage, `Give at least one --scope of ${SCOPES.join(', ')}.`);
    return operations.create((await changesOf(run)) as NewKey);
  };
  await operate(run, issue, 'issue');
}

const update = (run: Run<PrintOptions & KeyOptions>, id: number) =>
  operate(run, async (operations) => {
    const changes = await changesOf(run);
    if (Object.keys(changes).length > 0) return operations.update(id, changes);
    throw new CommandError(
      EXIT.usage,
      'Nothing to change: name at least one option, see `keys update --help`.',
    );
  });

const list = (run: Run) =>
  withStore(openKeys(run.storage, 'manage'), async (store) => {
    const keys = store.list(run.now);
    const context = await readContext(store, run, keys);
    const descriptions = keys.map((key) => describeKey(key, context));
    run.show({ keys: descriptions }, formatKeys(descriptions));
  });

const listCooperatives = (storage: Storage): Promise<readonly CooperativeSummary[]> =>
  withStore(openStoredData(storage), (store) => store.listCooperatives());

/** @throws CommandError for an unknown code of a cooperative */
async function idsOfCodes(storage: Storage, codes: readonly string[]): Promise<readonly number[]> {
  const ids = new Map((await listCooperatives(storage)).map(({ id, code }) => [code, id]));
  return codes.map((code) => {
    const id = ids.get(code);
    if (id === undefined)
      throw new CommandError(EXIT.usage, `--cooperative: There is no cooperative with the code ${code}.`);
    return id;
  });
}
