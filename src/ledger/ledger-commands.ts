/** The `ledger` commands, which show, check, prune and export the access ledger (docs/ledger.md). */
import type { Command } from 'commander';
import { formatActor } from '../journal/change-texts.ts';
import { describeEntry as describeHistoryEntry } from '../journal/history-commands.ts';
import { NO_KEY } from '../keys/key-commands.ts';
import { readKeyNames } from '../keys/key-text.ts';
import { CREATED } from '../registry/changes/record-changes.ts';
import { sequenceOf } from '../sqlite/storage.ts';
import { addConfirmOptions, type ConfirmOptions, confirm } from '../terminal/confirm.ts';
import { type CliContext, CommandError, EXIT, tell, translate } from '../terminal/context.ts';
import { parseIdOf, readNumber } from '../terminal/options.ts';
import { createJsonWriter, formatTable } from '../terminal/output.ts';
import { NAMES, recordAccess, recordAll, recordNobody } from '../terminal/record-reading.ts';
import { acting, type Run, withStore } from '../terminal/run.ts';
import { addPrintOptions, addSettingOptions, type PrintOptions } from '../terminal/settings.ts';
import {
  formatDateTime,
  outOfRange,
  parseDateTime,
  parseLastSecond,
  type TimeZone,
} from '../values/date-time.ts';
import { FieldError } from '../values/errors.ts';
import { type Message, say } from '../values/message.ts';
import { type EntryFilter, findEntries, findKeyAccesses, type KeyAccesses } from './key-accesses.ts';
import { openLedgerReader } from './ledger-reader.ts';
import { pruneLedger } from './open-ledger.ts';
import {
  describeAccess,
  describeEntry,
  findPersonAccesses,
  formatAccesses,
  formatEverybody,
  KEY_LOST,
  ofEverybody,
  ofPerson,
  shownTime,
  tellUnreadable,
} from './person-accesses.ts';
import { openPersonTraces } from './person-traces.ts';
import { findOldFiles } from './retention.ts';
import type { VerifiedChain } from './verify-ledger.ts';

const describeKeyAccesses = (accesses: KeyAccesses, zone: TimeZone) => ({
  persons: accesses.persons.map(({ identityCard, times, first, last }) => ({
    identity_card: identityCard,
    times,
    first: shownTime(first, zone),
    last: shownTime(last, zone),
  })),
  pages: accesses.pages,
  exports: accesses.exports,
  exported_cooperatives: accesses.exportedCodes,
  unknown: accesses.unknown,
  without_key: accesses.withoutKey,
});

function remarksOn({ persons, pages, exports, exportedCodes, unknown, withoutKey }: KeyAccesses): Message[] {
  const ofExports =
    exportedCodes === null
      ? say('Add all persons of {n|an export|# exports}: all cooperatives.', { n: exports })
      : say('Add all persons of {n|an export|# exports}, in: {codes}.', {
          n: exports,
          codes: exportedCodes,
        });
  const remarks = [
    say('Data of {n|# person was|# persons were} accessed.', { n: persons.length }),
    pages > 0 && say('This includes all persons on the {n|page|# pages} of lists.', { n: pages }),
    exports > 0 && ofExports,
    unknown > 0 &&
      say('{n|# access was|# accesses were} to numbers or members that no longer exist.', { n: unknown }),
    withoutKey > 0 && KEY_LOST,
  ];
  return remarks.filter((remark) => remark !== false);
}

/** Formats a table with full national IDs, for an authority that asks about a key. */
function formatKeyAccesses(accesses: KeyAccesses, run: Run): string {
  const rows = accesses.persons.map(({ identityCard, times, first, last }) => [
    identityCard,
    String(times),
    shownTime(first, run.zone),
    shownTime(last, run.zone),
  ]);
  const headings = ['NATIONAL ID', 'TIMES', 'FIRST', 'LAST'].map((text) => translate(run, text));
  const table = rows.length === 0 ? '' : `${formatTable(headings, rows)}\n`;
  const remarks = remarksOn(accesses).map((text) => `${translate(run, text)}\n`);
  return table + remarks.join('');
}

interface TimeOptions extends PrintOptions {
  readonly from?: string;
  readonly to?: string;
}

const parseKeyId = parseIdOf('a key, as `keys list`');

export function declareLedger(ledger: Command, context: CliContext): void {
  addPrintOptions(ledger.command('person'), 'REGISTRY_USER')
    .description('list accesses to the data of a person: lookups, pages of lists, exports')
    .argument('<nid>', 'national ID of the person; a former or erased one too')
    .action(acting(context, showPerson));
  addTimeOptions(addPrintOptions(ledger.command('key'), 'REGISTRY_USER'))
    .description('list the persons whose data a key has accessed: national IDs, how often, and when')
    .argument('<id>', 'id of the key', parseKeyId)
    .action(acting(context, showKey));
  addPrintOptions(ledger.command('verify'), 'REGISTRY_USER')
    .description('verify that the ledger is unchanged; or that it contains the access of a receipt')
    .option('--receipt <receipt>', 'the `X-Access-Receipt` of a response')
    .action(acting(context, verify));
  addConfirmOptions(addPrintOptions(ledger.command('prune'), 'REGISTRY_USER'))
    .description('remove files older than the retention period, even if later months are missing')
    .action(acting(context, prune));
  addTimeOptions(addSettingOptions(ledger.command('export'), 'REGISTRY_DB', 'REGISTRY_USER'))
    .description('all entries as NDJSON, with origin, sequence and receipt')
    .option('--key <id>', 'only entries of this key', parseKeyId)
    .action(acting(context, exportEntries));
}

