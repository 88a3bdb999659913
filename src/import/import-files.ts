/** Imports files one after another. Each file is checked completely, and then written in one transaction. */

import { readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ImportRecord } from '../journal/operations.ts';
import { IMPORT_KINDS, type ImportKind } from '../registry/file-columns.ts';
import { type Clock, nowSeconds } from '../runtime/scheduler.ts';
import { typedCommand } from '../runtime/typed-command.ts';
import type { TimeZone } from '../values/date-time.ts';
import { say } from '../values/message.ts';
import { openFile } from './files/open-file.ts';
import { UnknownSheetError } from './files/open-workbook.ts';
import type { RecordSource } from './files/records.ts';
import { emptyReport, type FileReport, type ImportFile, nameOf, toFailure } from './import-report.ts';
import type { ImportWarning } from './import-warnings.ts';
import { cellContext } from './reading/cell-context.ts';
import type { FileLayout } from './reading/file-layout.ts';
import type { ImportSession } from './staging/import-session.ts';
import { scoreHeader } from './table/header.ts';
import { readAndCheck, type StageOptions } from './table/read-and-check.ts';

export interface ImportOptions extends Omit<StageOptions, 'kind' | 'cells' | 'onBatch'> {
  readonly zone: TimeZone;
  readonly clock: Clock;
  readonly isDryRun: boolean;
  /** True to show the changes of each file and ask before importing it. */
  readonly asks?: boolean | undefined;
  readonly acceptsWarnings?: boolean | undefined;
  /** User for the journal: `REGISTRY_USER` with the system account, or the user of the desk. */
  readonly systemUser: string;
  /** Ends the import before the next step of the current file. Earlier files stay imported. */
  readonly signal?: AbortSignal;
}

/** A checked file that is not written yet. `source` is open and can be read again. */
export type FileCheck = Awaited<ReturnType<typeof readAndCheck>> & {
  readonly file: ImportFile;
  readonly source: RecordSource;
};

export const warningsOf = (check: Pick<FileCheck, 'checked' | 'findings'>): ImportWarning[] => [
  ...check.checked.warnings,
  ...check.findings.warnings,
];

export interface ImportObserver {
  progress?(file: ImportFile, bytesRead: number, bytes: number): void;
  /** Called after the checks, even of a refused file. If the callback throws, the file is not imported. */
  checked?(read: FileCheck): Promise<void> | void;
  /**
   * Called after `checked`, if warnings stop the file or the import asks before each file. Without this
   * callback, the file is not imported.
   * @param report with the outcome `stopped` or `accepted`
   * @returns true to import the file
   */
  confirm?(report: FileReport): Promise<boolean>;
  /** Called once for each file, including files that were not reached. */
  finished?(report: FileReport): void;
}

