/** `ledger`: who has read whose data (docs/ledger.md). */
import type { Command } from 'commander';
import { type EntryFilter, findEntries, findKeyReadings } from '../../app/readings/key-readings.ts';
import { findPersonReadings, ofEverybody, ofPerson } from '../../app/readings/person-readings.ts';
import { openConfiguredStorage } from '../../app/storage.ts';
import type { Config } from '../../config.ts';
import { parseDateTime, parseLastSecond, type TimeZone } from '../../domain/values/date-time.ts';
import { FieldError } from '../../domain/values/errors.ts';
import { say } from '../../domain/values/message.ts';
import type { Storage } from '../../store/ports/storage.ts';
import { readNumber } from '../corrections/correction-command.ts';
import { readKeyNames } from '../persons/key-names.ts';
import { describeReading, formatEverybody, formatReadings } from '../persons/reading-text.ts';
import { NAMES, recordAll, recordReading } from '../persons/record-reading.ts';
import { type CliContext, CommandError, EXIT, print, tell, translate } from '../terminal/context.ts';
import { createJsonWriter } from '../terminal/json-writer.ts';
import { parseIdOf } from '../terminal/options.ts';
import { formatJson } from '../terminal/output.ts';
import { addPrintOptions, addSettingOptions, configOf, type PrintOptions } from '../terminal/settings.ts';
import { withStore } from '../terminal/with-store.ts';
import { describeKeyReadings, formatKeyReadings, WITHOUT_KEY } from './key-readings-text.ts';
import { type VerifyOptions, verify } from './verify.ts';

interface TimeOptions extends PrintOptions {
  readonly from?: string;
  readonly to?: string;
}

interface ExportOptions extends TimeOptions {
  readonly key?: number;
}

interface RepairOptions extends PrintOptions {
  readonly backup?: string;
}

const parseKeyId = parseIdOf('a key, as `keys list`');

export function declareLedger(ledger: Command, context: CliContext): void {
  addPrintOptions(ledger.command('person'), 'REGISTRY_USER')
    .description('who has read the data of a person: by the number, on pages of lists, in exports')
    .argument('<nid>', 'national ID of the person, also a former one or one that was erased')
    .action((nid: string, options: PrintOptions) => showPerson(context, nid, options));
  addTimeOptions(addPrintOptions(ledger.command('key'), 'REGISTRY_USER'))
    .description('whom a key has read: national IDs, how often, and when')
    .argument('<id>', 'id of the key', parseKeyId)
    .action((id: number, options: TimeOptions) => showKey(context, id, options));
  addPrintOptions(ledger.command('verify'), 'REGISTRY_USER')
    .description('whether the ledger is as it was written; or whether it has the reading of a receipt')
    .option('--receipt <receipt>', 'the `X-Access-Receipt` of a response')
    .action((options: VerifyOptions) => verify(context, options));
  addPrintOptions(ledger.command('repair'), 'REGISTRY_USER')
    .description('replace a damaged ledger by what can be read of it; the damaged file is kept')
    .option('--backup <dir>', 'the folder of a backup: its readings are added')
    .action((options: RepairOptions) => repair(context, options));
  addTimeOptions(addSettingOptions(ledger.command('export'), 'REGISTRY_DB', 'REGISTRY_USER'))
    .description('all entries as NDJSON, with origin, sequence and receipt')
    .option('--key <id>', 'only those of this key', parseKeyId)
    .action((options: ExportOptions) => exportEntries(context, options));
}

const addTimeOptions = (command: Command): Command =>
  command
    .option('--from <date>', 'from this day or instant on')
    .option('--to <date>', 'until this day, or instant, which is included');

interface Run {
  readonly config: Config;
  readonly storage: Storage;
}

function startRun(context: CliContext, options: PrintOptions): Run {
  const config = configOf(context, options);
  return { config, storage: openConfiguredStorage(config, context.clock) };
}

