/** Imports files one by one: each is read, checked, and only then written, in one transaction. */

import { readdirSync, type Stats, statSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openFile } from '../formats/open-file.ts';
import { UnknownSheetError } from '../formats/open-workbook.ts';
import type { RecordSource } from '../formats/records.ts';
import { formatCsvRow } from '../formats/write-csv.ts';
import type { ImportRecord, StagedChange } from '../journal/operations.ts';
import { formatStored, IMPORT_KINDS, type ImportKind } from '../registry/file-columns.ts';
import { type Clock, nowSeconds } from '../runtime/scheduler.ts';
import type { TimeZone } from '../values/date-time.ts';
import type { StagedValue } from '../values/declared-fields.ts';
import { emptyReport, type FileReport, type ImportFile, nameOf, toFailure } from './import-report.ts';
import { cellContext } from './reading/cell-context.ts';
import type { FileLayout } from './reading/file-layout.ts';
import type { ImportNote } from './reading/notes.ts';
import type { AcceptedFile, CheckedFile } from './staging/import-transaction.ts';
import type { ImportSession } from './staging/session.ts';
import type { CheckOptions } from './staging/staging-tables.ts';
import { IMPORT_COLUMNS } from './table/columns.ts';
import { type FileFindings, readAndCheck } from './table/read-and-check.ts';
import { scoreHeader } from './table/recognise-headings.ts';

// The registry's record of an import: the file, and the layout by which it was read

/** Number of lines kept of a note, which say where to look and are no copy of the file. */
const KEPT_LINES = 20;

interface ImportedFile {
  readonly fileName: string;
  readonly sha256: string;
  readonly systemUser: string;
  readonly map: FileLayout | undefined;
  readonly options: { readonly [name: string]: boolean | number };
  readonly notes: readonly ImportNote[];
}

const toImportRecord = ({ map, notes, ...file }: ImportedFile): ImportRecord => ({
  ...file,
  map: map === undefined ? null : describeMap(map),
  notes: notes.map((note) => ({
    kind: note.kind,
    column: note.column,
    count: note.count,
    lines: firstOf(note.lines()),
  })),
});

function firstOf(lines: Iterable<number>): number[] {
  const first: number[] = [];
  for (const line of lines) {
    if (first.length === KEPT_LINES) break;
    first.push(line);
  }
  return first;
}

/** The form in which a map is recorded. */
const describeMap = ({ columns, constants, values, ...rest }: FileLayout) => ({
  ...rest,
  columns: Object.fromEntries(columns),
  constants: Object.fromEntries(constants),
  values: Object.fromEntries([...values].map(([column, words]) => [column, Object.fromEntries(words)])),
});

export interface ImportOptions extends CheckOptions {
  readonly zone: TimeZone;
  readonly clock: Clock;
  /** Checks and counts, and writes nothing. */
  readonly isDryRun: boolean;
  /** Layout of the files; parts that it leaves out are read as without a map. */
  readonly map?: FileLayout;
  /** Makes a fault of everything that would be read leniently or skipped. */
  readonly isStrict?: boolean;
  /** Shows what each file would change, and asks before it is imported. */
  readonly asks?: boolean;
  /** Continues where warnings would stop a file. */
  readonly acceptsWarnings?: boolean;
  /** Name of the operating system's user, for the record of the import. */
  readonly systemUser: string;
  /** Ends the import, when aborted, before the next step of the current file; imported files stay. */
  readonly signal?: AbortSignal;
}

export interface ImportObserver {
  progress?(file: ImportFile, bytesRead: number, bytes: number): void;
  /**
   * Called before anything of the file is written. An exception from it makes the file a failed one.
   * @param source the open file, which can be read again
   * @param findings its notes, and the places of its faults
   */
  checked?(
    file: ImportFile,
    checked: CheckedFile,
    source: RecordSource,
    findings: FileFindings,
  ): Promise<void> | void;
  /**
   * Called after `checked`, if warnings stop a file that is to be imported, or if the import asks.
   * @param report of the expected outcome, `stopped` or `accepted`
   * @returns true to import the file; without this callback it is not
   */
  confirm?(report: FileReport): Promise<boolean>;
  /** Called for each file, including those that were not reached. */
  finished?(report: FileReport): void;
}