/**
 * Imports files in order, up to the first file that is refused, stopped or failed.
 * @returns a report for each file
 * @throws UnknownSheetError if a workbook lacks the sheet that the map names
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
  const { clock, map, signal, isDryRun } = options;
  const startMs = clock.monotonicMs();
  const secondsNow = () => (clock.monotonicMs() - startMs) / 1000;
  let report = emptyReport(file);
  let source: RecordSource | undefined;
  try {
    source =
      file.entered ??
      (await openFile(file.path, {
        encoding: map?.encoding,
        sheet: map?.sheet,
        scoreHeader: (cells) => scoreHeader(file.kind, cells, map),
      }));
    const { sha256, bytes } = source;
    const { checked, findings } = await readAndCheck(session, source, {
      ...options,
      kind: file.kind,
      sha256,
      isTyped: file.entered !== undefined,
      readAs: map && describeMap(map),
      cells: cellContext(options.zone, nowSeconds(clock)),
      onBatch(bytesRead) {
        signal?.throwIfAborted();
        observer.progress?.(file, bytesRead, bytes);
      },
    });
    const { rows, refusedRows, faults } = checked;
    const isFileFaulty = checked.isRefused && checked.isFileFaulty;
    const sameAsImport = session.findSameImport(file.kind, sha256);
    report = { ...report, rows, refusedRows, faults, isFileFaulty, notes: findings.notes, sameAsImport };
    await observer.checked?.({ file, checked, source, findings });
    signal?.throwIfAborted();
    if (checked.isRefused) return { ...report, outcome: 'refused', seconds: secondsNow() };
    const { changes, columns } = checked;
    report = { ...report, missing: checked.missing?.count ?? 0 };
    const stops = warningsOf({ checked, findings }).some((warning) => warning.stops);
    const isStopped = options.acceptsWarnings !== true && stops;
    const expected = { ...report, outcome: isStopped ? 'stopped' : 'accepted', changes, columns } as const;
    if (isDryRun && !isStopped) checked.referToFromNextFiles();
    const onlyAsShown = isStopped || options.asks === true;
    // A dry run does not ask. It reports the outcome of an import without confirmation.
    if (isDryRun || (onlyAsShown && (await observer.confirm?.(expected)) !== true))
      return { ...expected, seconds: secondsNow() };
    signal?.throwIfAborted();
    const record = recordOf(report, sha256, options);
    const { lockMs, importId, errorAfterCommit, ...made } = checked.apply(
      nowSeconds(clock),
      record,
      onlyAsShown,
    );
    const done = { ...report, outcome: 'imported', changes: made, columns, importId, lockMs } as const;
    if (errorAfterCommit === undefined) return { ...done, seconds: secondsNow() };
    const message = say('The file is imported, but an unexpected error followed. Run {command}', {
      command: typedCommand('check', session.databaseFile),
    });
    const failure = { message, error: errorAfterCommit, isExpected: false };
    return { ...done, failure, seconds: secondsNow() };
  } catch (error) {
    if (error instanceof UnknownSheetError) throw error;
    return { ...report, outcome: 'failed', failure: toFailure(error), seconds: secondsNow() };
  } finally {
    await source?.close();
  }
}

/** Maximum number of line numbers stored for a note. A note must not copy the file into the journal. */
const KEPT_LINES = 20;

/** Returns a JSON value for the journal, in the form of a map file. */
const describeMap = ({ columns, constants, values, rounded, ...rest }: FileLayout) => ({
  ...rest,
  ...(rounded && { rounded: [...rounded] }),
  columns: Object.fromEntries(columns),
  constants: Object.fromEntries(constants),
  values: Object.fromEntries([...values].map(([column, words]) => [column, Object.fromEntries(words)])),
});

const recordOf = ({ file, notes }: FileReport, sha256: string, options: ImportOptions): ImportRecord => ({
  fileName: nameOf(file),
  sha256,
  systemUser: options.systemUser,
  map: options.map === undefined ? null : describeMap(options.map),
  options: {
    skip_invalid: options.skipInvalid === true,
    accept_trailing_zero: options.acceptTrailingZero === true,
    strict: options.isStrict === true,
    ...(options.skipsHidden === true && { skip_hidden: true }),
    overwrite_corrections: options.overwritesCorrections === true,
    ...(options.despiteErasure === true && { despite_erasure: true }),
    replaces: options.replaces,
  },
  // The texts of notes may contain names of people, so they are not stored.
  notes: notes.map(({ texts: _, ...note }) => ({
    ...note,
    lines: Iterator.from(note.lines()).take(KEPT_LINES).toArray(),
  })),
  ...(file.entered && { isEntered: true }),
});

/**
 * Finds the files named `<kind>*.csv`, `<kind>*.xlsx` or `<kind>*.ods`. They are sorted by kind and name, so
 * that each file refers only to earlier files.
 * @throws the system's error if the folder cannot be read
 */
export function listImportFiles(folder: string) {
  const entries = readdirSync(folder)
    .sort()
    .map((name) => ({ name, reason: reasonToSkip(folder, name) }));
  const files = IMPORT_KINDS.flatMap((kind) =>
    entries
      .filter(({ name, reason }) => reason === undefined && kindOf(name) === kind)
      .map(({ name }): ImportFile => ({ kind, path: join(folder, name) })),
  );
  return { files, skipped: entries.filter(({ reason }) => reason !== undefined) };
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
  if (!/\.(?:csv|xlsx|ods)$/i.test(name)) return 'it is not a .csv, .xlsx or .ods file';
  if (kindOf(name) !== undefined) return undefined;
  return `its name does not start with any of ${IMPORT_KINDS.join(', ')}`;
}

/** @returns undefined for a broken link, which `openFile` later reports */
function typeOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
