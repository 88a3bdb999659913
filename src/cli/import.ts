/** `import`: brings CSV files into the registry, each whole or not at all. */
import { existsSync, realpathSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { SingleBar } from 'cli-progress';
import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { RegistryError } from '../domain/errors.ts';
import { createBlockTexts } from '../http/resources/financials.ts';
import { IMPORT_COLUMNS } from '../import/columns.ts';
import {
  describeFile,
  type FileReport,
  type ImportFile,
  importFiles,
  writeRejects,
} from '../import/import-files.ts';
import { listImportFiles } from '../import/import-folder.ts';
import { IMPORT_KINDS, type ImportFault, type ImportSession } from '../store/ports.ts';
import { openImportSession } from '../store/sqlite/import/session.ts';
import { type CliContext, CommandError, EXIT } from './context.ts';

interface ImportCommandOptions {
  readonly db?: string;
  readonly dryRun?: boolean;
  readonly rejects?: string;
  readonly skipInvalid?: boolean;
  readonly acceptTrailingZero?: boolean;
  readonly json?: boolean;
}

/** Faults that are told on screen; the rest is counted. */
const SHOWN_FAULTS = 20;

const columnsHelp = IMPORT_KINDS.map((kind) => {
  const columns = IMPORT_COLUMNS[kind].map(({ name, isRequired }) => name + (isRequired ? '*' : ''));
  return `  ${kind.padEnd(13)} ${columns.join(', ')}\n`;
}).join('');

export function addImportCommand(program: Command, context: CliContext): void {
  program
    .command('import')
    .description('import CSV files: a folder with <kind>*.csv, or one file of a kind')
    .argument('<kind-or-folder>', `a folder, or one of ${IMPORT_KINDS.join(', ')}`)
    .argument('[file]', 'the CSV file, when a kind is named')
    .option('--dry-run', 'check everything, write nothing')
    .option('--rejects <file>', 'write the refused rows with the reasons to this file')
    .option('--skip-invalid', 'import the good rows of a file that has bad ones')
    .option('--accept-trailing-zero', 'national IDs may all end in 0')
    .option('--db <file>', 'database file (overrides REGISTRY_DB)')
    .option('--json', 'one JSON document, every fault included')
    .addHelpText(
      'after',
      `\nColumns (* required; full_name, or first_name and last_name):\n${columnsHelp}\nExamples:\n  import data/incoming\n  import members members-huye.csv --dry-run\n`,
    )
    .action(async (kindOrFolder: string, path: string | undefined, options: ImportCommandOptions) => {
      await runImport(context, findFiles(context, kindOrFolder, path), options);
    });
}

function findFiles(context: CliContext, kindOrFolder: string, path: string | undefined): ImportFile[] {
  const kind = IMPORT_KINDS.find((known) => known === kindOrFolder);
  if (path === undefined) {
    if (!existsSync(kindOrFolder) || !statSync(kindOrFolder).isDirectory()) {
      const what = kind === undefined ? `${kindOrFolder} is no folder.` : 'Name the file too.';
      throw new CommandError(EXIT.usage, `${what} Usage: import DIR, or import <kind> FILE.`);
    }
    const { files, left } = listImportFiles(kindOrFolder);
    for (const name of left)
      context.err(`${name} is left: its name begins with none of ${IMPORT_KINDS.join(', ')}.\n`);
    if (files.length > 0) return files;
    throw new CommandError(
      EXIT.usage,
      `${kindOrFolder} holds no file called <kind>*.csv (${IMPORT_KINDS.join(', ')}).`,
    );
  }
  if (kind === undefined) throw new CommandError(EXIT.usage, `Known kinds: ${IMPORT_KINDS.join(', ')}.`);
  if (!existsSync(path)) throw new CommandError(EXIT.usage, `There is no file ${path}.`);
  if (!statSync(path).isFile()) {
    throw new CommandError(
      EXIT.usage,
      `${path} is no file. A folder is imported by its name alone: import ${path}.`,
    );
  }
  return [{ kind, path }];
}

async function runImport(
  context: CliContext,
  files: readonly ImportFile[],
  options: ImportCommandOptions,
): Promise<void> {
  const config = readConfig(
    options.db === undefined ? context.env : { ...context.env, REGISTRY_DB: options.db },
  );
  if (options.rejects !== undefined) prepareRejects(options.rejects, files);
  const session = openImportSession(
    config.databaseFile,
    createBlockTexts(config.zone),
    context.clock.monotonicMs,
  );
  const screen = createScreen(context, options);
  // Removes the staging file when the import is interrupted; after SIGKILL the next start does.
  const onSignal = () => {
    session.close();
    process.exit(EXIT.refused);
  };
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  let reports: FileReport[];
  try {
    reports = await importFiles(session, files, {
      zone: config.zone,
      clock: context.clock,
      isDryRun: options.dryRun === true,
      skipsInvalid: options.skipInvalid === true,
      acceptsTrailingZero: options.acceptTrailingZero === true,
      onProgress: screen.progress,
      async onChecked(report, checked) {
        screen.checked(report, checked);
        if (report.faults > 0 && options.rejects !== undefined)
          await writeRejects(checked, report.file, options.rejects);
      },
    });
  } catch (error) {
    screen.stop();
    if (error instanceof RegistryError) throw new CommandError(EXIT.refused, error.message);
    throw error;
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    session.close();
  }
  screen.finished(reports, files);
  if (reports.some((report) => report.faults > 0)) throw new CommandError(EXIT.refused, '');
}

/** An earlier rejects file is removed, so that the new one has its own mode; anything else is left. */
function prepareRejects(path: string, files: readonly ImportFile[]): void {
  if (!existsSync(dirname(path))) throw new CommandError(EXIT.usage, `There is no folder ${dirname(path)}.`);
  if (!existsSync(path)) return;
  if (!statSync(path).isFile())
    throw new CommandError(EXIT.usage, `${path} is no file. Name one for --rejects.`);
  if (files.some((file) => realpathSync(file.path) === realpathSync(path))) {
    throw new CommandError(EXIT.usage, `${path} is to be imported. Name another file for --rejects.`);
  }
  rmSync(path);
}

interface Screen {
  progress(file: ImportFile, bytes: number): void;
  checked(report: FileReport, session: ImportSession): void;
  stop(): void;
  finished(reports: readonly FileReport[], files: readonly ImportFile[]): void;
}

function createScreen(context: CliContext, options: ImportCommandOptions): Screen {
  let bar: SingleBar | undefined;
  let current: ImportFile | undefined;
  const kept: ImportFault[][] = [];

  function stop(): void {
    bar?.stop();
    bar = undefined;
  }

  return {
    stop,
    progress(file, bytes) {
      if (context.terminal === undefined) return;
      if (current !== file) {
        stop();
        current = file;
        const { name, bytes: total } = describeFile(file);
        const format = `${name} [{bar}] {percentage}% {duration_formatted}`;
        bar = new SingleBar({ format, stream: context.terminal, clearOnComplete: true, hideCursor: true });
        bar.start(total, 0);
      }
      bar?.update(bytes);
    },
    checked(report, session) {
      stop();
      if (options.json === true) kept.push([...session.faults()]);
      else tellFaults(context, report, session);
    },
    finished(reports, files) {
      if (options.json === true) {
        const shown = reports.map((report, i) => ({ ...describeReport(report), errors: kept[i] ?? [] }));
        const document = { dry_run: options.dryRun === true, files: shown };
        context.out(`${JSON.stringify(document, undefined, 2)}\n`);
      } else tellOutcome(context, reports, files, options);
    },
  };
}

function tellFaults(context: CliContext, report: FileReport, session: ImportSession): void {
  const { name } = describeFile(report.file);
  let told = 0;
  for (const { line, column, message } of session.faults()) {
    if (told++ === SHOWN_FAULTS) break;
    context.err(`${name} line ${line}${column === '' ? '' : `, column ${column}`}: ${message}\n`);
  }
  const rest = report.faults - SHOWN_FAULTS;
  if (rest > 0) context.err(`${name}: ${rest} more; --rejects FILE writes all of them.\n`);
}

const perSecond = (report: FileReport): number => Math.round(report.rows / Math.max(report.seconds, 0.001));

const describeReport = (report: FileReport) => ({
  file: report.file.path,
  kind: report.file.kind,
  rows: report.rows,
  created: report.result?.created ?? 0,
  changed: report.result?.changed ?? 0,
  unchanged: report.result?.unchanged ?? 0,
  refused_rows: report.refusedRows,
  imported: report.result !== null,
  seconds: Number(report.seconds.toFixed(3)),
  rows_per_second: perSecond(report),
  lock_seconds: Number(((report.result?.lockMs ?? 0) / 1000).toFixed(3)),
});

function tellOutcome(
  context: CliContext,
  reports: readonly FileReport[],
  files: readonly ImportFile[],
  options: ImportCommandOptions,
): void {
  for (const report of reports) context.out(`${describeFile(report.file).name}: ${outcomeOf(report)}\n`);
  const last = reports.at(-1);
  if (last?.isRefused !== true) return;
  const verb = options.dryRun === true ? 'good' : 'in';
  const done = reports.filter((report) => !report.isRefused).map((report) => describeFile(report.file).name);
  const notReached = files.slice(reports.length).map((file) => describeFile(file).name);
  context.err(`Nothing of ${describeFile(last.file).name} was imported.\n`);
  if (files.length === 1) return;
  context.err(`Files that are ${verb}: ${done.join(', ') || 'none'}.\n`);
  if (notReached.length > 0) context.err(`Not reached: ${notReached.join(', ')}.\n`);
}

function outcomeOf(report: FileReport): string {
  const { result, rows, refusedRows, isRefused } = report;
  if (isRefused && report.isWholeRefused) return 'refused as a whole, see above';
  if (isRefused) return `refused, ${refusedRows} of ${rows} rows are faulty`;
  if (result === null) return `${rows} rows checked, ${refusedRows} faulty, nothing written`;
  const skipped = refusedRows === 0 ? '' : `, ${refusedRows} refused`;
  const seconds = `${report.seconds.toFixed(1)} s, ${perSecond(report)} rows/s, locked for ${(result.lockMs / 1000).toFixed(3)} s`;
  return `${result.created} new, ${result.changed} changed, ${result.unchanged} unchanged${skipped} (${seconds})`;
}