/**
 * Imports the files in their order, up to the first that is refused, stopped or failed.
 * @returns a report for each
 * @throws UnknownSheetError if a workbook has no sheet of the map's name
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
    source =
      file.entered ??
      (await openFile(file.path, {
        encoding: options.map?.encoding,
        sheet: options.map?.sheet,
        scoreHeader: (cells) => scoreHeader(file.kind, cells, options.map),
      }));
    const { checked, findings } = await checkFile(session, file, source, options, observer);
    const sameAsImport = session.findSameImport(file.kind, source.sha256);
    report = { ...report, ...countsOf(checked), notes: findings.notes, sameAsImport };
    await observer.checked?.(file, checked, source, findings);
    options.signal?.throwIfAborted();
    if (checked.isRefused) return { ...report, outcome: 'refused', seconds: secondsNow() };
    const { changes, columns } = checked;
    report = { ...report, missing: checked.missing?.count ?? 0 };
    const isStopped = options.acceptsWarnings !== true && checked.warnings.some(({ stops }) => stops);
    const found = {
      ...report,
      outcome: isStopped ? ('stopped' as const) : ('accepted' as const),
      changes,
      columns,
    };
    if (!(await isConfirmed(found, options, observer))) return { ...found, seconds: secondsNow() };
    options.signal?.throwIfAborted();
    const onlyAsShown = isStopped || options.asks === true;
    const done = settle(checked, recordOf(file, source, report, options), options, onlyAsShown);
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
): ReturnType<typeof readAndCheck> {
  const { acceptTrailingZero, skipInvalid, overwritesCorrections, despiteErasure, replaces } = options;
  const { map, isStrict, zone, clock, signal } = options;
  return readAndCheck(session, source, {
    kind: file.kind,
    map,
    isStrict,
    acceptTrailingZero,
    skipInvalid,
    overwritesCorrections,
    zone,
    despiteErasure,
    sha256: source.sha256,
    isTyped: file.entered !== undefined,
    readAs: map && describeMap(map),
    replaces,
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

/** A dry run asks nobody: it reports the outcome of an import without an answer. */
async function isConfirmed(
  found: FileReport,
  { asks, isDryRun }: ImportOptions,
  { confirm }: ImportObserver,
): Promise<boolean> {
  const isAccepted = found.outcome === 'accepted';
  if (isDryRun || (isAccepted && asks !== true)) return isAccepted;
  return (await confirm?.(found)) === true;
}

function recordOf(
  file: ImportFile,
  { sha256 }: RecordSource,
  { notes }: FileReport,
  given: ImportOptions,
): ImportRecord {
  const { map, systemUser, skipInvalid, acceptTrailingZero, overwritesCorrections, isStrict } = given;
  const options = {
    skip_invalid: skipInvalid,
    accept_trailing_zero: acceptTrailingZero,
    strict: isStrict === true,
    overwrite_corrections: overwritesCorrections === true,
    ...(given.despiteErasure === true ? { despite_erasure: true } : {}),
    ...(given.replaces === undefined ? {} : { replaces: given.replaces }),
  };
  const record = toImportRecord({ fileName: nameOf(file), sha256, systemUser, map, options, notes });
  return file.entered === undefined ? record : { ...record, isEntered: true };
}

function settle(
  accepted: AcceptedFile,
  record: ImportRecord,
  { isDryRun, clock }: ImportOptions,
  onlyAsShown: boolean,
): Pick<FileReport, 'outcome' | 'changes' | 'importId' | 'lockMs' | 'failure'> {
  if (!isDryRun) {
    const result = accepted.apply(nowSeconds(clock), record, onlyAsShown);
    const { lockMs, importId, errorAfterCommit: error, ...changes } = result;
    const done = { outcome: 'imported' as const, changes, importId, lockMs };
    if (error === undefined) return done;
    const message = 'The file is imported, but an unexpected error followed. Run the check command.';
    return { ...done, failure: { message, error, isExpected: false } };
  }
  accepted.keepForReference();
  return { outcome: 'accepted', changes: accepted.changes, lockMs: 0 };
}

// Files of each kind in a folder, in the order in which they refer to each other

interface SkippedFile {
  readonly name: string;
  /** Second half of a sentence such as `Skipped notes.txt: it is not a .csv or .xlsx file`. */
  readonly reason: string;
}

/**
 * Files called `<kind>*.csv` or `<kind>*.xlsx` in any letter case, in order of kind and name.
 * @returns also everything else in the folder, by name
 * @throws the system's error if the folder cannot be read
 */
