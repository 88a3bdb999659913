/** Reads a file into an import session and checks it. */

import { valueIn } from '../../formats/spreadsheet-cells-and-empty-words.ts';
import type { ImportKind } from '../../registry/file-columns.ts';
import type { StagedRow } from '../../values/declared-fields.ts';
import {
  FileFault,
  type FileRecord,
  fileFault,
  type ImportFault,
  type RecordSource,
} from '../files/records.ts';
import { columnLetters } from '../files/sheet-rows.ts';
import type { ImportWarning } from '../import-warnings.ts';
import { type CellContext, ColumnSurvey } from '../reading/cell-context.ts';
import type { FileLayout } from '../reading/file-layout.ts';
import { NoteLog } from '../reading/notes.ts';
import type { ImportSession } from '../staging/import-session.ts';
import type { CheckOptions } from '../staging/staging-tables.ts';
import type { FileSurvey } from './cell-reader.ts';
import { IMPORT_COLUMNS } from './columns.ts';
import { isTotalsRow } from './compare-totals.ts';
import { createWidthCheck, type Header, withHeaderRows } from './header.ts';
import { EMPTY_FILE, openTable, type Table, visibleRecords } from './table.ts';

export interface StageOptions extends CheckOptions {
  readonly kind: ImportKind;
  /** Layout of the file. For parts that the map omits, the default layout applies. */
  readonly map?: FileLayout | undefined;
  /** True to refuse the file for everything that would otherwise get a note. */
  readonly isStrict?: boolean | undefined;
  /** True to skip hidden rows and columns of a workbook. */
  readonly skipsHidden?: boolean | undefined;
  readonly cells: CellContext;
  /** Called after each batch. May throw to end reading. @param bytesRead bytes up to the end of the batch */
  readonly onBatch: (bytesRead: number) => void;
}

const FIRST_ROWS = 3;

export type FileFindings = Awaited<ReturnType<typeof readAndCheck>>['findings'];

/** @throws RegistryError `unavailable`; the system's error if the file cannot be read */
export async function readAndCheck(session: ImportSession, source: RecordSource, options: StageOptions) {
  let survey: FileSurvey = { hidden: new Set() };
  let staged = await stageOnce(session, source, options, survey);
  // Most files have unambiguous dates and known words, and are read only once.
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
      /** Warnings about the file itself. Warnings from comparing it with stored data are in `checked`. */
      warnings,
      /** First few rows, with parsed values. */
      firstRows,
      /** Undefined if the header could not be read. */
      header: table?.header,
      /** Columns with a number that is refused for too many decimals. A map can round these columns. */
      roundableColumns: table?.roundableColumns() ?? [],
      isReferenceMissing: table?.isReferenceMissing() === true,
      /** Returns a fault's cell in a workbook, such as `C12`; undefined if there is no single cell. */
      cellOf({ line, column }: Pick<ImportFault, 'line' | 'column'>): string | undefined {
        const place = table?.header.headings.findIndex((heading) => heading.column === column) ?? -1;
        return source.format.type === 'text' || place < 0 ? undefined : `${columnLetters(place)}${line}`;
      },
    },
  };
}

/**
 * @returns also `needsSurvey`, which is true if the file must be scanned and staged again; `table` is
 *   undefined if the header could not be read
 */
async function stageOnce(
  session: ImportSession,
  source: RecordSource,
  { kind, map, cells, isStrict, skipsHidden = false, onBatch }: StageOptions,
  survey: FileSurvey,
) {
  const { format } = source;
  const notes = new NoteLog(isStrict === true);
  if (format.type === 'text' && format.encoding === 'windows-1252' && map?.encoding === undefined)
    notes.note('encoding', '', 1);
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
  // Rows outside the table give no evidence about its columns.
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
    // The fault is reported when the rows are read.
    if (!(error instanceof FileFault)) throw error;
  }
  return new Map(columns.map(({ name, survey }) => [name, survey]));
}