const addTimeOptions = (command: Command): Command =>
  command
    .option('--from <date>', 'from this day or instant on')
    .option('--to <date>', 'until this day, or instant, which is included');

async function showPerson(run: Run, nid: string): Promise<void> {
  const identityCard = readNumber(nid);
  const { storage, zone } = run;
  const { traces, person } = await withStore(openPersonTraces(storage), (store) => ({
    traces: store.findTraces(identityCard),
    person: store.findPerson(identityCard),
  }));
  // Creations are listed apart, because a creation is not an access.
  const creations = (person?.history ?? []).filter(
    ({ entity, field }) => entity === 'members' && field === CREATED,
  );
  const ledger = openLedgerReader(storage.pathForOpening());
  const { accesses, isKeyLost, unreadable } = findPersonAccesses(ledger, traces);
  const context = { zone, keyNames: readKeyNames(storage, run.now) };
  await recordAccess(run, { identityCards: [identityCard], fields: [] });
  const tableOf = (some: typeof accesses) =>
    some.length === 0 ? '' : formatAccesses(some, context, (text) => translate(run, text));
  const everybody = ofEverybody(accesses);
  const parts = [
    creations
      .map(({ row, at, actor, user }) => {
        const values = { row, at: formatDateTime(at, zone), actor: formatActor(actor, user) };
        return `${translate(run, say('Entered as {row} at {at} by {actor}.', values))}\n`;
      })
      .join(''),
    accesses.length === 0 ? `${translate(run, 'The access ledger has no entry for this person.')}\n` : '',
    tableOf(ofPerson(accesses)),
    everybody.length === 0
      ? ''
      : `${translate(run, formatEverybody(everybody.length))}\n${tableOf(everybody)}`,
  ];
  run.show(
    {
      entered: creations.map(({ row, ...entry }) => {
        const { at, actor, user } = describeHistoryEntry(entry, zone);
        return { row, at, actor, user };
      }),
      entries: accesses.map((access) => describeAccess(access, context)),
    },
    parts.filter((part) => part !== '').join('\n'),
  );
  if (isKeyLost) tell(run, KEY_LOST);
  tellUnreadable(run, unreadable);
}

async function prune(run: Run<PrintOptions & ConfirmOptions>): Promise<void> {
  const { storage, config, clock, options } = run;
  // Throws for a location without a registry of this release.
  sequenceOf(storage);
  const retention = { nowMs: clock.now(), days: config.accessLedgerDays };
  const { removable, waiting } = findOldFiles(storage.pathForOpening(), retention);
  const files = [...removable, ...waiting];
  await recordAccess(run, { fields: [], isOfLedger: true });
  const list = files.map((name) => `${name}\n`).join('');
  if (files.length > 0) await confirm(run, options, () => run.err(list));
  const isToGo = files.length > 0 && options.dryRun !== true;
  // The path is checked again, because a restore may have begun while the operator was asked.
  const entries = isToGo
    ? pruneLedger(storage.pathForOpening(), { ...retention, inspectedNames: files }).entries
    : 0;
  const result = isToGo
    ? say('Removed {n|# file|# files} with {entries|# access|# accesses}.', { n: files.length, entries })
    : say('{n|# file is|# files are} too old.', { n: files.length });
  run.show({ files, entries, removed: isToGo }, `${isToGo ? '' : list}${translate(run, result)}\n`);
}

/** @throws CommandError `usage` */
function filterOf({ from, to }: TimeOptions, zone: TimeZone): EntryFilter {
  const read = (name: string, text: string | undefined, parse: typeof parseDateTime) => {
    const seconds = text === undefined ? undefined : parse(text.trim(), zone);
    if (!(seconds instanceof FieldError)) return seconds;
    throw new CommandError(EXIT.usage, `--${name}: ${outOfRange(seconds)?.message ?? EXPECTED}`);
  };
  const filter = { from: read('from', from, parseDateTime), to: read('to', to, parseLastSecond) };
  if ((filter.from ?? 0) > (filter.to ?? Infinity))
    throw new CommandError(EXIT.usage, '--from is later than --to.');
  return filter;
}

const EXPECTED = 'Expected a day such as 2026-03-01, or an instant such as 2026-03-01T08:00.';

