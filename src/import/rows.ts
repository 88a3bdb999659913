/** The records of one file → values to be staged, and faults. */
import { FieldError } from '../domain/errors.ts';
import { composeNames } from '../domain/members.ts';
import type { ImportKind, StagedValue } from '../store/ports/import-session.ts';
import type { CellContext } from './cells/context.ts';
import { ALTERNATIVES, IMPORT_COLUMNS, type ImportColumn } from './columns.ts';
import type { Header } from './header.ts';
import type { ReadingMap } from './map/reading-map.ts';
import { FileFault, type FileRecord } from './records.ts';

/** Receives each fault of a row; `column` is empty when the fault concerns no single one. */
export type OnFault = (column: string, message: string) => void;

export interface RowReader {
  /** The columns that the file has, those made from others included. */
  readonly columns: ReadonlySet<string>;
  /**
   * Checks one row.
   * @returns the values in the order of the kind's columns, null where a cell is empty or invalid
   */
  read(record: FileRecord, onFault: OnFault): StagedValue[];
}

export interface RowReaderOptions {
  readonly kind: ImportKind;
  readonly header: Header;
  readonly context: CellContext;
  readonly map?: ReadingMap | undefined;
  /** Whether a row may end before its last columns, as in a workbook. */
  readonly isOpenEnded: boolean;
}

const NAMES = {
  members: ['full_name', 'first_name', 'last_name'],
  entries: ['member_code', 'identity_card'],
};

/** @throws FileFault when a constant of the map is invalid */
export function createRowReader(options: RowReaderOptions): RowReader {
  const { kind, header, context, isOpenEnded } = options;
  const declared = IMPORT_COLUMNS[kind];
  const { columns, places, headings } = header;
  const width = headings.length;
  const namedWidth = headings.findLastIndex(({ text }) => text !== '') + 1;
  const constants = readConstants(options);
  const isMembers = kind === 'members';
  const isEntries = ALTERNATIVES[kind]?.column === 'member_code';
  const names = isEntries ? NAMES.entries : NAMES.members;

  function hasWrongWidth(cells: readonly string[]): boolean {
    if (cells.length === width) return false;
    if (cells.length < namedWidth) return !isOpenEnded;
    return cells.slice(width).some((cell) => cell.trim() !== '');
  }

  function read({ cells }: FileRecord, onFault: OnFault): StagedValue[] {
    if (hasWrongWidth(cells)) {
      onFault('', `Expected ${width} cells, found ${cells.length}.`);
      return declared.map(() => null);
    }
    const values: StagedValue[] = new Array(declared.length);
    let isNameFaulty = false;
    for (let i = 0; i < declared.length; i++) {
      const place = places[i] as number;
      const column = declared[i] as ImportColumn;
      if (place < 0) {
        values[i] = constants[i] as StagedValue;
        continue;
      }
      const cell = (cells[place] ?? '').trim();
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

/** The values that every row has; null for a column without a constant. */
function readConstants({ kind, header, context, map }: RowReaderOptions): StagedValue[] {
  return IMPORT_COLUMNS[kind].map(({ name, parse }) => {
    const cell = map?.constants.get(name)?.trim() ?? '';
    const value = cell === '' ? null : parse(cell, context);
    if (!(value instanceof FieldError)) return value;
    const message = `The constant for this column is invalid. ${value.message}`;
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

function composeFullName(values: StagedValue[], onFault: OnFault): void {
  const nameAt = (position: number) => values[position] as string | null;
  const names = composeNames(nameAt(FULL_NAME), nameAt(FIRST_NAME), nameAt(LAST_NAME));
  if (names === undefined) onFault('full_name', 'Give a full name, or a first name and a last name.');
  else if (names instanceof FieldError) onFault('full_name', names.message);
  else values[FULL_NAME] = names.fullName;
}
