/** What an operator sees of an import. */
import { type FileReport, nameOf } from '../import/import-files.ts';
import type { CheckedFile, ImportChanges, RegistrySize } from '../store/ports/import-session.ts';
import type { CliContext } from './context.ts';
import { type ImportOutput, rowsPerSecond } from './import-output.ts';

/** Faults shown of one file; the rest is counted. */
const SHOWN_FAULTS = 20;

interface ScreenOptions {
  /** Its location. */
  readonly database: string;
  readonly isDryRun: boolean;
  /** The path given by `--rejects`. */
  readonly rejects: string | undefined;
}

export function createImportScreen(
  context: CliContext,
  { database, isDryRun, rejects }: ScreenOptions,
): ImportOutput {
  return {
    begin: (registry) => context.out(`Registry ${database}: ${describeSize(registry)}\n`),
    checked: (file, checked) => showFaults(context, nameOf(file), { checked, rejects }),
    finished(report) {
      const name = nameOf(report.file);
      if (report.outcome !== 'not_reached') context.out(`${name}: ${describeOutcome(report)}\n`);
      if (report.failure !== undefined) context.err(`${name}: ${report.failure.message}\n`);
      if (report.outcome === 'refused') context.err(`Nothing of ${name} was imported.\n`);
    },
    end(reports, registry) {
      context.out(`Registry ${database} ${isDryRun ? 'is unchanged' : 'now'}: ${describeSize(registry)}\n`);
      showStop(context, reports, isDryRun);
    },
  };
}

const describeSize = ({ cooperatives, members, deliveries, loans, transactions }: RegistrySize): string =>
  [
    counted(cooperatives, 'cooperative'),
    counted(members, 'member'),
    counted(deliveries, 'delivery', 'deliveries'),
    counted(loans, 'loan'),
    counted(transactions, 'savings transaction'),
  ].join(', ');

const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

async function showFaults(
  context: CliContext,
  name: string,
  { checked, rejects }: { checked: CheckedFile; rejects: string | undefined },
): Promise<void> {
  let shown = 0;
  for await (const { line, column, message } of checked.listFaults()) {
    if (shown++ === SHOWN_FAULTS) break;
    context.err(`${name} line ${line}${column === '' ? '' : `, column ${column}`}: ${message}\n`);
  }
  const rest = checked.faults - SHOWN_FAULTS;
  const place = rejects === undefined ? '--rejects FILE writes all of them' : 'the rejects have all of them';
  if (rest > 0) context.err(`${name}: ${rest} more; ${place}.\n`);
}

function describeOutcome(report: FileReport): string {
  const { outcome, rows, refusedRows } = report;
  if (outcome === 'failed') return 'failed, nothing of it was imported';
  if (outcome === 'refused') {
    return report.isFileFaulty ? 'refused, see above' : `refused, ${refusedRows} of ${rows} rows have faults`;
  }
  const changes = `${describeChanges(report.changes)}${refusedRows === 0 ? '' : `, ${refusedRows} refused`}`;
  if (outcome === 'accepted') return `${rows} rows checked: ${changes}; nothing was written`;
  const speed = `${report.seconds.toFixed(1)} s, ${rowsPerSecond(report)} rows/s`;
  return `${changes} (${speed}, locked for ${(report.lockMs / 1000).toFixed(3)} s)`;
}

const describeChanges = ({ created, changed, unchanged }: ImportChanges): string =>
  `${created} new, ${changed} changed, ${unchanged} unchanged`;

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
