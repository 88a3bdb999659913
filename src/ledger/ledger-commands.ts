/** The `ledger` commands, which show, check, prune and export the access ledger (docs/ledger.md). */
import type { Command } from 'commander';
import { describeEntry } from '../journal/history-commands.ts';
import { NO_KEY } from '../keys/key-commands.ts';
import { readKeyNames } from '../keys/key-text.ts';
import { formatActor } from '../registry/changes/labels.ts';
import { CREATED } from '../registry/changes/record-changes.ts';
import type { CooperativeSummary } from '../registry/cooperatives.ts';
import { openStoredData } from '../registry/stored/stored-data.ts';
import { sequenceOf } from '../sqlite/storage.ts';
import { type CliContext, CommandError, EXIT, tell, translate } from '../terminal/context.ts';
import { createJsonWriter } from '../terminal/json-writer.ts';
import { parseIdOf, readNumber } from '../terminal/options.ts';
import { formatTable } from '../terminal/output.ts';
import { NAMES, recordAccess, recordAll } from '../terminal/record-reading.ts';
import { acting, type Run, withStore } from '../terminal/run.ts';
import { addPrintOptions, addSettingOptions, type PrintOptions } from '../terminal/settings.ts';
import { addConfirmOptions, type ConfirmOptions, confirm } from '../terminal/signals.ts';
import {
  formatDateTime,
  outOfRange,
  parseDateTime,
  parseLastSecond,
  type TimeZone,
} from '../values/date-time.ts';
import { FieldError } from '../values/errors.ts';
import { type Message, say, type Text } from '../values/message.ts';
import { type EntryFilter, findEntries, findKeyAccesses, type KeyAccesses } from './key-readings.ts';
import { findOldLedgerFiles, openLedgerReader, pruneLedger } from './open-ledger.ts';
import {
  describeReading,
  findPersonAccesses,
  formatEverybody,
  formatReadings,
  ofEverybody,
  ofPerson,
  shownTime,
  tellUnreadable,
} from './person-readings.ts';
import { verify } from './verify-command.ts';

interface Showing {
  readonly zone: TimeZone;
  readonly cooperatives: readonly CooperativeSummary[];
}

export const WITHOUT_KEY = say(
  'A key of the ledger is lost: whose numbers were asked for while it was used cannot be found out.',
);

/** Codes of the cooperatives that were exported in full; null: all cooperatives. */
const exportedCodes = ({ exported }: KeyAccesses, { cooperatives }: Showing): string[] | null =>
  exported && [...exported].map((id) => cooperatives.find((each) => each.id === id)?.code ?? `id ${id}`);

const describeKeyReadings = (readings: KeyAccesses, showing: Showing) => ({
  persons: readings.persons.map(({ identityCard, times, first, last }) => ({
    identity_card: identityCard,
    times,
    first: shownTime(first, showing.zone),
    last: shownTime(last, showing.zone),
  })),
  pages: readings.pages,
  exports: readings.exports,
  exported_cooperatives: exportedCodes(readings, showing),
  unknown: readings.unknown,
  without_key: readings.withoutKey,
});

function remarksOn(readings: KeyAccesses, showing: Showing): Message[] {
  const { persons, pages, exports, unknown, withoutKey } = readings;
  const codes = exportedCodes(readings, showing);
  return [
    say('{n|# person was|# persons were} read.', { n: persons.length }),
    ...(pages === 0 ? [] : [say('Everybody on the {n|page|# pages} of lists is among them.', { n: pages })]),
    ...(exports > 0 && codes === null
      ? [say('Of {n|an export|# exports} everybody has to be counted too: all cooperatives.', { n: exports })]
      : []),
    ...(exports > 0 && codes !== null
      ? [
          say('Of {n|an export|# exports} everybody has to be counted too, in: {codes}.', {
            n: exports,
            codes,
          }),
        ]
      : []),
    ...(unknown === 0
      ? []
      : [
          say('{n|# reading was|# readings were} of numbers or members that nobody has now.', { n: unknown }),
        ]),
    ...(withoutKey === 0 ? [] : [WITHOUT_KEY]),
  ];
}