async function showPerson(context: CliContext, nid: string, options: PrintOptions): Promise<void> {
  const identityCard = readNumber(nid);
  const { config, storage } = startRun(context, options);
  const traces = await withStore(storage.openHeldData(), (store) => store.findTraces(identityCard));
  const { readings, isKeyLost } = await withStore(storage.openLedgerReader(), (ledger) =>
    findPersonReadings(ledger, traces),
  );
  const shown = { zone: config.zone, keyNames: await readKeyNames(context, storage) };
  await recordReading(context, options, { identityCards: [identityCard], fields: [] });
  if (options.json === true)
    context.out(formatJson({ entries: readings.map((reading) => describeReading(reading, shown)) }));
  else {
    const table = (some: typeof readings) => formatReadings(some, shown, (text) => translate(context, text));
    const [own, others] = [ofPerson(readings), ofEverybody(readings)];
    if (readings.length === 0) print(context, 'The access ledger has no reading of this person.');
    if (own.length > 0) context.out(`${table(own)}${others.length > 0 ? '\n' : ''}`);
    if (others.length > 0) {
      print(context, formatEverybody(others.length));
      context.out(table(others));
    }
  }
  if (isKeyLost) tell(context, WITHOUT_KEY);
}

async function repair(context: CliContext, options: RepairOptions): Promise<void> {
  const { storage } = startRun(context, options);
  const { kept, readings, added } = await storage.repairLedger(options.backup);
  await recordReading(context, options, { fields: [], isOfLedger: true });
  if (options.json === true) context.out(formatJson({ kept, readings, added }));
  else
    print(
      context,
      say('{n|# reading|# readings} taken over, {added} added from the backup; the old file is {kept}.', {
        n: readings,
        added,
        kept,
      }),
    );
}

/** @throws CommandError `usage` */
function filterOf({ from, to }: TimeOptions, zone: TimeZone): EntryFilter {
  const read = (name: string, text: string | undefined, parse: typeof parseDateTime) => {
    const seconds = text === undefined ? undefined : parse(text.trim(), zone);
    if (seconds instanceof FieldError) throw new CommandError(EXIT.usage, `--${name}: ${seconds.message}`);
    return seconds;
  };
  return { from: read('from', from, parseDateTime), to: read('to', to, parseLastSecond) };
}

/** Of more than so many, an entry says that everybody was shown. */
const MOST_NAMED = 1_000;

async function showKey(context: CliContext, keyId: number, options: TimeOptions): Promise<void> {
  const { config, storage } = startRun(context, options);
  const { zone } = config;
  const filter = { ...filterOf(options, zone), keyId };
  const { readings, cooperatives } = await withStore(storage.openHeldData(), async (store) => ({
    readings: await withStore(storage.openLedgerReader(), (ledger) => findKeyReadings(ledger, filter, store)),
    cooperatives: await store.listCooperatives(),
  }));
  const identityCards = readings.persons.map(({ identityCard }) => identityCard);
  if (identityCards.length > MOST_NAMED) await recordAll(context, options, NAMES);
  else
    await recordReading(context, options, {
      identityCards,
      fields: identityCards.length > 0 ? NAMES : [],
      isOfLedger: true,
    });
  if (options.json === true) context.out(formatJson(describeKeyReadings(readings, { zone, cooperatives })));
  else context.out(formatKeyReadings(readings, { zone, cooperatives }, (text) => translate(context, text)));
}

/** A line for each entry; written while it is read. */
async function exportEntries(context: CliContext, { key, ...options }: ExportOptions): Promise<void> {
  const { config, storage } = startRun(context, options);
  const filter = { ...filterOf(options, config.zone), keyId: key };
  await recordAll(context, options, []);
  const writer = createJsonWriter(context.out);
  await withStore(storage.openLedgerReader(), async (ledger) => {
    for (const { entry } of findEntries(ledger, filter)) await writer.write(`${JSON.stringify(entry)}\n`);
  });
  writer.flush();
}
