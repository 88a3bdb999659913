/** Reads the table of a file: finds the header, and turns records into rows, faults and notes. */

import type { ImportKind } from '../../registry/file-columns.ts';
import { composeNames } from '../../registry/members.ts';
import type { StagedRow, StagedValue } from '../../values/declared-fields.ts';
import { FieldError } from '../../values/errors.ts';
import { asMessage, say } from '../../values/message.ts';
import {
  FileFault,
  type FileRecord,
  fileFault,
  type ImportFault,
  type RecordBatch,
} from '../files/records.ts';
import { columnLetters } from '../files/sheet-rows.ts';
import type { NoteLog } from '../reading/notes.ts';
import { createExampleCheck } from '../template.ts';
import { type CellReaderOptions, createCellReader, RowFindings } from './cell-reader.ts';
import { ALTERNATIVES, IMPORT_COLUMNS, type ImportColumn } from './columns.ts';
import { createTotalsCheck } from './compare-totals.ts';
import { createFilesReader, createRepeatCheck } from './file-column.ts';
import { createWidthCheck, findHeader, type Header, readHeader } from './header.ts';
import { createTableLines, type ReadRow } from './table-lines.ts';

// Opening balances: amounts paid on loans before payments were recorded
// (docs/import-reference.md#opening-balances)

const placeOf = (kind: ImportKind, column: string): number =>
  IMPORT_COLUMNS[kind].findIndex(({ name }) => name === column);

const OPENING_BALANCE = ['paid_amount', 'paid_until'];
const [PAID_AMOUNT, PAID_UNTIL] = [placeOf('loans', 'paid_amount'), placeOf('loans', 'paid_until')];

/**
 * Completes the opening balance of a loan. An empty `paid_until` means the time of the import.
 * @param values values of a row without a fault in the columns of `OPENING_BALANCE`
 * @param isConstant true if a constant sets `paid_until`; it then applies only to rows with a paid amount
 */
function completeOpeningBalance(
  values: StagedValue[],
  isConstant: boolean,
  nowSeconds: number,
  findings: RowFindings,
): void {
  const paidAmount = values[PAID_AMOUNT] ?? null;
  if (paidAmount !== null && paidAmount !== 0) values[PAID_UNTIL] ??= nowSeconds;
  else if (isConstant) values[PAID_UNTIL] = null;
  else if (paidAmount === null && values[PAID_UNTIL] !== null)
    findings.fault('paid_until', 'Give the paid amount until then as well.');
}

const NAMES = ['full_name', 'first_name', 'last_name'];
const MEMBER = ['member_code', 'identity_card'];

/** @throws FileFault if a constant of the map is invalid */
function createRowReader(options: CellReaderOptions) {
  const { kind, header, format, map, cells } = options;
  const declared = IMPORT_COLUMNS[kind];
  const { columns, places, headings } = header;
  const constants = readConstants(options);
  const isWrongWidth = createWidthCheck(header, format);
  const isMembers = kind === 'members';
  const isEntries = ALTERNATIVES[kind]?.column === 'member_code';
  const hasBalance = kind === 'loans' && OPENING_BALANCE.some((name) => columns.has(name));
  const composed = isMembers ? ['full_name'] : hasBalance ? ['paid_until'] : [];
  const isCutOffConstant = map?.constants.has('paid_until') === true;
  /** Columns with a fault in the current row. */
  const faulty = new Set<string>();
  const isAnyFaulty = (names: readonly string[]) => faulty.size > 0 && names.some((name) => faulty.has(name));
  const cellReader = createCellReader(options);

  return {
    ...cellReader,
    /** Columns that the file provides, including columns that are composed from others. */
    columns: new Set([...columns, ...composed]),
    /**
     * Reads a row. `accept` must be called with the findings if the row belongs to the table.
     * @returns values in the order of `IMPORT_COLUMNS`; null for an empty or invalid cell
     */
    read(record: FileRecord): { values: StagedValue[]; findings: RowFindings } {
      const findings = new RowFindings();
      if (isWrongWidth(record.cells)) {
        const counts = { expected: headings.length, found: record.cells.length };
        findings.fault('', say('Expected {expected} cells, found {found}.', counts));
        return { values: declared.map(() => null), findings };
      }
      const values: StagedValue[] = new Array(declared.length);
      faulty.clear();
      for (let i = 0; i < declared.length; i++) {
        const { name, isRequired } = declared[i] as ImportColumn;
        const value =
          (places[i] as number) < 0 ? (constants[i] as StagedValue) : cellReader.read(record, i, findings);
        values[i] = value instanceof FieldError ? null : value;
        if (value instanceof FieldError) findings.fault(name, value.text);
        else if (value === null && isRequired) findings.fault(name, 'This field may not be blank.');
        else continue;
        faulty.add(name);
      }
      if (isMembers && !isAnyFaulty(NAMES)) composeFullName(values, findings);
      if (isEntries && values[MEMBER_CODE] === null && values[IDENTITY_CARD] === null && !isAnyFaulty(MEMBER))
        findings.fault('member_code', 'Give a member code, or a national ID.');
      if (hasBalance && !isAnyFaulty(OPENING_BALANCE))
        completeOpeningBalance(values, isCutOffConstant, cells.nowSeconds, findings);
      return { values, findings };
    },
  };
}