/**
 * @param mayHaveAccesses true if the ledger may have entries of the key. A lost key is then accepted too
 * @throws CommandError for an unknown id
 */
function assertKey(run: Run, id: number | undefined, mayHaveAccesses: boolean): void {
  if (id === undefined || mayHaveAccesses || readKeyNames(run.storage, run.now).has(id)) return;
  throw new CommandError(EXIT.refused, NO_KEY);
}

/** An access to more than this number of persons is recorded as an access to all persons. */
const MOST_NAMED = 1_000;

async function showKey(run: Run<TimeOptions>, keyId: number): Promise<void> {
  const { options, storage, zone } = run;
  const filter = { ...filterOf(options, zone), keyId };
  const accesses = await withStore(openPersonTraces(storage), (store) =>
    findKeyAccesses(openLedgerReader(storage.pathForOpening()), filter, store),
  );
  const { persons, pages, exports, unknown, withoutKey, unreadable } = accesses;
  const mayHaveAccesses = persons.length + pages + exports + unknown + withoutKey + unreadable.length > 0;
  assertKey(run, keyId, mayHaveAccesses);
  const identityCards = persons.map(({ identityCard }) => identityCard);
  const fields = identityCards.length > 0 ? NAMES : [];
  if (identityCards.length > MOST_NAMED) await recordAll(run, NAMES);
  else await recordAccess(run, { identityCards, fields, isOfLedger: true });
  run.show(describeKeyAccesses(accesses, zone), formatKeyAccesses(accesses, run));
  tellUnreadable(run, unreadable);
}

/** Exports entries one by one, because a ledger may be larger than the memory. */
async function exportEntries(run: Run<TimeOptions & { readonly key?: number }>): Promise<void> {
  const { options, storage, zone } = run;
  const filter = { ...filterOf(options, zone), keyId: options.key };
  await recordAll(run, []);
  const writer = createJsonWriter(run.out);
  const ledger = openLedgerReader(storage.pathForOpening());
  let hasEntries = false;
  for (const { entry } of findEntries(ledger, filter)) {
    hasEntries = true;
    await writer.write(`${JSON.stringify(entry)}\n`);
  }
  writer.flush();
  tellUnreadable(run, ledger.unreadable);
  assertKey(run, options.key, hasEntries || ledger.unreadable.length > 0);
}

/** @throws CommandError with status 1 if the verification fails */
async function verify(run: Run<PrintOptions & { readonly receipt?: string }>): Promise<void> {
  const { storage } = run;
  if (!storage.exists()) throw new CommandError(EXIT.usage, `There is no database at ${storage.location}.`);
  if (run.options.receipt === undefined) verifyAll(run);
  else await verifyOne(run, run.options.receipt);
}

/** Records no access, since the result has no personal data. */
function verifyAll(run: Run): void {
  const { entries, chains, faults } = openLedgerReader(run.storage.pathForOpening()).verify();
  recordNobody(run);
  const isEmpty = chains.length + faults.length === 0;
  // Throws if the registry is unusable, because its ledger may then be lost rather than empty.
  if (isEmpty) sequenceOf(run.storage);
  const counts = { entries, chains: chains.length };
  const lines = [
    ...faults,
    ...chains.map(formatChain),
    isEmpty
      ? say('Nothing has been recorded yet.')
      : say('{entries|# entry is|# entries are} sound, in {chains|# chain|# chains}.', counts),
  ];
  run.show(
    { sound: faults.length === 0, entries, chains: chains.map(describeChain), faults },
    lines.map((line) => `${translate(run, line)}\n`).join(''),
  );
  if (faults.length > 0)
    throw new CommandError(EXIT.refused, 'The access ledger is NOT sound. See docs/ledger.md#damage.');
}

const describeChain = (chain: VerifiedChain) => ({
  chain: chain.chain,
  origin: chain.origin,
  entries: chain.entries,
  removed_through: chain.removedThrough,
  last_sequence: chain.lastSequence,
  last_hash: chain.lastHash,
  fault: chain.fault,
});

/** Formats the end of a chain. A saved copy of the hash can later prove that no earlier entry was changed. */
const formatChain = ({ chain, origin, lastSequence: sequence, lastHash: hash }: VerifiedChain): Message =>
  say('Chain {chain} of {origin}: up to {sequence}, hash {hash}', { chain, origin, sequence, hash });

async function verifyOne(run: Run, receipt: string): Promise<void> {
  const { storage, zone } = run;
  const { entry, message } = openLedgerReader(storage.pathForOpening()).verifyReceipt(receipt);
  const context = { zone, keyNames: readKeyNames(storage, run.now) };
  await recordAccess(run, { fields: [], isOfLedger: true });
  const table = entry && formatAccesses([{ entry }], context, (text) => translate(run, text));
  run.show(
    { found: entry !== undefined, message, entry: entry ? describeEntry(entry, context) : null },
    `${table ?? ''}${message}\n`,
  );
  if (entry === undefined) throw new CommandError(EXIT.refused, '');
}
