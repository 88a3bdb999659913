/** Imports files one by one: each is read, checked, and only then written, in one transaction. */

import type { TimeZone } from '../../domain/values/date-time.ts';
import { type Clock, nowSeconds } from '../../runtime/clock.ts';
import type {
  AcceptedFile,
  CheckedFile,
  CheckOptions,
  ImportRecord,
  ImportSession,
} from '../../store/contract/import/import-session.ts';
import { cellContext } from '../cells/context.ts';
import { openFile } from '../formats/open-file.ts';
import type { RecordSource } from '../formats/source/records.ts';
import { UnknownSheetError } from '../formats/workbook/open-workbook.ts';
import type { FileLayout } from '../map/file-layout.ts';
import { scoreHeader } from '../table/headings.ts';
import { type FileFindings, readAndCheck } from '../table/read-and-check.ts';
import { describeMap, toImportRecord } from './import-record.ts';
import { emptyReport, type FileReport, type ImportFile, nameOf, toFailure } from './import-report.ts';

export interface ImportOptions extends CheckOptions {
  readonly zone: TimeZone;
  readonly clock: Clock;
  /** Checks and counts, and writes nothing. */
  readonly isDryRun: boolean;
  /** How the files are written; what it does not name is read as without it. */
  readonly map?: FileLayout;
  /** What would be read leniently or skipped is a fault. */
  readonly isStrict?: boolean;
  /** Shows what each file would change, and asks before it is imported. */
  readonly asks?: boolean;
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
   * @param findings its notes, and where its faults are
   */
  checked?(
    file: ImportFile,
    checked: CheckedFile,
    source: RecordSource,
    findings: FileFindings,
  ): Promise<void> | void;
  /**
   * Asked after `checked`, when warnings stop a file that is to be imported, or when the import asks.
   * @param report what it would do: `stopped` or `accepted`
   * @returns whether it is imported; without this it is not
   */
  confirm?(report: FileReport): Promise<boolean>;
  /** Called for each file, those that were not reached included. */
  finished?(report: FileReport): void;
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

/** A dry run asks nobody: it says what the import would do by itself. */
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
    const result = accepted.apply(nowSeconds(clock), record, { onlyAsShown });
    const { lockMs, importId, errorAfterCommit: error, ...changes } = result;
    const done = { outcome: 'imported' as const, changes, importId, lockMs };
    if (error === undefined) return done;
    const message = 'The file is imported, but an unexpected error followed. Run the check command.';
    return { ...done, failure: { message, error, isExpected: false } };
  }
  accepted.keepForReference();
  return { outcome: 'accepted', changes: accepted.changes, lockMs: 0 };
}
