/** What an operator sees of an import. */

import type { TimeZone } from '../../domain/values/date-time.ts';
import { counted } from '../../domain/values/text.ts';
import { IMPORT_COLUMNS } from '../../import/columns/columns.ts';
import { formatStored } from '../../import/columns/stored-values.ts';
import { type FileReport, nameOf } from '../../import/run/import-report.ts';
import type {
  AcceptedFile,
  ImportChanges,
  ImportFault,
  RegistrySize,
} from '../../store/ports/import/import-session.ts';
import type { ImportWarning } from '../../store/ports/import/import-warnings.ts';
import type { CliContext } from '../terminal/context.ts';
import { hideIdentityCards } from '../terminal/hide-identity-cards.ts';
import { proposed } from '../terminal/proposed-command.ts';
import type { SettingOptions } from '../terminal/settings.ts';
import { describeLines, describeNotes, SHOWN_LINES } from './import-notes.ts';
import { type FileToShow, type ImportOutput, rowsPerSecond, STOPPED, STOPS_TOO } from './import-output.ts';
import { describePreview } from './import-preview.ts';

/** Different faults shown of one file, and values that are kept; the rest is counted. */
const SHOWN_FAULTS = 20;

/** Rows shown that the replaced import had and the file has not. */
const SHOWN_MISSING = 3;
const SHOWN_OF_MISSING = {
  codes: ['code', 'member_code', 'loan_reference', 'reference', 'delivered_at', 'transacted_at', 'paid_at'],
  values: ['kg', 'product', 'kind', 'amount'],
};

interface ScreenOptions {
  /** Given on the command line. */
  readonly settings: SettingOptions;
  /** Its location. */
  readonly database: string;
  readonly zone: TimeZone;
  readonly isDryRun: boolean;
  /** The path given by `--rejects`. */
  readonly rejects: string | undefined;
  /** The path given by `--absent`. */
  readonly absent: string | undefined;
}

export function createImportScreen(context: CliContext, options: ScreenOptions): ImportOutput {
  const { database, zone, isDryRun, settings } = options;
  const undo = (id: number) => proposed(`imports undo ${id}`, settings);
  let preview = '';
  return {
    begin: (registry) => context.out(`Registry ${database}: ${describeSize(registry)}\n`),
    async checked(shown) {
      const { file, checked, reading } = shown;
      const say = (text: string) => context.err(`${nameOf(file)}${text}\n`);
      for (const note of describeNotes(reading)) say(`: note: ${note}`);
      for (const warning of checked.warnings) say(`: warning: ${await describeWarning(warning)}`);
      await showFaults(say, shown, options.rejects);
      if (checked.isRefused) {
        if (checked.warnings.some(({ stops }) => stops)) say(`: ${STOPS_TOO}`);
        return;
      }
      await showKept(say, checked);
      await showMissing(say, shown, options);
      if (isDryRun) preview = await describePreview(nameOf(file), checked, zone);
    },
    finished(report) {
      const name = nameOf(report.file);
      if (report.outcome !== 'not_reached') context.out(`${name}: ${describeOutcome(report)}\n`);
      if (report.outcome === 'accepted' || report.outcome === 'stopped') context.out(preview);
      if (report.importId !== undefined) context.out(`To undo it: ${undo(report.importId)}\n`);
      if (report.sameAsImport !== undefined)
        context.err(`${name}: the same file was imported before, as import ${report.sameAsImport}.\n`);
      preview = '';
      if (report.failure !== undefined) context.err(`${name}: ${report.failure.message}\n`);
      if (report.outcome === 'stopped') context.err(`${name}: ${STOPPED}\n`);
      if (report.outcome === 'refused' || report.outcome === 'stopped')
        context.err(`Nothing of ${name} was imported.\n`);
    },
    end(reports, registry) {
      context.out(`Registry ${database} ${isDryRun ? 'is unchanged' : 'now'}: ${describeSize(registry)}\n`);
      showStop(context, reports, isDryRun);
    },
  };
}

const describeSize = ({
  cooperatives,
  members,
  deliveries,
  loans,
  payments,
  transactions,
}: RegistrySize): string =>
  [
    counted(cooperatives, 'cooperative'),
    counted(members, 'member'),
    counted(deliveries, 'delivery', 'deliveries'),
    counted(loans, 'loan'),
    counted(payments, 'payment'),
    counted(transactions, 'savings transaction'),
  ].join(', ');

/** Shows something about the file whose name it begins with. */
type Say = (text: string) => void;

/** Equal faults of several rows, with the first of them. */
interface EqualFaults {
  readonly fault: ImportFault;
  rows: number;
  readonly lines: number[];
}

/** Equal faults are one, in the place of the first; only as many different ones as are shown are kept. */
async function collectFaults({ checked }: FileToShow): Promise<EqualFaults[]> {
  const found = new Map<string, EqualFaults>();
  for await (const fault of checked.listFaults()) {
    const key = `${fault.column}\n${fault.message}`;
    const equal = found.get(key) ?? { fault, rows: 0, lines: [] };
    if (equal.rows === 0 && found.size === SHOWN_FAULTS) continue;
    found.set(key, equal);
    if (equal.rows++ < SHOWN_LINES) equal.lines.push(fault.line);
  }
  return [...found.values()];
}