/** @returns constants in the order of `IMPORT_COLUMNS`; null for a column without a constant */
function readConstants({ kind, header, cells, map }: CellReaderOptions): StagedValue[] {
  return IMPORT_COLUMNS[kind].map(({ name, parse }) => {
    const cell = map?.constants.get(name)?.trim() ?? '';
    const value = cell === '' ? null : parse(cell, cells);
    if (!(value instanceof FieldError)) return value;
    const message = say('The constant for this column is invalid. {fault}', { fault: asMessage(value.text) });
    throw new FileFault([{ line: header.line, column: name, message, refuses: 'file' }]);
  });
}

const FULL_NAME = placeOf('members', 'full_name');
const FIRST_NAME = placeOf('members', 'first_name');
const LAST_NAME = placeOf('members', 'last_name');
/** Places in `IMPORT_COLUMNS`, the same for deliveries, loans and savings. Payments lack these columns. */
const MEMBER_CODE = placeOf('loans', 'member_code');
const IDENTITY_CARD = placeOf('loans', 'identity_card');

function composeFullName(values: StagedValue[], findings: RowFindings): void {
  const nameAt = (place: number) => values[place] as string | null;
  const names = composeNames(nameAt(FULL_NAME), nameAt(FIRST_NAME), nameAt(LAST_NAME));
  if (names === undefined) findings.fault('full_name', 'Give a full name, or a first name and a last name.');
  else if (names instanceof FieldError) findings.fault('full_name', names.text);
  else values[FULL_NAME] = names.fullName;
}

interface TableOptions extends Omit<CellReaderOptions, 'header'> {
  readonly notes: NoteLog;
  readonly skipsHidden: boolean;
}

export const EMPTY_FILE = 'The file is empty: its first line must name the columns.';

/** @param places indexes of hidden columns; undefined if they are not skipped */
function withoutColumns(record: FileRecord, places: RecordBatch['hiddenColumns']): FileRecord {
  if (places === undefined || places.size === 0) return record;
  const { cells, cellFaults = [] } = record;
  return {
    ...record,
    cells: cells.map((cell, place) => (places.has(place) ? '' : cell)),
    cellFaults: new Map([...cellFaults].filter(([place]) => !places.has(place))),
  };
}

/** Returns the records of visible rows, without the cells and faults of hidden columns. */
export const visibleRecords = (
  records: readonly FileRecord[],
  hiddenColumns: RecordBatch['hiddenColumns'],
): FileRecord[] =>
  records.filter(({ isHidden }) => isHidden !== true).map((record) => withoutColumns(record, hiddenColumns));

const isEmpty = ({ cells, cellFaults }: FileRecord): boolean =>
  cells.every((cell) => cell.trim() === '') && (cellFaults?.size ?? 0) === 0;

/** Finds and reads the header. Adds notes about lines above the header and about hidden columns. */
function openHeader({ records: all, hiddenColumns }: RecordBatch, options: TableOptions): Header {
  const { kind, map, notes, skipsHidden } = options;
  const records = skipsHidden ? visibleRecords(all, hiddenColumns).filter((record) => !isEmpty(record)) : all;
  if (records.length === 0) throw fileFault(1, EMPTY_FILE);
  const { index, isCertain } = findHeader(kind, records, map);
  const header = readHeader(kind, records[index] as FileRecord, { map, isCertain, notes });
  // If the map names the header's line, the lines above it need no notes.
  if (map?.headerRow === undefined)
    for (const { line } of records.slice(0, index)) notes.note('title_row', '', line);
  const written = all.find(({ line }) => line === header.line)?.cells ?? [];
  for (const [place, cell] of written.entries())
    if (cell !== '' && hiddenColumns?.has(place) === true)
      notes.note('hidden_column', columnLetters(place), header.line);
  return header;
}

