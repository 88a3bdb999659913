/** Reads the table of a file: finds its header, and turns its records into rows, faults and notes. */

import {
  FileFault,
  type FileRecord,
  type ImportFault,
  type RecordBatch,
  type SourceFormat,
} from '../../formats/records.ts';
import type { ImportKind } from '../../registry/file-columns.ts';
import { composeNames } from '../../registry/members.ts';
import type { StagedRow, StagedValue } from '../../values/declared-fields.ts';
import { FieldError } from '../../values/errors.ts';
import { asMessage, say } from '../../values/message.ts';
import type { ImportWarning } from '../import-warnings.ts';
import type { CellContext } from '../reading/cell-context.ts';
import type { FileLayout } from '../reading/file-layout.ts';
import type { NoteTaker } from '../reading/notes.ts';
import { createExampleCheck } from '../template.ts';
import { type CellReader, type CellReaderOptions, createCellReader, RowFindings } from './cell-reader.ts';
import { ALTERNATIVES, IMPORT_COLUMNS, type ImportColumn } from './columns.ts';
import { createTotalsCheck, isTotalsRow } from './compare-totals.ts';
import { createFilesReader, createRepeatCheck } from './file-column.ts';
import { createWidthCheck, findHeader, type Header, readHeader } from './header.ts';
import type { FileSurvey } from './survey-dates.ts';

// Opening balances: amounts paid on loans before payments were recorded
// (docs/import-reference.md#opening-balances)

/** Columns of an opening balance. */
export const OPENING_BALANCE = ['paid_amount', 'paid_until'];
const PAID_AMOUNT = IMPORT_COLUMNS.loans.findIndex(({ name }) => name === 'paid_amount');
const PAID_UNTIL = PAID_AMOUNT + 1;

/**
 * Completes the opening balance of a loan: one without a cut-off runs until the import.
 * @param values of a row in which neither of the two cells is faulty
 * @param isConstant true if every row has the same cut-off, which then applies to rows with a paid amount
 *   only
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

interface RowReader extends Omit<CellReader, 'read'> {
  /** Columns that the file has, including those composed from others. */
  readonly columns: ReadonlySet<string>;
  /** Checks one row. The evidence of its cells counts once the row is accepted. */
  read(record: FileRecord): ReadRow;
}

interface ReadRow {
  /** Values in the order of the kind's columns; null for an empty or invalid cell. */
  readonly values: StagedValue[];
  readonly findings: RowFindings;
}

const NAMES = {
  members: ['full_name', 'first_name', 'last_name'],
  entries: ['member_code', 'identity_card'],
};

/** @throws FileFault if a constant of the map is invalid */
function createRowReader(options: CellReaderOptions): RowReader {
  const { kind, header, format, map, context } = options;
  const declared = IMPORT_COLUMNS[kind];
  const { columns, places, headings } = header;
  const constants = readConstants(options);
  const isWrongWidth = createWidthCheck(header, format);
  const isMembers = kind === 'members';
  const isEntries = ALTERNATIVES[kind]?.column === 'member_code';
  const names = isEntries ? NAMES.entries : NAMES.members;
  const isBalanceGiven = kind === 'loans' && (columns.has('paid_amount') || columns.has('paid_until'));
  const composed = isMembers ? 'full_name' : isBalanceGiven ? 'paid_until' : undefined;
  const isCutOffConstant = map?.constants.has('paid_until') === true;
  /** Columns of the current row with a fault. */
  const faulty = new Set<string>();
  const isAnyFaulty = (chosen: readonly string[]) =>
    faulty.size > 0 && chosen.some((name) => faulty.has(name));
  const cellReader = createCellReader(options);

  function read(record: FileRecord): ReadRow {
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
      const place = places[i] as number;
      const value = place < 0 ? (constants[i] as StagedValue) : cellReader.read(record, i, findings);
      values[i] = value instanceof FieldError ? null : value;
      if (value instanceof FieldError) findings.fault(name, value.text);
      else if (value === null && isRequired) findings.fault(name, 'This field may not be blank.');
      else continue;
      faulty.add(name);
    }
    if (isMembers && !isAnyFaulty(names)) composeFullName(values, findings);
    if (isEntries && values[MEMBER_CODE] === null && values[IDENTITY_CARD] === null && !isAnyFaulty(names))
      findings.fault('member_code', 'Give a member code, or a national ID.');
    if (isBalanceGiven && !isAnyFaulty(OPENING_BALANCE))
      completeOpeningBalance(values, isCutOffConstant, context.nowSeconds, findings);
    return { values, findings };
  }

  return {
    ...cellReader,
    columns: composed === undefined ? columns : new Set([...columns, composed]),
    read,
  };
}

/** The constants of all columns; null for a column without one. */
function readConstants({ kind, header, context, map }: CellReaderOptions): StagedValue[] {
  return IMPORT_COLUMNS[kind].map(({ name, parse }) => {
    const cell = map?.constants.get(name)?.trim() ?? '';
    const value = cell === '' ? null : parse(cell, context);
    if (!(value instanceof FieldError)) return value;
    const message = say('The constant for this column is invalid. {fault}', { fault: asMessage(value.text) });
    throw new FileFault([{ line: header.line, column: name, message, refuses: 'file' }]);
  });
}

const positionOf = (column: string): number =>
  IMPORT_COLUMNS.members.findIndex(({ name }) => name === column);
const FULL_NAME = positionOf('full_name');
const FIRST_NAME = positionOf('first_name');
const LAST_NAME = positionOf('last_name');
/** Positions that are the same in every kind of entries. */
const MEMBER_CODE = 1;
const IDENTITY_CARD = 2;

function composeFullName(values: StagedValue[], findings: RowFindings): void {
  const nameAt = (position: number) => values[position] as string | null;
  const names = composeNames(nameAt(FULL_NAME), nameAt(FIRST_NAME), nameAt(LAST_NAME));
  if (names === undefined) findings.fault('full_name', 'Give a full name, or a first name and a last name.');
  else if (names instanceof FieldError) findings.fault('full_name', names.text);
  else values[FULL_NAME] = names.fullName;
}

interface TableOptions {
  readonly kind: ImportKind;
  readonly map?: FileLayout | undefined;
  readonly cells: CellContext;
  readonly format: SourceFormat;
  readonly notes: NoteTaker;
  readonly survey: FileSurvey;
}

export interface Table {
  readonly header: Header;
  /** Columns that the file has, including those composed from others. */
  readonly columns: ReadonlySet<string>;
  /** Reads the next batch; of the first one, the rows after the header. */
  read(batch: RecordBatch): { rows: StagedRow[]; faults: ImportFault[] };
  /** True if the file must be surveyed, and then read again. */
  needsSurvey(): boolean;
  /** Columns whose unknown words must not be shown then. */
  columnsOfUnknownWords(): string[];
  isReferenceMissing(): boolean;
  /** Ends the file. @returns faults of entire columns */
  end(): ImportFault[];
  /** Warnings about totals that the rows do not add up to, available after the end. */
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
  // A map that names the row of the header leaves nothing to guess.
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
    // Faulty rows prove nothing: one with too few cells has unknown values.
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
        // In order: a row may have far fewer cells than the header.
        if (place >= cells.length) break;
        if (cells[place]?.trim() !== '') found.add(place);
      }
      if (found.size === 0) return;
      for (const place of found) notes.note('ignored_column', `#${place + 1}`, line);
      places = places.filter((place) => !found.has(place));
    },
  };
}