/** Formats text with national IDs, meant for an authority; otherwise only `persons show` prints them. */
function formatKeyReadings(
  readings: KeyAccesses,
  showing: Showing,
  translate: (text: Text) => string,
): string {
  const rows = readings.persons.map(({ identityCard, times, first, last }) => [
    identityCard,
    String(times),
    shownTime(first, showing.zone),
    shownTime(last, showing.zone),
  ]);
  const headings = ['NATIONAL ID', 'TIMES', 'FIRST', 'LAST'].map(translate);
  const table = rows.length === 0 ? '' : `${formatTable(headings, rows)}\n`;
  return `${table}${remarksOn(readings, showing)
    .map((text) => `${translate(text)}\n`)
    .join('')}`;
}

interface TimeOptions extends PrintOptions {
  readonly from?: string;
  readonly to?: string;
}

interface ExportOptions extends TimeOptions {
  readonly key?: number;
}

type PruneOptions = PrintOptions & ConfirmOptions;

const parseKeyId = parseIdOf('a key, as `keys list`');

export function declareLedger(ledger: Command, context: CliContext): void {
  addPrintOptions(ledger.command('person'), 'REGISTRY_USER')
    .description('who has read the data of a person: by the number, on pages of lists, in exports')
    .argument('<nid>', 'national ID of the person, also a former one or one that was erased')
    .action(acting(context, showPerson));
  addTimeOptions(addPrintOptions(ledger.command('key'), 'REGISTRY_USER'))
    .description('whom a key has read: national IDs, how often, and when')
    .argument('<id>', 'id of the key', parseKeyId)
    .action(acting(context, showKey));
  addPrintOptions(ledger.command('verify'), 'REGISTRY_USER')
    .description('whether the ledger is as it was written; or whether it has the reading of a receipt')
    .option('--receipt <receipt>', 'the `X-Access-Receipt` of a response')
    .action(acting(context, verify));
  addConfirmOptions(addPrintOptions(ledger.command('prune'), 'REGISTRY_USER'))
    .description('remove files that are older than readings are kept, also where later months are missing')
    .action(acting(context, prune));
  addTimeOptions(addSettingOptions(ledger.command('export'), 'REGISTRY_DB', 'REGISTRY_USER'))
    .description('all entries as NDJSON, with origin, sequence and receipt')
    .option('--key <id>', 'only those of this key', parseKeyId)
    .action(acting(context, exportEntries));
}

const addTimeOptions = (command: Command): Command =>
  command
    .option('--from <date>', 'from this day or instant on')
    .option('--to <date>', 'until this day, or instant, which is included');

async function showPerson(run: Run, nid: string): Promise<void> {
  const identityCard = readNumber(nid);
  const { storage, zone } = run;
  const { traces, person } = await withStore(openStoredData(storage), async (store) => ({
    traces: store.findTraces(identityCard),
    person: store.findPerson(identityCard),
  }));
  // An entry made on creation is not a reading.
  const entered = (person?.history ?? []).filter(
    ({ entity, field }) => entity === 'members' && field === CREATED,
  );
  const { readings, isKeyLost, unreadable } = await withStore(openLedgerReader(storage), (ledger) =>
    findPersonAccesses(ledger, traces),
  );
  const shown = { zone, keyNames: await readKeyNames(run, storage) };
  await recordAccess(run, { identityCards: [identityCard], fields: [] });
  const table = (some: typeof readings) => formatReadings(some, shown, (text) => translate(run, text));
  const [own, others] = [ofPerson(readings), ofEverybody(readings)];
  const parts = [
    entered
      .map(({ row, at, actor, user }) => {
        const values = { row, at: formatDateTime(at, zone), actor: formatActor(actor, user) };
        return `${translate(run, say('Entered as {row} at {at} by {actor}.', values))}\n`;
      })
      .join(''),
    ...(readings.length === 0
      ? [`${translate(run, 'The access ledger has no reading of this person.')}\n`]
      : []),
    ...(own.length > 0 ? [table(own)] : []),
    ...(others.length > 0 ? [`${translate(run, formatEverybody(others.length))}\n${table(others)}`] : []),
  ];
  run.show(
    {
      entered: entered.map(({ row, ...entry }) => {
        const { at, actor, user } = describeEntry(entry, zone);
        return { row, at, actor, user };
      }),
      entries: readings.map((reading) => describeReading(reading, shown)),
    },
    parts.filter((part) => part !== '').join('\n'),
  );
  if (isKeyLost) tell(run, WITHOUT_KEY);
  tellUnreadable(run, unreadable);
}

