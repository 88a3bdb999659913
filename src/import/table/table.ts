/** The table of a file: where it begins, and its records → rows, faults and notes. */
import type { ImportFault, ImportKind, StagedRow } from '../../store/contract/import/import-session.ts';
import type { ImportWarning } from '../../store/contract/import/import-warnings.ts';
import type { CellContext } from '../cells/context.ts';
import type { NoteTaker } from '../cells/notes.ts';
import { IMPORT_COLUMNS } from '../columns/columns.ts';
import type { FileRecord, RecordBatch, SourceFormat } from '../formats/source/records.ts';
import type { FileLayout } from '../map/file-layout.ts';
import { createTotalsCheck } from './compare-totals.ts';
import { createExampleCheck } from './example-row.ts';
import { createFilesReader } from './file-column.ts';
import { findHeader } from './find-header.ts';
import { type Header, readHeader } from './header.ts';
import { createRepeatCheck } from './repeated-row.ts';
import { createRowReader } from './rows.ts';
import type { FileSurvey } from './survey-dates.ts';
import { isTotalsRow } from './totals-row.ts';

export interface TableOptions {
  readonly kind: ImportKind;
  readonly map?: FileLayout | undefined;
  readonly cells: CellContext;
  readonly format: SourceFormat;
  readonly notes: NoteTaker;
  readonly survey: FileSurvey;
}

export interface Table {
  readonly header: Header;
  /** The columns that the file has, those made from others included. */
  readonly columns: ReadonlySet<string>;
  /** Reads the next batch; of the first one, what follows the header. */
  read(batch: RecordBatch): { rows: StagedRow[]; faults: ImportFault[] };
  /** Whether the file must be surveyed, and then read again. */
  needsSurvey(): boolean;
  /** Columns of which no unknown word is to be shown then. */
  columnsOfUnknownWords(): string[];
  /** Whether rows of the file come without a reference. */
  isReferenceMissing(): boolean;
  /** Ends the file. @returns faults of its columns as a whole */
  end(): ImportFault[];
  /** What its totals say that its rows do not add up to; once it is ended. */
  warnings(): ImportWarning[];
}

/**
 * @param records from the beginning of the file, as many as are searched for the header
 * @throws FileFault with every fault of the header
 */
export function openTable(records: readonly FileRecord[], options: TableOptions): Table {
  const { kind, map, format, notes, survey } = options;
  const { index, isCertain } = findHeader(kind, records, map);
  const header = readHeader(kind, records[index] as FileRecord, { map, isCertain, notes });
  // Where a map says where the header is, nothing was guessed.
  if (map?.headerRow === undefined)
    for (const { line } of records.slice(0, index)) notes.note('title_row', '', line);
  const reader = createRowReader({ kind, header, map, format, survey, context: options.cells });
  const unnamed = createUnnamedColumns(header, notes);
  const totals = createTotalsCheck(kind);
  const isExample = createExampleCheck(kind, header, options.cells);

  let lastLine = header.line;
  const reference = IMPORT_COLUMNS[kind].findIndex(
    ({ name, isRequired }) => name === 'reference' && !isRequired,
  );
  const filesOf = createFilesReader(header.filePlace);
  const checkRepeat = createRepeatCheck(header.repeatsPlace, header.headings);
  let isReferenceMissing = reference >= 0 && (header.places[reference] === -1 || header.filePlace >= 0);

  /** @returns undefined for a row of totals, or the example of a template */
  function readRow(record: FileRecord, faults: ImportFault[]): StagedRow | undefined {
    const { line } = record;
    const { values, findings } = reader.read(record);
    if (findings.faults.length > 0 && isTotalsRow(kind, header, record.cells)) {
      notes.note('totals_row', '', line);
      totals.compare(line, values);
      return undefined;
    }
    if (isExample(values)) {
      notes.note('example_row', '', line);
      return undefined;
    }
    totals.addRow(
      values,
      findings.faults.map(({ column }) => column),
    );
    reader.accept(findings);
    for (const note of findings.notes) notes.note(note.kind, note.column, line);
    unnamed.look(record);
    // A row without a fault: of one that has too few cells nothing is known.
    if (findings.faults.length === 0 && values[reference] === null) isReferenceMissing = true;
    const rejectedFrom = filesOf(record, findings);
    checkRepeat(record, findings);
    for (const { column, message } of findings.faults) faults.push({ line, column, message, refuses: 'row' });
    return rejectedFrom === undefined ? { line, values } : { line, values, rejectedFrom };
  }

  return {
    header,
    columns: reader.columns,
    read({ records: batch }) {
      const rows: StagedRow[] = [];
      const faults: ImportFault[] = [];
      for (const record of batch) {
        if (record.line < header.line) continue;
        if (record.line > lastLine + 1) notes.noteLines('empty_row', lastLine + 1, record.line - 1);
        lastLine = record.lastLine ?? record.line;
        if (record.line === header.line) continue;
        const row = readRow(record, faults);
        if (row !== undefined) rows.push(row);
      }
      return { rows, faults: [...faults, ...notes.takeFaults()] };
    },
    needsSurvey: reader.needsSurvey,
    columnsOfUnknownWords: reader.columnsOfUnknownWords,
    isReferenceMissing: () => isReferenceMissing,
    end: () =>
      reader.unclearDecimals().map((fault) => ({ line: header.line, ...fault, refuses: 'file' as const })),
    warnings: totals.warnings,
  };
}

/** Notes each column without a heading once, on the first row that has a value in it. */
function createUnnamedColumns({ headings }: Header, notes: NoteTaker) {
  let places = headings.flatMap(({ text }, place) => (text === '' ? [place] : []));
  return {
    look({ line, cells }: FileRecord): void {
      if (places.length === 0) return;
      const found = new Set<number>();
      for (const place of places) {
        // In order: a row may have much fewer cells than the header.
        if (place >= cells.length) break;
        if (cells[place]?.trim() !== '') found.add(place);
      }
      if (found.size === 0) return;
      for (const place of found) notes.note('ignored_column', `#${place + 1}`, line);
      places = places.filter((place) => !found.has(place));
    },
  };
}
