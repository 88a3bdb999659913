/** `keys`: create, list, show, update, disable, enable and rotate API keys (docs/keys.md#keys). */
import type { Command } from 'commander';
import type { KeyChanges, NewKey } from '../../app/embedding/key-changes.ts';
import { createKeys, type EmbeddedKeys } from '../../app/embedding/keys.ts';
import { type ApiKey, prefixOf, SCOPES } from '../../domain/access/api-keys.ts';
import type { CooperativeSummary } from '../../domain/membership/cooperatives.ts';
import { notFound } from '../../domain/values/errors.ts';
import type { ApiKeyStore } from '../../store/contract/api-keys.ts';
import type { Storage } from '../../store/contract/storage.ts';
import { showingNobody } from '../persons/shown-persons.ts';
import { type CliContext, CommandError, EXIT, noRegistryHere } from '../terminal/context.ts';
import { parseIdOf } from '../terminal/options.ts';
import { acting, type Run } from '../terminal/run.ts';
import { addPrintOptions, type PrintOptions } from '../terminal/settings.ts';
import { withStore } from '../terminal/with-store.ts';
import {
  addRemovalOptions,
  addValueOptions,
  type KeyOptions,
  keyChanges,
  toCommandError,
} from './key-options.ts';
import { describeKey, formatKey, formatKeys, type Showing } from './key-text.ts';

export function declareKeys(keys: Command, context: CliContext): void {
  const command = (name: string) => addPrintOptions(showingNobody(keys.command(name)));
  const one = (name: string) =>
    command(name).argument('<id>', 'id of the key', parseIdOf('a key, as `keys list`'));
  declareCreate(command('create'), context);
  declareList(command('list'), context);
  declareShow(one('show'), context);
  declareUpdate(one('update'), context);
  declareSwitch(one('disable'), context, 'disable');
  declareSwitch(one('enable'), context, 'enable');
  declareRotate(one('rotate'), context);
}

/** What an operation gives: its key, with the secret of one that was issued. */
interface Operated {
  readonly id: string;
  readonly key?: string;
  readonly warnings?: readonly string[];
}

/** Does what embedding programs may do, too, and prints the key as it is then. */
async function operate(
  run: Run<PrintOptions & { readonly create?: true }>,
  work: (operations: EmbeddedKeys) => Promise<Operated>,
  use: 'issue' | 'manage' = 'manage',
): Promise<void> {
  let opened: ApiKeyStore | undefined;
  const openKeys = (): ApiKeyStore => {
    if (use === 'issue' && !run.storage.exists()) createRegistry(run);
    opened ??= run.storage.openKeys(use);
    return opened;
  };
  const operations = createKeys({
    openKeys,
    clock: run.clock,
    zone: run.zone,
    // Codes were looked up.
    hasCooperative: async () => true,
  });
  try {
    await printKey(run, openKeys, await work(operations));
  } catch (error) {
    throw toCommandError(error);
  } finally {
    opened?.close();
  }
}

/** Keys of no registry would be taken for those of one that is lost. */
function createRegistry({ storage, options }: Run<{ readonly create?: true }>): void {
  if (options.create !== true) throw noRegistryHere(storage);
  void storage.openRegistry().close();
}

async function printKey(
  run: Run,
  openKeys: () => ApiKeyStore,
  { id, key: secret, warnings }: Operated,
): Promise<void> {
  const key = openKeys().find(Number(id), run.now);
  if (key === undefined) throw notFound();
  const showing = await showingOf(openKeys(), run, [key]);
  const issued = secret === undefined ? {} : { key: secret, prefix: prefixOf(secret) };
  const isForPeople = run.options.json !== true;
  if (isForPeople) for (const warning of warnings ?? []) run.err(`Warning: ${warning}\n`);
  const shown = describeKey(key, showing);
  run.show(
    { ...shown, ...issued, ...(warnings && { warnings }) },
    formatKey(shown) + (secret === undefined ? '' : `\n${secret}\n`),
  );
  if (isForPeople && secret !== undefined)
    run.err('This is the only time the key is shown. Keep it like a password.\n');
}

async function showingOf(
  store: ApiKeyStore,
  { storage, zone, now }: Run,
  keys: readonly ApiKey[],
): Promise<Showing> {
  const uses = store.uses(now);
  return { now, zone, codes: await codesOfKeys(storage, keys), uses };
}

