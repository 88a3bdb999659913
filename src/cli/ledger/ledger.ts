/** `ledger`: who has read whose data (docs/ledger.md). */
import type { Command } from 'commander';
import { type EntryFilter, findEntries, findKeyReadings } from '../../app/readings/key-readings.ts';
import { findPersonReadings, ofEverybody, ofPerson } from '../../app/readings/person-readings.ts';
import { formatActor } from '../../app/wording/actors.ts';
import {
  formatDateTime,
  outOfRange,
  parseDateTime,
  parseLastSecond,
  type TimeZone,
} from '../../domain/values/date-time.ts';
import { FieldError } from '../../domain/values/errors.ts';
import { say } from '../../domain/values/message.ts';
import { CREATED } from '../../store/contract/journal/history.ts';
import { readNumber } from '../corrections/correction-command.ts';
import { describeEntry } from '../journal/history-text.ts';
import { NO_KEY } from '../keys/key-options.ts';
import { readKeyNames } from '../persons/key-names.ts';
import { describeReading, formatEverybody, formatReadings, tellUnreadable } from '../persons/reading-text.ts';
import { NAMES, recordAll, recordReading } from '../persons/record-reading.ts';
import { addConfirmOptions, type ConfirmOptions, confirm } from '../terminal/confirm.ts';
import { type CliContext, CommandError, EXIT, tell, translate } from '../terminal/context.ts';
import { createJsonWriter } from '../terminal/json-writer.ts';
import { parseIdOf } from '../terminal/options.ts';
import { acting, type Run } from '../terminal/run.ts';
import { addPrintOptions, addSettingOptions, type PrintOptions } from '../terminal/settings.ts';
import { withStore } from '../terminal/with-store.ts';
import { describeKeyReadings, formatKeyReadings, WITHOUT_KEY } from './key-readings-text.ts';
import { verify } from './verify.ts';

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
  const { traces, person } = await withStore(storage.openHeldData(), async (store) => ({
    traces: store.findTraces(identityCard),
    person: store.findPerson(identityCard),
  }));
  // That somebody was entered is no reading.
  const entered = (person?.history ?? []).filter(
    ({ entity, field }) => entity === 'members' && field === CREATED,
  );
  const { readings, isKeyLost, unreadable } = await withStore(storage.openLedgerReader(), (ledger) =>
    findPersonReadings(ledger, traces),
  );
  const shown = { zone, keyNames: await readKeyNames(run, storage) };
  await recordReading(run, { identityCards: [identityCard], fields: [] });
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

/** After somebody has looked: by itself, retention waits until as many months follow as are kept. */
async function prune(run: Run<PruneOptions>): Promise<void> {
  const { storage, config, clock, options } = run;
  // Refuses a location without a registry of this release.
  await storage.readCondition();
  const retention = { nowMs: clock.now(), days: config.accessLedgerDays };
  const { removable, waiting } = storage.findOldLedgerFiles(retention);
  const files = [...removable, ...waiting];
  await recordReading(run, { fields: [], isOfLedger: true });
  const list = files.map((name) => `${name}\n`).join('');
  if (files.length > 0) await confirm(run, options, () => run.err(list));
  const isToGo = files.length > 0 && options.dryRun !== true;
  const entries = isToGo ? storage.pruneLedger({ ...retention, named: files }).entries : 0;
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
 * What the ledger knows of a key is found although the key is lost; what cannot be read may know it.
 * @throws CommandError for a wrong id
 */
async function assertKey(run: Run, id: number | undefined, mayHaveReadings: boolean): Promise<void> {
  if (id === undefined || mayHaveReadings || (await readKeyNames(run, run.storage)).has(id)) return;
  throw new CommandError(EXIT.refused, NO_KEY);
}

/** Of more than so many, an entry says that everybody was shown. */
const MOST_NAMED = 1_000;

async function showKey(run: Run<TimeOptions>, keyId: number): Promise<void> {
  const { options, storage, zone } = run;
  const filter = { ...filterOf(options, zone), keyId };
  const { readings, cooperatives } = await withStore(storage.openHeldData(), async (store) => ({
    readings: await withStore(storage.openLedgerReader(), (ledger) => findKeyReadings(ledger, filter, store)),
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
    await recordReading(run, {
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

/** A line for each entry; written while it is read. */
async function exportEntries(run: Run<ExportOptions>): Promise<void> {
  const { options, storage, zone } = run;
  const filter = { ...filterOf(options, zone), keyId: options.key };
  await recordAll(run, []);
  const writer = createJsonWriter(run.out);
  await withStore(storage.openLedgerReader(), async (ledger) => {
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