export function listImportFiles(folder: string): { files: ImportFile[]; skipped: SkippedFile[] } {
  const names = readdirSync(folder).sort();
  const skipped: SkippedFile[] = [];
  const found = names.flatMap((name) => {
    const reason = reasonToSkip(folder, name);
    if (reason === undefined) return name;
    skipped.push({ name, reason });
    return [];
  });
  const files = IMPORT_KINDS.flatMap((kind) =>
    found.filter((name) => kindOf(name) === kind).map((name) => ({ kind, path: join(folder, name) })),
  );
  return { files, skipped };
}

const kindOf = (name: string): ImportKind | undefined =>
  IMPORT_KINDS.find((kind) => name.toLowerCase().startsWith(kind));

function reasonToSkip(folder: string, name: string): string | undefined {
  const type = typeOf(join(folder, name));
  if (type?.isDirectory()) return 'it is a folder';
  if (type?.isFile() === false) return 'it is not a file';
  if (name.startsWith('~$')) return 'it is a lock file, which Excel keeps while a workbook is open';
  if (name.startsWith('.')) return 'it is hidden';
  if (/\.xls$/i.test(name)) return 'it is an .xls file; save it as .xlsx or "CSV UTF-8"';
  if (!/\.(?:csv|xlsx)$/i.test(name)) return 'it is not a .csv or .xlsx file';
  if (kindOf(name) !== undefined) return undefined;
  return `its name does not start with any of ${IMPORT_KINDS.join(', ')}`;
}

/** Undefined for a link without a target, which is reported when the file is opened. */
function typeOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

// Lists that an import writes beside its output: every value that it changes, and the rows that a newer
// version of a file no longer has. They may hold national IDs, so they are readable by their owner only.

/** Characters per write: one for each row would cost more than the row. */
const WRITE_CHARACTERS = 64 * 1024;

export interface ListFormat<Row> {
  readonly columns: readonly string[];
  readonly cells: (row: Row) => readonly (string | null)[];
}

/** `line,row,column,old,new` */
export const changesFormat = (zone: TimeZone): ListFormat<StagedChange> => ({
  columns: ['line', 'row', 'column', 'old', 'new'],
  cells: ({ line, row, column, old, new: next }) => [
    ...[String(line), row, column],
    ...[old, next].map((value) => formatStored(column, value, zone)),
  ],
});

/** Columns of the kind, so that the rows can be completed and imported. */
export function absentFormat(kind: ImportKind, zone: TimeZone): ListFormat<readonly StagedValue[]> {
  const columns = IMPORT_COLUMNS[kind].map(({ name }) => name);
  return {
    columns,
    cells: (values) => values.map((value, i) => formatStored(columns[i] as string, value, zone)),
  };
}

export interface ListFile<Row> {
  /**
   * Appends the rows of a file, after a header of their own.
   * @throws the system's error if the disk takes no more
   */
  append(rows: Iterable<Row>): Promise<void>;
  /** Closes the file, and removes it if nothing was listed. */
  close(): Promise<void>;
}

/**
 * True for a file that a new list may replace: it is empty, or starts with the header of one.
 * @throws the system's error if it cannot be read
 */
export async function isListFile(path: string, { columns }: ListFormat<never>): Promise<boolean> {
  const header = formatCsvRow([...columns]);
  const handle = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(header.length), 0);
    return bytesRead === 0 || buffer.toString('utf8', 0, bytesRead) === header;
  } finally {
    await handle.close();
  }
}

/** @throws the system's error, also if the file exists */
export async function createListFile<Row>(path: string, format: ListFormat<Row>): Promise<ListFile<Row>> {
  const handle = await open(path, 'wx', 0o600);
  let isEmpty = true;
  return {
    async append(rows) {
      let pending = formatCsvRow([...format.columns]);
      let isFirst = true;
      for (const row of rows) {
        isFirst = false;
        pending += formatCsvRow(format.cells(row).map((cell) => cell ?? ''));
        if (pending.length < WRITE_CHARACTERS) continue;
        await handle.writeFile(pending);
        pending = '';
      }
      if (isFirst) return;
      isEmpty = false;
      await handle.writeFile(pending);
    },
    async close() {
      await handle.close();
      if (isEmpty) await rm(path, { force: true });
    },
  };
}
