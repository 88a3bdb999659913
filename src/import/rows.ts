/** The records of one file → values to be staged, and faults. */
import { FieldError } from '../domain/errors.ts';
import { composeNames } from '../domain/members.ts';
import type { ImportKind, StagedValue } from '../store/ports/import-session.ts';
import type { CellContext } from './cells/context.ts';
import { ALTERNATIVES, IMPORT_COLUMNS, type ImportColumn } from './columns.ts';
import { readHeader } from './header.ts';
import type { FileRecord } from './records.ts';

/** Receives each fault of a row; `column` is empty when the fault concerns no single one. */
export type OnFault = (column: string, message: string) => void;

export interface RowReader {
  /** The columns that the file has, those made from others included. */
  readonly columns: ReadonlySet<string>;
  /**
   * Checks one row.
   * @returns the values in the order of the kind's columns, null where a cell is empty or invalid
   */
  read(cells: readonly string[], onFault: OnFault): StagedValue[];
}

const NAMES = {
  members: ['full_name', 'first_name', 'last_name'],
  entries: ['member_code', 'identity_card'],
};

/** @throws FileFault with every fault of the header */
export function createRowReader(kind: ImportKind, header: FileRecord, context: CellContext): RowReader {
  const declared = IMPORT_COLUMNS[kind];
  const { columns, width, places } = readHeader(kind, header);
  const isMembers = kind === 'members';
  const isEntries = ALTERNATIVES[kind]?.column === 'member_code';
  const names = isEntries ? NAMES.entries : NAMES.members;

  function read(cells: readonly string[], onFault: OnFault): StagedValue[] {
    if (cells.length !== width) {
      onFault('', `Expected ${width} cells, found ${cells.length}.`);
      return declared.map(() => null);
    }
    const values: StagedValue[] = new Array(declared.length);
    let isNameFaulty = false;
    for (let i = 0; i < declared.length; i++) {
      const column = declared[i] as ImportColumn;
      const place = places[i] as number;
      const cell = place < 0 ? '' : (cells[place] as string).trim();
      const value = cell === '' ? null : column.parse(cell, context);
      values[i] = value instanceof FieldError ? null : value;
      if (value instanceof FieldError) onFault(column.name, value.message);
      else if (value === null && column.isRequired) onFault(column.name, 'This field may not be blank.');
      else continue;
      isNameFaulty = isNameFaulty || names.includes(column.name);
    }
    if (isMembers && !isNameFaulty) composeFullName(values, onFault);
    if (isEntries && !isNameFaulty && values[MEMBER_CODE] === null && values[IDENTITY_CARD] === null)
      onFault('member_code', 'Give a member code, or a national ID.');
    return values;
  }

  return { columns: isMembers ? new Set([...columns, 'full_name']) : columns, read };
}

const positionOf = (column: string): number =>
  IMPORT_COLUMNS.members.findIndex(({ name }) => name === column);
const FULL_NAME = positionOf('full_name');
const FIRST_NAME = positionOf('first_name');
const LAST_NAME = positionOf('last_name');
/** The same in every kind of entries. */
const MEMBER_CODE = 1;
const IDENTITY_CARD = 2;

function composeFullName(values: StagedValue[], onFault: OnFault): void {
  const nameAt = (position: number) => values[position] as string | null;
  const names = composeNames(nameAt(FULL_NAME), nameAt(FIRST_NAME), nameAt(LAST_NAME));
  if (names === undefined) onFault('full_name', 'Give a full name, or a first name and a last name.');
  else if (names instanceof FieldError) onFault('full_name', names.message);
  else values[FULL_NAME] = names.fullName;
}
