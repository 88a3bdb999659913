/** Reads a file into an import session and checks it. */

import { valueIn } from '../../formats/blanks.ts';
import type { ImportKind } from '../../registry/file-columns.ts';
import type { StagedRow } from '../../values/declared-fields.ts';
import {
  FileFault,
  type FileRecord,
  fileFault,
  type ImportFault,
  type RecordSource,
  type SourceFormat,
} from '../files/records.ts';
import { columnLetters } from '../files/sheet-rows.ts';
import type { ImportWarning } from '../import-warnings.ts';
import { type CellContext, ColumnSurvey } from '../reading/cell-context.ts';
import type { FileLayout } from '../reading/file-layout.ts';
import { NoteLog } from '../reading/notes.ts';
import type { ImportSession } from '../staging/session.ts';
import type { CheckOptions } from '../staging/staging-tables.ts';
import type { FileSurvey } from './cell-reader.ts';
import { IMPORT_COLUMNS } from './columns.ts';
import { isTotalsRow } from './compare-totals.ts';
import { createWidthCheck, type Header, withHeaderRows } from './header.ts';
import { EMPTY_FILE, openTable, type Table, visibleRecords } from './table.ts';

interface StageOptions extends CheckOptions {
  readonly kind: ImportKind;
  readonly map?: FileLayout | undefined;
  /** Makes a fault of everything that would be read leniently or skipped. */
  readonly isStrict?: boolean | undefined;
  /** Leaves out hidden rows and columns of a workbook. */
  readonly skipsHidden?: boolean | undefined;
  readonly cells: CellContext;
  /** Called between batches; an exception from it ends the reading. @param bytesRead of the file so far */
  readonly onBatch: (bytesRead: number) => void;
}

const FIRST_ROWS = 3;

export type FileFindings = Awaited<ReturnType<typeof readAndCheck>>['findings'];

/** @throws RegistryError `unavailable`; the system's error if the file cannot be read */
export async function readAndCheck(session: ImportSession, source: RecordSource, options: StageOptions) {
  let survey: FileSurvey = { hidden: new Set() };
  let staged = await stageOnce(session, source, options, survey);
  // Rare: a file with dates in one order, and known words, is read once.
  while (staged.needsSurvey && staged.table !== undefined) {
    const { table } = staged;
    survey = {
      columns: survey.columns ?? (await surveyColumns(source, table.header, options)),
      hidden: new Set([...survey.hidden, ...table.columnsOfUnknownWords()]),
    };
    staged = await stageOnce(session, source, options, survey);
  }
  const { staging, table, notes, firstRows } = staged;
  const checked = staging.check(options);
  const warnings: readonly ImportWarning[] = table?.warnings() ?? [];
  return {
    checked,
    findings: {
      notes,
      /** Warnings about the rows as they are in the file; those about stored data are with `checked`. */
      warnings,
      /** The first rows, as they were understood. */
      firstRows,
      /** Undefined if no header could be read. */
      header: table?.header,
      isReferenceMissing: table?.isReferenceMissing() === true,
      /** The cell of a workbook with the fault, such as `C12`; undefined if it is not in a single one. */
      cellOf: (fault: Pick<ImportFault, 'line' | 'column'>) => cellOf(source.format, table?.header, fault),
    },
  };
}

/**
 * @returns also `needsSurvey`, true if the file must be staged again, with the survey that its table asks
 *   for; no table for a file without a readable header
 */
async function stageOnce(
  session: ImportSession,
  source: RecordSource,
  { kind, map, cells, isStrict, skipsHidden = false, onBatch }: StageOptions,
  survey: FileSurvey,
) {
  const { format } = source;
  const notes = new NoteLog(isStrict === true);
  if (isEncodingGuessed(format, map)) notes.note('encoding', '', 1);
  let table: Table | undefined;
  let staging: ReturnType<ImportSession['stage']> | undefined;
  const firstRows: StagedRow[] = [];
  try {
    for await (const batch of withHeaderRows(source.read(), map)) {
      onBatch(batch.bytesRead);
      if (batch.records.length === 0 && table === undefined) continue;
      table ??= openTable(batch, { kind, map, cells, format, notes, survey, skipsHidden });
      staging ??= session.stage(kind, table.columns);
      const { rows, faults } = table.read(batch);
      if (table.needsSurvey()) return { staging, table, notes: notes.list(), firstRows, needsSurvey: true };
      firstRows.push(...rows.slice(0, FIRST_ROWS - firstRows.length));
      staging.addRows(rows);
      if (faults.length > 0) staging.addFaults(faults);
    }
    if (staging === undefined) throw fileFault(1, EMPTY_FILE);
    staging.addFaults(table?.end() ?? []);
  } catch (error) {
    if (!(error instanceof FileFault)) throw error;
    staging ??= session.stage(kind, new Set());
    staging.addFaults([...notes.takeFaults(), ...error.faults]);
  }
  return { staging, table, notes: notes.list(), firstRows, needsSurvey: false };
}

/** Surveys an entire file for the evidence that cells give about their columns, before rows are staged. */
async function surveyColumns(
  source: RecordSource,
  header: Header,
  { kind, skipsHidden = false, onBatch }: StageOptions,
) {
  const columns = IMPORT_COLUMNS[kind].flatMap(({ name, collect }, i) =>
    collect === undefined
      ? []
      : [{ name, collect, place: header.places[i] as number, survey: new ColumnSurvey() }],
  );
  const isWrongWidth = createWidthCheck(header, source.format);
  // A row outside the table is no evidence about its columns.
  const isRow = ({ line, cells }: FileRecord): boolean =>
    line > header.line && !isWrongWidth(cells) && !isTotalsRow(header.headings, cells);
  try {
    for await (const { records, bytesRead, hiddenColumns } of source.read()) {
      onBatch(bytesRead);
      const visible = skipsHidden ? visibleRecords(records, hiddenColumns) : records;
      for (const { cells } of visible.filter(isRow))
        for (const { place, collect, survey } of columns)
          if (place >= 0) collect(valueIn(cells, place), survey);
    }
  } catch (error) {
    // Reported when the rows are read.
    if (!(error instanceof FileFault)) throw error;
  }
  return new Map(columns.map(({ name, survey }) => [name, survey]));
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
