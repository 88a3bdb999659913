/** The records of one file → values to be staged, and faults. */

import { composeNames } from '../../domain/membership/names.ts';
import { FieldError } from '../../domain/values/errors.ts';
import { asMessage, say } from '../../domain/values/message.ts';
import type { StagedValue } from '../../store/contract/import/import-session.ts';
import { ALTERNATIVES, IMPORT_COLUMNS, type ImportColumn } from '../columns/columns.ts';
import { FileFault, type FileRecord } from '../formats/source/records.ts';
import { type CellReader, type CellReaderOptions, createCellReader, RowFindings } from './cell-reader.ts';
import { completeOpeningBalance, OPENING_BALANCE } from './opening-balance.ts';
import { createWidthCheck } from './row-width.ts';

export interface RowReader extends Omit<CellReader, 'read'> {
  /** The columns that the file has, those made from others included. */
  readonly columns: ReadonlySet<string>;
  /** Checks one row. What its cells show of their columns counts once it is accepted. */
  read(record: FileRecord): ReadRow;
}

export interface ReadRow {
  /** In the order of the kind's columns, null where a cell is empty or invalid. */
  readonly values: StagedValue[];
  readonly findings: RowFindings;
}

const NAMES = {
  members: ['full_name', 'first_name', 'last_name'],
  entries: ['member_code', 'identity_card'],
};

/** @throws FileFault when a constant of the map is invalid */
export function createRowReader(options: CellReaderOptions): RowReader {
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
  /** The columns of the current row with a fault. */
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

/** The values that every row has; null for a column without a constant. */
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
/** The same in every kind of entries. */
const MEMBER_CODE = 1;
const IDENTITY_CARD = 2;

function composeFullName(values: StagedValue[], findings: RowFindings): void {
  const nameAt = (position: number) => values[position] as string | null;
  const names = composeNames(nameAt(FULL_NAME), nameAt(FIRST_NAME), nameAt(LAST_NAME));
  if (names === undefined) findings.fault('full_name', 'Give a full name, or a first name and a last name.');
  else if (names instanceof FieldError) findings.fault('full_name', names.text);
  else values[FULL_NAME] = names.fullName;
}
