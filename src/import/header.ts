/** The header of a file → where its columns are, or every fault of it. */
import { mayEcho } from '../domain/errors.ts';
import type { ImportKind } from '../store/ports/import-session.ts';
import { ALTERNATIVES, IMPORT_COLUMNS } from './columns.ts';
import { FileFault, type FileRecord } from './records.ts';

export interface Header {
  /** The known columns that the file has. */
  readonly columns: ReadonlySet<string>;
  /** How many cells it has, and so each row must have. */
  readonly width: number;
  /** For each column of the kind, in its order, the index of its cell; -1 for one that the file lacks. */
  readonly places: readonly number[];
}

interface HeaderFault {
  readonly column: string;
  readonly message: string;
}

/**
 * Reads a header: known columns in any order, each once, none of the required ones missing.
 * @throws FileFault with every fault of the header
 */
export function readHeader(kind: ImportKind, { line, cells }: FileRecord): Header {
  const names = cells.map((cell) => cell.trim().toLowerCase());
  const faults = [...wrongColumns(kind, names), ...missingColumns(kind, names)];
  if (faults.length > 0)
    throw new FileFault(faults.map((fault) => ({ line, ...fault, refuses: 'file' as const })));
  return {
    columns: new Set(names),
    width: names.length,
    places: IMPORT_COLUMNS[kind].map(({ name }) => names.indexOf(name)),
  };
}

function wrongColumns(kind: ImportKind, names: readonly string[]): HeaderFault[] {
  const known = IMPORT_COLUMNS[kind].map(({ name }) => name);
  const faults: HeaderFault[] = [];
  const isHeader = looksLikeHeader(names, known);
  const add = (name: string, message: string) =>
    faults.push({ column: isHeader && looksLikeHeading(name) ? name : '', message });
  names.forEach((name, i) => {
    if (!known.includes(name)) add(name, `Unknown column in position ${i + 1}. Known: ${known.join(', ')}.`);
    else if (names.indexOf(name) < i)
      faults.push({ column: name, message: 'This column appears twice in the header.' });
  });
  return faults;
}

/**
 * Whether a first line names columns. Of a file without a header it is the data of a person, of which nothing
 * is shown: so the unknown columns must not be the majority.
 */
const looksLikeHeader = (names: readonly string[], known: readonly string[]): boolean =>
  2 * names.filter((name) => known.includes(name)).length >= names.length;

/** One word, as column names are: a person's name has several, a code or a date has other characters. */
const looksLikeHeading = (name: string): boolean => /^\p{L}[\p{L}\p{N}_]*$/u.test(name) && mayEcho(name);

function missingColumns(kind: ImportKind, names: readonly string[]): HeaderFault[] {
  const faults: HeaderFault[] = IMPORT_COLUMNS[kind]
    .filter(({ name, isRequired }) => isRequired && !names.includes(name))
    .map(({ name }) => ({ column: name, message: 'The column is missing.' }));
  const alternatives = ALTERNATIVES[kind];
  if (alternatives !== undefined) {
    const { column, others, missing } = alternatives;
    if (!names.includes(column) && !others.every((name) => names.includes(name)))
      faults.push({ column, message: missing });
  }
  return faults;
}
