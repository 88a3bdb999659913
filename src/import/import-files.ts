/** Imports files one by one: each is read, checked whole, and only then written, in one transaction. */
import { createWriteStream, statSync } from 'node:fs';
import { basename } from 'node:path';
import { finished } from 'node:stream/promises';
import { type Clock, nowSeconds } from '../clock.ts';
import type { TimeZone } from '../domain/date-time.ts';
import type { ImportKind, ImportResult, ImportSession } from '../store/ports.ts';
import { cellContext } from './cells.ts';
import { readCsv } from './read-csv.ts';
import { createRowReader, FileFault, type RowReader } from './rows.ts';

export interface ImportFile {
  readonly kind: ImportKind;
  readonly path: string;
}

export interface ImportOptions {
  readonly zone: TimeZone;
  readonly clock: Clock;
  readonly isDryRun?: boolean;
  /** Import the good rows of a file that has bad ones. */
  readonly skipsInvalid?: boolean;
  readonly acceptsTrailingZero?: boolean;
  /** Bytes of the file that were read. */
  readonly onProgress?: (file: ImportFile, bytes: number) => void;
  /** While the session still holds the faults of the file. */
  readonly onChecked?: (report: FileReport, session: ImportSession) => Promise<void> | void;
}

export interface FileReport {
  readonly file: ImportFile;
  readonly rows: number;
  readonly refusedRows: number;
  readonly faults: number;
  /** Null when nothing of the file was written, in a dry run too. */
  readonly result: ImportResult | null;
  readonly isRefused: boolean;
  /** Refused for what concerns no row alone: its header, its bytes, all its national IDs. */
  readonly isWholeRefused: boolean;
  readonly seconds: number;
}

/**
 * Imports the files in their order and stops after the first that is refused.
 * @throws RegistryError `unavailable` when the registry cannot be written to
 */
export async function importFiles(
  session: ImportSession,
  files: readonly ImportFile[],
  options: ImportOptions,
): Promise<FileReport[]> {
  const reports: FileReport[] = [];
  for (const file of files) {
    const report = await importFile(session, file, options);
    reports.push(report);
    if (report.isRefused) break;
  }
  return reports;
}

async function importFile(
  session: ImportSession,
  file: ImportFile,
  options: ImportOptions,
): Promise<FileReport> {
  const startMs = options.clock.monotonicMs();
  await stageFile(session, file, options);
  session.check({ acceptTrailingZero: options.acceptsTrailingZero === true });
  const { rows, refusedRows, faults, isWholeRefused } = session.counts();
  const isRefused = isWholeRefused || (refusedRows > 0 && options.skipsInvalid !== true);
  const checked: FileReport = {
    file,
    rows,
    refusedRows,
    faults,
    result: null,
    isRefused,
    isWholeRefused,
    seconds: 0,
  };
  await options.onChecked?.(checked, session);
  let result: ImportResult | null = null;
  if (!isRefused) {
    if (refusedRows > 0) session.dropRefused();
    if (options.isDryRun === true) session.addToReferences();
    else result = session.apply(nowSeconds(options.clock));
  }
  return { ...checked, result, seconds: (options.clock.monotonicMs() - startMs) / 1000 };
}

async function stageFile(session: ImportSession, file: ImportFile, options: ImportOptions): Promise<void> {
  const context = cellContext(options.zone, nowSeconds(options.clock));
  let reader: RowReader | undefined;
  let isStarted = false;
  try {
    await readCsv(file.path, {
      onProgress: (bytes) => options.onProgress?.(file, bytes),
      onRecord(cells, line) {
        if (reader === undefined) {
          reader = createRowReader(file.kind, cells, context);
          session.start(file.kind, reader.columns);
          isStarted = true;
          return;
        }
        session.stage(
          line,
          reader.read(cells, (column, message) => session.addFault({ line, column, message })),
        );
      },
    });
    if (!isStarted) {
      throw new FileFault([
        { line: 1, column: '', message: 'The file is empty: its first line must name the columns.' },
      ]);
    }
  } catch (error) {
    if (!(error instanceof FileFault)) throw error;
    if (!isStarted) session.start(file.kind, new Set());
    for (const fault of error.faults) session.addFault(fault, true);
  }
}

/** A cell of a CSV file, quoted where it must be. */
const quote = (cell: string): string => (/[",\r\n;]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/**
 * Appends the refused rows of a file with their faults: `line,column,reason` and the row's own cells. The only
 * place where national IDs leave the registry's own files, so it is readable by its owner alone.
 */
export async function writeRejects(
  session: ImportSession,
  file: ImportFile,
  rejectsPath: string,
): Promise<void> {
  const out = createWriteStream(rejectsPath, { flags: 'a', mode: 0o600 });
  const write = (cells: readonly string[]) => out.write(`${cells.map(quote).join(',')}\n`);
  const writeFaults = (line: number, cells: readonly string[]) => {
    for (const { column, message } of session.faultsOf(line))
      write([String(line), column, message, ...cells]);
  };
  let isHeader = true;
  let lastLine = 0;
  try {
    await readCsv(file.path, {
      onRecord(cells, line) {
        if (isHeader) write(['line', 'column', 'reason', ...cells]);
        isHeader = false;
        lastLine = line;
        writeFaults(line, cells);
      },
    });
  } catch (error) {
    if (!(error instanceof FileFault)) throw error;
    // The row that cannot be read as CSV has no cells to give.
    for (const { line } of error.faults) if (line > lastLine) writeFaults(line, []);
  }
  out.end();
  await finished(out);
}

/** Bytes of a file, and its name without the folder. */
export const describeFile = (file: ImportFile) => ({
  name: basename(file.path),
  bytes: statSync(file.path).size,
});
