/** The header and the rows of one file → staged values and faults. */
import { FieldError, mayEcho } from '../domain/errors.ts';
import { composeNames } from '../domain/members.ts';
import type { ImportFault, ImportKind, StagedValue } from '../store/ports.ts';
import type { CellContext } from './cells.ts';
import { IMPORT_COLUMNS } from './columns.ts';

/** A fault that refuses the whole file. */
export class FileFault extends Error {
  readonly faults: readonly ImportFault[];

  constructor(faults: readonly ImportFault[]) {
    super(faults[0]?.message ?? '');
    this.faults = faults;
  }
}

export interface RowReader {
  /** The columns that the file has, names composed from parts included. */
  readonly columns: ReadonlySet<string>;
  /**
   * Checks one row.
   * @param onFault is told each fault of it
   * @returns the values in the order of the kind's columns, null where a cell is empty or faulty
   */
  read(cells: readonly string[], onFault: (column: string, message: string) => void): StagedValue[];
}

const NAMES = ['full_name', 'first_name', 'last_name'];

/**
 * Reads a header: known columns in any order, each once, none of the required ones missing.
 * @throws FileFault with every fault of the header
 */
export function createRowReader(
  kind: ImportKind,
  header: readonly string[],
  context: CellContext,
): RowReader {
  const declared = IMPORT_COLUMNS[kind];
  const names = header.map((cell) => cell.trim().toLowerCase());
  const faults = headerFaults(kind, names);
  if (faults.length > 0) throw new FileFault(faults.map((fault) => ({ line: 1, ...fault })));
  const columns = new Set(names);
  const places = declared.map(({ name }) => names.indexOf(name));
  const isMembers = kind === 'members';
  if (isMembers) columns.add('full_name');

  function read(cells: readonly string[], onFault: (column: string, message: string) => void): StagedValue[] {
    if (cells.length !== names.length) {
      onFault('', `Expected ${names.length} cells, found ${cells.length}.`);
      return declared.map(() => null);
    }
    const values: StagedValue[] = new Array(declared.length);
    let isFaulty = false;
    for (let i = 0; i < declared.length; i++) {
      const column = declared[i] as (typeof declared)[number];
      const place = places[i] as number;
      const cell = place < 0 ? '' : (cells[place] as string).trim();
      const value = cell === '' ? null : column.parse(cell, context);
      values[i] = value instanceof FieldError ? null : value;
      if (value instanceof FieldError) onFault(column.name, value.message);
      else if (value === null && column.isRequired) onFault(column.name, 'This field may not be blank.');
      else continue;
      isFaulty = isFaulty || NAMES.includes(column.name);
    }
    if (isMembers && !isFaulty) composeFullName(values, onFault);
    return values;
  }

  return { columns, read };
}

const FULL_NAME = IMPORT_COLUMNS.members.findIndex(({ name }) => name === 'full_name');

function composeFullName(values: StagedValue[], onFault: (column: string, message: string) => void): void {
  const [full, first, last] = values.slice(FULL_NAME, FULL_NAME + 3) as (string | null)[];
  const names = composeNames(full ?? null, first ?? null, last ?? null);
  if (names === undefined) onFault('full_name', 'Give a full name, or a first name and a last name.');
  else if (names instanceof FieldError) onFault('full_name', names.message);
  else values[FULL_NAME] = names.fullName;
}

function headerFaults(kind: ImportKind, names: readonly string[]): { column: string; message: string }[] {
  const declared = IMPORT_COLUMNS[kind];
  const faults: { column: string; message: string }[] = [];
  names.forEach((name, i) => {
    const column = mayEcho(name) ? name : '';
    if (!declared.some((known) => known.name === name)) {
      const known = declared.map((each) => each.name).join(', ');
      faults.push({ column, message: `Unknown column in place ${i + 1}. Known: ${known}.` });
    } else if (names.indexOf(name) < i)
      faults.push({ column, message: 'The column stands in the header twice.' });
  });
  for (const { name, isRequired } of declared) {
    if (isRequired && !names.includes(name)) faults.push({ column: name, message: 'The column is missing.' });
  }
  const hasName =
    names.includes('full_name') || (names.includes('first_name') && names.includes('last_name'));
  if (kind === 'members' && !hasName) {
    faults.push({
      column: 'full_name',
      message: 'The column is missing: full_name, or first_name and last_name.',
    });
  }
  return faults;
}
