/** Imports files one by one: each is read, checked, and only then written, in one transaction. */
import { basename } from 'node:path';
import { type Clock, nowSeconds } from '../clock.ts';
import type { TimeZone } from '../domain/date-time.ts';
import { RegistryError } from '../domain/errors.ts';
import type { ImportRecord } from '../store/ports/import-record.ts';
import type {
  AcceptedFile,
  CheckedFile,
  CheckOptions,
  ImportChanges,
  ImportKind,
  ImportSession,
} from '../store/ports/import-session.ts';
import { cellContext } from './cells/context.ts';
import { scoreHeader } from './headings.ts';
import { toImportRecord } from './import-record.ts';
import type { ReadingMap } from './map/reading-map.ts';
import type { ImportNote } from './notes.ts';
import { openFile } from './open-file.ts';
import type { RecordSource } from './records.ts';
import { type FileReading, stageFile } from './stage-file.ts';
import { UnknownSheetError } from './workbook/open-workbook.ts';

export interface ImportFile {
  readonly kind: ImportKind;
  readonly path: string;
}

/** The name of a file without its folder. */
export const nameOf = (file: ImportFile): string => basename(file.path);

export interface ImportOptions extends CheckOptions {
  readonly zone: TimeZone;
  readonly clock: Clock;
  /** Checks and counts, and writes nothing. */
  readonly isDryRun: boolean;
  /** How the files are written; what it does not name is read as without it. */
  readonly map?: ReadingMap;
  /** What would be read leniently or skipped is a fault. */
  readonly isStrict?: boolean;
  /** Goes on where warnings would stop a file. */
  readonly acceptsWarnings?: boolean;
  /** Name of the operating system's user, for the record of the import. */
  readonly systemUser: string;
  /** Aborted, it ends the import before the next step of the current file; what is imported stays. */
  readonly signal?: AbortSignal;
}

export interface ImportObserver {
  progress?(file: ImportFile, bytesRead: number, bytes: number): void;
  /**
   * Before anything of the file is written. What it throws makes the file a failed one.
   * @param source the open file, to be read once more
   * @param reading its notes, and where its faults are
   */
  checked?(
    file: ImportFile,
    checked: CheckedFile,
    source: RecordSource,
    reading: FileReading,
  ): Promise<void> | void;
  /**
   * Asked when warnings stop a file that is to be imported, after `checked`.
   * @returns whether it is imported nevertheless; without this it is not
   */
  confirm?(file: ImportFile, accepted: AcceptedFile): Promise<boolean>;
  /** Called for each file, those that were not reached included. */
  finished?(report: FileReport): void;
}

/**
 * `imported`; `accepted`: a dry run found nothing that refuses or stops the file; `refused`: its faults do;
 * `stopped`: warnings do, and nobody has accepted them; `failed`: something else went wrong, see the report's
 * failure; `not_reached`: an earlier file did not get through. Nothing is written of any file but an imported
 * one.
 */
export type Outcome = 'imported' | 'accepted' | 'refused' | 'stopped' | 'failed' | 'not_reached';

export interface FileReport {
  readonly file: ImportFile;
  readonly outcome: Outcome;
  readonly rows: number;
  readonly refusedRows: number;
  readonly faults: number;
  /** Refused for what concerns no single row: its header, its bytes, all its national IDs. */
  readonly isFileFaulty: boolean;
  /** What was read leniently or skipped. */
  readonly notes: readonly ImportNote[];
  /** What was done; in a dry run and for a stopped file, what an import would do. */
  readonly changes: ImportChanges;
  /** How many stored values of each column changed, likewise; a column without any is missing. */
  readonly columns: ReadonlyMap<string, number>;
  /** Under which the import is recorded. */
  readonly importId?: number;
  /** An import of the same bytes that was applied before and not undone. */
  readonly sameAsImport?: number | undefined;
  readonly lockMs: number;
  readonly seconds: number;
  readonly failure?: Failure;
}

export interface Failure {
  /** For the operator. */
  readonly message: string;
  readonly error: unknown;
  /** Whether the operator can do something about it; otherwise it is an unexpected error. */
  readonly isExpected: boolean;
}

/** Something outside the registry went wrong; the message names it. */
export class ImportError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ImportError';
  }
}

/**
 * Imports the files in their order and stops after the first that is refused or fails.
 * @returns a report for each
 * @throws UnknownSheetError when a workbook has no sheet of the map's name
 */
export async function importFiles(
  session: ImportSession,
  files: readonly ImportFile[],
  options: ImportOptions,
  observer: ImportObserver = {},
): Promise<FileReport[]> {
  const reports: FileReport[] = [];
  let isStopped = false;
  for (const file of files) {
    const report: FileReport = isStopped
      ? emptyReport(file)
      : await importFile(session, file, options, observer);
    isStopped ||= ['refused', 'stopped'].includes(report.outcome) || report.failure !== undefined;
    reports.push(report);
    observer.finished?.(report);
  }
  return reports;
}

const NO_CHANGES: ImportChanges = { created: 0, changed: 0, unchanged: 0, kept: 0 };

