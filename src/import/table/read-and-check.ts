/** Reads a file into an import session and checks it. */

import {
  FileFault,
  fileFault,
  type ImportFault,
  type RecordSource,
  type SourceFormat,
} from '../../formats/records.ts';
import type { ImportKind } from '../../registry/file-columns.ts';
import type { StagedRow } from '../../values/declared-fields.ts';
import type { ImportWarning } from '../import-warnings.ts';
import type { CellContext } from '../reading/cell-context.ts';
import type { FileLayout } from '../reading/file-layout.ts';
import { createNoteTaker, type ImportNote } from '../reading/notes.ts';
import type { CheckedFile } from '../staging/import-transaction.ts';
import type { ImportSession } from '../staging/session.ts';
import type { CheckOptions } from '../staging/staging-tables.ts';
import { type Header, withHeaderRows } from './header.ts';
import { type FileSurvey, surveyDates } from './survey-dates.ts';
import { openTable, type Table } from './table.ts';

interface StageOptions extends CheckOptions {
  readonly kind: ImportKind;
  readonly map?: FileLayout | undefined;
  /** Makes a fault of everything that would be read leniently or skipped. */
  readonly isStrict?: boolean | undefined;
  readonly cells: CellContext;
  /** Called between batches; an exception from it ends the reading. @param bytesRead of the file so far */
  readonly onBatch: (bytesRead: number) => void;
}

const FIRST_ROWS = 3;

export interface FileFindings {
  readonly notes: readonly ImportNote[];
  /** Warnings about the rows as they are in the file; those about stored data are with the checked file. */
  readonly warnings: readonly ImportWarning[];
  /** Undefined if it could not be read. */
  readonly header: Header | undefined;
  /** The first rows, as they were understood. */
  readonly firstRows: readonly StagedRow[];
  readonly isReferenceMissing: boolean;
  /** The cell of a workbook with the fault, such as `C12`; undefined if it is not in a single one. */
  cellOf(fault: Pick<ImportFault, 'line' | 'column'>): string | undefined;
}

/** @throws RegistryError `unavailable`; the system's error if the file cannot be read */
export async function readAndCheck(
  session: ImportSession,
  source: RecordSource,
  options: StageOptions,
): Promise<{ checked: CheckedFile; findings: FileFindings }> {
  let survey: FileSurvey = { hidden: new Set() };
  let staged = await stageOnce(session, source, options, survey);
  // Rare: a file with dates in one order, and known words, is read once.
  while (staged.needsSurvey && staged.table !== undefined) {
    const { table } = staged;
    survey = {
      dates: survey.dates ?? (await surveyDates(source, options.kind, table.header, options.onBatch)),
      hidden: new Set([...survey.hidden, ...table.columnsOfUnknownWords()]),
    };
    staged = await stageOnce(session, source, options, survey);
  }
  const { staging, table, notes, firstRows } = staged;
  const checked = staging.check(options);
  const findings: FileFindings = {
    notes,
    warnings: table?.warnings() ?? [],
    firstRows,
    header: table?.header,
    isReferenceMissing: table?.isReferenceMissing() === true,
    cellOf: (fault) => cellOf(source.format, table?.header, fault),
  };
  return { checked, findings };
}

interface Staged {
  readonly staging: ReturnType<ImportSession['stage']>;
  /** Undefined for a file without a readable header. */
  readonly table: Table | undefined;
  readonly notes: readonly ImportNote[];
  readonly firstRows: readonly StagedRow[];
  /** True if the file must be staged again, with the survey that its table asks for. */
  readonly needsSurvey: boolean;
}

async function stageOnce(
  session: ImportSession,
  source: RecordSource,
  { kind, map, cells, isStrict, onBatch }: StageOptions,
  survey: FileSurvey,
): Promise<Staged> {
  const { format } = source;
  const notes = createNoteTaker(isStrict === true);
  if (isEncodingGuessed(format, map)) notes.note('encoding', '', 1);
  let table: Table | undefined;
  let staging: ReturnType<ImportSession['stage']> | undefined;
  const firstRows: StagedRow[] = [];
  try {
    for await (const batch of withHeaderRows(source.read(), map)) {
      onBatch(batch.bytesRead);
      if (batch.records.length === 0 && table === undefined) continue;
      table ??= openTable(batch.records, { kind, map, cells, format, notes, survey });
      staging ??= session.stage(kind, table.columns);
      const { rows, faults } = table.read(batch);
      if (table.needsSurvey()) return { staging, table, notes: [], firstRows, needsSurvey: true };
      firstRows.push(...rows.slice(0, FIRST_ROWS - firstRows.length));
      staging.addRows(rows);
      if (faults.length > 0) staging.addFaults(faults);
    }
    if (staging === undefined) throw fileFault(1, 'The file is empty: its first line must name the columns.');
    staging.addFaults(table?.end() ?? []);
  } catch (error) {
    if (!(error instanceof FileFault)) throw error;
    staging ??= session.stage(kind, new Set());
    staging.addFaults([...notes.takeFaults(), ...error.faults]);
  }
  return { staging, table, notes: notes.list(), firstRows, needsSurvey: false };
}

const isEncodingGuessed = (format: SourceFormat, map: FileLayout | undefined): boolean =>
  format.type === 'text' && format.encoding === 'windows-1252' && map?.encoding === undefined;

function cellOf(
  format: SourceFormat,
  header: Header | undefined,
  { line, column }: Pick<ImportFault, 'line' | 'column'>,
): string | undefined {
  const place = header?.headings.findIndex((heading) => heading.column === column) ?? -1;
  return format.type === 'text' || place < 0 ? undefined : `${columnLetters(place)}${line}`;
}

/** Letters of a column in a workbook: `A` to `Z`, `AA`, … @param place counted from 0 */
function columnLetters(place: number): string {
  const last = String.fromCharCode(65 + (place % 26));
  return place < 26 ? last : columnLetters(Math.floor(place / 26) - 1) + last;
}