/**
 * Removes files on an operator's decision. Automatic retention waits until later months fill the retention
 * period.
 */
async function prune(run: Run<PruneOptions>): Promise<void> {
  const { storage, config, clock, options } = run;
  // Refuses a location without a registry of this release.
  sequenceOf(storage);
  const retention = { nowMs: clock.now(), days: config.accessLedgerDays };
  const { removable, waiting } = findOldLedgerFiles(storage, retention);
  const files = [...removable, ...waiting];
  await recordAccess(run, { fields: [], isOfLedger: true });
  const list = files.map((name) => `${name}\n`).join('');
  if (files.length > 0) await confirm(run, options, () => run.err(list));
  const isToGo = files.length > 0 && options.dryRun !== true;
  const entries = isToGo ? pruneLedger(storage, { ...retention, named: files }).entries : 0;
  const done = isToGo
    ? say('Removed {n|# file|# files} with {entries|# reading|# readings}.', { n: files.length, entries })
    : say('{n|# file is|# files are} too old.', { n: files.length });
  run.show({ files, entries, removed: isToGo }, `${isToGo ? '' : list}${translate(run, done)}\n`);
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
 * Refuses an id that no key has. A deleted or lost key passes if the ledger mentions it, or if unreadable
 * files might.
 * @throws CommandError for an unknown id
 */
async function assertKey(run: Run, id: number | undefined, mayHaveReadings: boolean): Promise<void> {
  if (id === undefined || mayHaveReadings || (await readKeyNames(run, run.storage)).has(id)) return;
  throw new CommandError(EXIT.refused, NO_KEY);
}

/** Above this number of persons, the reading is recorded as one of everybody. */
const MOST_NAMED = 1_000;

async function showKey(run: Run<TimeOptions>, keyId: number): Promise<void> {
  const { options, storage, zone } = run;
  const filter = { ...filterOf(options, zone), keyId };
  const { readings, cooperatives } = await withStore(openStoredData(storage), async (store) => ({
    readings: await withStore(openLedgerReader(storage), (ledger) => findKeyAccesses(ledger, filter, store)),
    cooperatives: store.listCooperatives(),
  }));
  const { pages, exports, unknown, withoutKey } = readings;
  await assertKey(
    run,
    keyId,
    readings.persons.length + pages + exports + unknown + withoutKey + readings.unreadable.length > 0,
  );
  const identityCards = readings.persons.map(({ identityCard }) => identityCard);
  if (identityCards.length > MOST_NAMED) await recordAll(run, NAMES);
  else
    await recordAccess(run, {
      identityCards,
      fields: identityCards.length > 0 ? NAMES : [],
      isOfLedger: true,
    });
  const showing = { zone, cooperatives };
  run.show(
    describeKeyReadings(readings, showing),
    formatKeyReadings(readings, showing, (text) => translate(run, text)),
  );
  tellUnreadable(run, readings.unreadable);
}

/** Streams one line for each entry. */
async function exportEntries(run: Run<ExportOptions>): Promise<void> {
  const { options, storage, zone } = run;
  const filter = { ...filterOf(options, zone), keyId: options.key };
  await recordAll(run, []);
  const writer = createJsonWriter(run.out);
  await withStore(openLedgerReader(storage), async (ledger) => {
    let hasEntries = false;
    for (const { entry } of findEntries(ledger, filter)) {
      hasEntries = true;
      await writer.write(`${JSON.stringify(entry)}\n`);
    }
    writer.flush();
    tellUnreadable(run, ledger.unreadable);
    await assertKey(run, options.key, hasEntries || ledger.unreadable.length > 0);
  });
}