const emptyReport = (file: ImportFile): FileReport => ({
  ...{ file, outcome: 'not_reached', rows: 0, refusedRows: 0, faults: 0, isFileFaulty: false, notes: [] },
  ...{ changes: NO_CHANGES, columns: new Map(), lockMs: 0, seconds: 0 },
});

async function importFile(
  session: ImportSession,
  file: ImportFile,
  options: ImportOptions,
  observer: ImportObserver,
): Promise<FileReport> {
  const startMs = options.clock.monotonicMs();
  const secondsNow = () => (options.clock.monotonicMs() - startMs) / 1000;
  let report = emptyReport(file);
  let source: RecordSource | undefined;
  try {
    source = await openFile(file.path, {
      encoding: options.map?.encoding,
      sheet: options.map?.sheet,
      scoreHeader: (cells) => scoreHeader(file.kind, cells, options.map),
    });
    const { checked, reading } = await checkFile(session, file, source, options, observer);
    const sameAsImport = await session.findSameImport(file.kind, source.sha256);
    report = { ...report, ...countsOf(checked), notes: reading.notes, sameAsImport };
    await observer.checked?.(file, checked, source, reading);
    options.signal?.throwIfAborted();
    if (checked.isRefused) return { ...report, outcome: 'refused', seconds: secondsNow() };
    const { changes, columns } = checked;
    if (!(await isConfirmed(file, checked, options, observer)))
      return { ...report, outcome: 'stopped', changes, columns, seconds: secondsNow() };
    options.signal?.throwIfAborted();
    const done = await settle(checked, recordOf(file, source, report, options), options);
    return { ...report, columns, ...done, seconds: secondsNow() };
  } catch (error) {
    if (error instanceof UnknownSheetError) throw error;
    return { ...report, outcome: 'failed', failure: toFailure(error), seconds: secondsNow() };
  } finally {
    await source?.close();
  }
}

function checkFile(
  session: ImportSession,
  file: ImportFile,
  source: RecordSource,
  options: ImportOptions,
  observer: ImportObserver,
): ReturnType<typeof stageFile> {
  const { acceptTrailingZero, skipInvalid, overwritesCorrections, map, isStrict, zone, clock, signal } =
    options;
  return stageFile(session, source, {
    ...{ kind: file.kind, map, isStrict, acceptTrailingZero, skipInvalid, overwritesCorrections },
    cells: cellContext(zone, nowSeconds(clock)),
    onBatch(bytesRead) {
      signal?.throwIfAborted();
      observer.progress?.(file, bytesRead, source.bytes);
    },
  });
}

const countsOf = (checked: CheckedFile) => ({
  rows: checked.rows,
  refusedRows: checked.refusedRows,
  faults: checked.faults,
  isFileFaulty: checked.isRefused && checked.isFileFaulty,
});

/** A dry run asks nobody: it says what the import would do by itself. */
async function isConfirmed(
  file: ImportFile,
  accepted: AcceptedFile,
  { acceptsWarnings, isDryRun }: ImportOptions,
  { confirm }: ImportObserver,
): Promise<boolean> {
  if (acceptsWarnings === true || !accepted.warnings.some(({ stops }) => stops)) return true;
  return !isDryRun && (await confirm?.(file, accepted)) === true;
}

function recordOf(
  file: ImportFile,
  { sha256 }: RecordSource,
  { notes }: FileReport,
  { map, systemUser, skipInvalid, acceptTrailingZero, overwritesCorrections, isStrict }: ImportOptions,
): ImportRecord {
  const options = {
    skip_invalid: skipInvalid,
    accept_trailing_zero: acceptTrailingZero,
    strict: isStrict === true,
    overwrite_corrections: overwritesCorrections === true,
  };
  return toImportRecord({ fileName: nameOf(file), sha256, systemUser, map, options, notes });
}

async function settle(
  accepted: AcceptedFile,
  record: ImportRecord,
  { isDryRun, clock }: ImportOptions,
): Promise<Pick<FileReport, 'outcome' | 'changes' | 'importId' | 'lockMs' | 'failure'>> {
  if (!isDryRun) {
    const result = await accepted.apply(nowSeconds(clock), record);
    const { lockMs, importId, errorAfterCommit: error, ...changes } = result;
    const done = { outcome: 'imported' as const, changes, importId, lockMs };
    if (error === undefined) return done;
    const message = 'The file is imported, but an unexpected error followed. Run the check command.';
    return { ...done, failure: { message, error, isExpected: false } };
  }
  await accepted.keepForReference();
  return { outcome: 'accepted', changes: accepted.changes, lockMs: 0 };
}

function toFailure(error: unknown): Failure {
  if (error instanceof RegistryError || error instanceof ImportError)
    return { message: error.message, error, isExpected: true };
  const code = systemCodeOf(error);
  if (code !== undefined) return { message: `The file cannot be read (${code}).`, error, isExpected: true };
  return { message: 'An unexpected error ended the import.', error, isExpected: false };
}

/** `ENOENT` and the like, of what the operating system refused; undefined for any other error. */
export const systemCodeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined;