export type Table = ReturnType<typeof openTable>;

/**
 * @param first first batch of `withHeaderRows`
 * @throws FileFault with all faults of the header
 */
export function openTable(first: RecordBatch, options: TableOptions) {
  const { kind, cells, notes, skipsHidden } = options;
  const header = openHeader(first, options);
  const skippedColumns = skipsHidden ? first.hiddenColumns : undefined;
  const reader = createRowReader({ ...options, header });
  const noteUnnamed = createUnnamedColumns(header, notes);
  const totals = createTotalsCheck(kind);
  const isExample = createExampleCheck(kind, header, cells);
  const filesOf = createFilesReader(header.filePlace);
  const checkRepeat = createRepeatCheck(header.repeatsPlace, header.headings);
  const reference = IMPORT_COLUMNS[kind].findIndex(
    ({ name, isRequired }) => name === 'reference' && !isRequired,
  );
  let isReferenceMissing = reference >= 0 && (header.places[reference] === -1 || header.filePlace >= 0);
  let lastLine = header.line;
  const lines = createTableLines({ header, notes, totals, isExample, read: reader.read });

  function acceptRow({ record, values, findings }: ReadRow, faults: ImportFault[]): StagedRow {
    const { line } = record;
    totals.addRow(
      values,
      findings.faults.map(({ column }) => column),
    );
    reader.accept(findings);
    for (const note of findings.notes) notes.note(note.kind, note.column, line);
    noteUnnamed(record);
    // The values of a faulty row may be unknown.
    if (findings.faults.length === 0 && values[reference] === null) isReferenceMissing = true;
    const rejectedFrom = filesOf(record, findings);
    checkRepeat(record, findings);
    for (const { column, message } of findings.faults) faults.push({ line, column, message, refuses: 'row' });
    return rejectedFrom === undefined ? { line, values } : { line, values, rejectedFrom };
  }

  return {
    ...reader,
    header,
    isReferenceMissing: () => isReferenceMissing,
    /** Reads the next batch. Skips the records up to the header, which are in the first batch. */
    read({ records: batch }: RecordBatch) {
      const rows: StagedRow[] = [];
      const faults: ImportFault[] = [];
      for (const each of batch) {
        const record = withoutColumns(each, skippedColumns);
        if (record.line < header.line || (skippedColumns !== undefined && isEmpty(record))) continue;
        if (record.line > lastLine + 1) {
          notes.noteLines('empty_row', lastLine + 1, record.line - 1);
          lines.passGap();
        }
        lastLine = record.lastLine ?? record.line;
        if (record.line === header.line) continue;
        if (record.isHidden === true) {
          notes.note('hidden_row', '', record.line);
          if (skipsHidden) continue;
        }
        for (const row of lines.read(record)) rows.push(acceptRow(row, faults));
      }
      return { rows, faults: [...faults, ...notes.takeFaults()] };
    },
    /** Ends the file. Returns faults of entire columns and, with `--strict`, of texts below the table. */
    end(): ImportFault[] {
      lines.end();
      const unclear = reader.unclearDecimals();
      return [
        ...notes.takeFaults(),
        ...unclear.map((fault) => ({ line: header.line, ...fault, refuses: 'file' as const })),
      ];
    },
    /** Returns warnings about totals that differ from the sums of the rows. Must be called after `end`. */
    warnings: totals.warnings,
  };
}

/** Returns a function that notes a column without a heading, at the first row with a value in it. */
function createUnnamedColumns({ headings }: Header, notes: NoteLog) {
  const places = new Set(headings.flatMap(({ text }, place) => (text === '' ? [place] : [])));
  return ({ line, cells }: FileRecord): void => {
    for (const place of places) {
      // The places are in ascending order. A row may have fewer cells than the header.
      if (place >= cells.length) break;
      if (cells[place]?.trim() === '') continue;
      notes.note('ignored_column', `#${place + 1}`, line);
      places.delete(place);
    }
  };
}