async function showFaults(say: Say, shown: FileToShow, rejects: string | undefined): Promise<void> {
  const { checked, source, reading } = shown;
  const sheet = source.format.type === 'workbook' ? `sheet ${source.format.sheet}, ` : '';
  let rest = checked.faults;
  let areLinesLeft = false;
  for (const { fault, rows, lines } of await collectFaults(shown)) {
    rest -= rows;
    areLinesLeft ||= rows > lines.length;
    const { line, column, message } = fault;
    const inColumn = column === '' ? '' : `column ${column}`;
    const cell = rows > 1 ? undefined : reading.cellOf(fault);
    if (rows > 1) {
      const places = [inColumn, describeLines(lines, rows)].filter((text) => text !== '').join(', ');
      say(`: ${rows} rows: ${message} (${sheet}${places})`);
    } else {
      const place = cell === undefined ? '' : ` (${sheet}cell ${cell})`;
      say(` line ${line}${inColumn === '' ? '' : `, ${inColumn}`}: ${message}${place}`);
    }
  }
  if (rest === 0 && !areLinesLeft) return;
  const [more, all] = rest > 0 ? [`${rest} more; `, 'all of them'] : ['', 'all rows with faults'];
  say(`: ${more}${rejects === undefined ? '--rejects FILE writes' : 'the rejects have'} ${all}.`);
}

async function showKept(say: Say, accepted: AcceptedFile): Promise<void> {
  let shown = 0;
  for await (const { line, column } of accepted.listKept()) {
    if (shown++ === SHOWN_FAULTS) break;
    say(` line ${line}, column ${column}: kept, because it was corrected after it was imported.`);
  }
  const rest = accepted.changes.kept - SHOWN_FAULTS;
  if (rest > 0) say(`: ${rest} more values are kept; --json lists all of them.`);
  if (accepted.canOverwriteKept) say(': to import these values nevertheless, add --overwrite-corrections.');
}

/** Of members only the codes; of entries that would be removed the amounts, too. */
async function showMissing(
  say: Say,
  { file, checked }: FileToShow,
  { zone, absent }: Pick<ScreenOptions, 'zone' | 'absent'>,
): Promise<void> {
  const missing = checked.isRefused ? undefined : checked.missing;
  if (missing === undefined || missing.count === 0) return;
  const names = IMPORT_COLUMNS[file.kind].map(({ name }) => name);
  const isShown = (name: string) =>
    SHOWN_OF_MISSING.codes.includes(name) || (missing.areRemoved && SHOWN_OF_MISSING.values.includes(name));
  // Of an instant the day, and no reference that nobody has written.
  const show = (text: string) => hideIdentityCards(text.replace(/^auto-.*|T\d\d:.*$/, ''));
  const examples: string[] = [];
  for await (const values of missing.list()) {
    const cells = names.flatMap((name, i) =>
      isShown(name) ? show(formatStored(name, values[i] ?? null, zone) ?? '') : [],
    );
    if (examples.push(cells.filter((cell) => cell !== '').join(' ')) === SHOWN_MISSING) break;
  }
  const rest = missing.count > examples.length ? '; …' : '';
  const isOne = missing.count === 1;
  const noun = missing.areRemoved ? 'rows' : file.kind;
  const are = `${isOne ? noun.slice(0, -1) : noun} of the replaced import ${isOne ? 'is' : 'are'}`;
  const removed = isOne ? 'it is removed' : 'they are removed';
  const kept = isOne ? 'it stays as it is' : 'they stay as they are';
  const listed =
    absent === undefined
      ? `--absent FILE writes ${isOne ? 'it' : 'them'}`
      : `${absent} lists ${isOne ? 'it' : 'them'}`;
  const end = missing.areRemoved ? removed : `${kept}; ${listed}`;
  say(`: ${missing.count} ${are} not in this file (${examples.join('; ')}${rest}): ${end}.`);
}

async function describeWarning({ message, count, lines }: ImportWarning): Promise<string> {
  const first: number[] = [];
  for await (const line of lines()) if (first.push(line) === SHOWN_LINES) break;
  return `${message} (${describeLines(first, count)})`;
}

function describeOutcome(report: FileReport): string {
  const { outcome, rows, refusedRows } = report;
  if (outcome === 'failed') return 'failed, nothing of it was imported';
  if (outcome === 'refused') {
    return report.isFileFaulty ? 'refused, see above' : `refused, ${refusedRows} of ${rows} rows have faults`;
  }
  const changes = `${describeChanges(report.changes)}${refusedRows === 0 ? '' : `, ${refusedRows} refused`}`;
  const checked = `${counted(rows, 'row')} checked`;
  if (outcome === 'stopped') return `${checked}: ${changes}; stopped by warnings`;
  if (outcome === 'accepted') return `${checked}: ${changes}; nothing was written`;
  const speed = `${report.seconds.toFixed(1)} s, ${rowsPerSecond(report)} rows/s`;
  return `${changes} (${speed}, locked for ${(report.lockMs / 1000).toFixed(3)} s)`;
}

const describeChanges = ({ created, changed, unchanged, kept, removed }: ImportChanges): string =>
  `${created} new, ${changed} changed, ${unchanged} unchanged${removed === 0 ? '' : `, ${removed} removed`}` +
  (kept === 0 ? '' : `, ${counted(kept, 'value')} kept`);

/** Where an import of several files has stopped. */
function showStop(context: CliContext, reports: readonly FileReport[], isDryRun: boolean): void {
  if (
    reports.length === 1 ||
    reports.every(({ outcome }) => outcome === 'imported' || outcome === 'accepted')
  )
    return;
  const namesOf = (...outcomes: FileReport['outcome'][]) =>
    reports.filter(({ outcome }) => outcomes.includes(outcome)).map(({ file }) => nameOf(file));
  const done = namesOf('imported', 'accepted');
  context.err(`${isDryRun ? 'Accepted' : 'Imported'}: ${done.join(', ') || 'no file'}.\n`);
  const notReached = namesOf('not_reached');
  if (notReached.length > 0) context.err(`Not reached: ${notReached.join(', ')}.\n`);
}