const changesOf = async ({ options, storage }: Run<PrintOptions & KeyOptions>): Promise<KeyChanges> =>
  keyChanges(options, options.cooperative && (await idsOfCodes(storage, options.cooperative)));

function declareCreate(command: Command, context: CliContext): void {
  addValueOptions(command, 'create')
    .description('issue a key, which is printed once')
    .option('--create', 'create an empty registry where there is none')
    .addHelpText(
      'after',
      '\nExample:\n  keys create --name "Union portal" --scope members:read --allow-ip 10.20.0.0/16\n',
    )
    .action(
      acting(context, async (run: Run<PrintOptions & KeyOptions & { readonly create?: true }>) => {
        const { options } = run;
        const create = async (operations: EmbeddedKeys) => {
          if (options.name === undefined)
            throw new CommandError(EXIT.usage, 'Name the holder: --name "Union portal".');
          if (options.scope === undefined)
            throw new CommandError(EXIT.usage, `Give at least one --scope of ${SCOPES.join(', ')}.`);
          return operations.create((await changesOf(run)) as NewKey);
        };
        await operate(run, create, 'issue');
      }),
    );
}

function declareList(command: Command, context: CliContext): void {
  command.description('list all keys').action(
    acting(context, (run) =>
      withStore(run.storage.openKeys('manage'), async (store) => {
        const all = store.list(run.now);
        const showing = await showingOf(store, run, all);
        const keys = all.map((key) => describeKey(key, showing));
        run.show({ keys }, formatKeys(keys));
      }),
    ),
  );
}

function declareShow(command: Command, context: CliContext): void {
  command
    .description('show one key with its restrictions')
    .action(acting(context, (run, id: number) => operate(run, async () => ({ id: String(id) }))));
}

function declareUpdate(command: Command, context: CliContext): void {
  addRemovalOptions(addValueOptions(command, 'update'))
    .description('replace what the options name, lists as a whole; the rest stays')
    .action(
      acting(context, (run: Run<PrintOptions & KeyOptions>, id: number) =>
        operate(run, async (operations) => {
          const changes = await changesOf(run);
          if (Object.keys(changes).length > 0) return operations.update(id, changes);
          throw new CommandError(
            EXIT.usage,
            'Nothing to change: name at least one option, see `keys update --help`.',
          );
        }),
      ),
    );
}

function declareSwitch(command: Command, context: CliContext, does: 'disable' | 'enable'): void {
  command
    .description(`${does} a key, effective from the next request`)
    .action(acting(context, (run, id: number) => operate(run, (operations) => operations[does](id))));
}

function declareRotate(command: Command, context: CliContext): void {
  command
    .description('issue a new secret for a key; its id, limits and usage stay')
    .option(
      '--overlap <time>',
      'how long the old secret stays valid: 90s, 30m, 24h, 7d, at most 90d (default: it ends at once)',
    )
    .action(
      acting(context, (run: Run<PrintOptions & { readonly overlap?: string }>, id: number) =>
        operate(run, async (operations) => {
          const { key } = await operations.rotate(id, { overlap: run.options.overlap });
          return { id: String(id), key };
        }),
      ),
    );
}

/** @throws StorageError `unusable` when there is no registry */
const listCooperatives = (storage: Storage): Promise<readonly CooperativeSummary[]> =>
  withStore(storage.openHeldData(), (store) => store.listCooperatives());

/** @throws CommandError for a code that no cooperative has; StorageError when there is no registry */
async function idsOfCodes(storage: Storage, codes: readonly string[]): Promise<readonly number[]> {
  const ids = new Map((await listCooperatives(storage)).map(({ id, code }) => [code, id]));
  return codes.map((code) => {
    const id = ids.get(code);
    if (id === undefined)
      throw new CommandError(EXIT.usage, `--cooperative: There is no cooperative with the code ${code}.`);
    return id;
  });
}

/** The codes by id; read only if one of the keys is restricted to some. */
async function codesOfKeys(storage: Storage, keys: readonly ApiKey[]): Promise<ReadonlyMap<number, string>> {
  const isNeeded = keys.some(({ cooperatives }) => cooperatives !== null);
  if (!isNeeded || !storage.exists()) return new Map();
  return new Map((await listCooperatives(storage)).map(({ id, code }) => [id, code]));
}
