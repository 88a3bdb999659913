/** The header of a file → where its columns are, or every fault of it. */
import { mayEcho } from '../../domain/values/errors.ts';
import { say, type Text } from '../../domain/values/message.ts';
import type { ImportKind } from '../../store/contract/import/import-session.ts';
import type { NoteTaker } from '../cells/notes.ts';
import { ALTERNATIVES, IMPORT_COLUMNS } from '../columns/columns.ts';
import { nearestName } from '../dictionary/near-spelling.ts';
import { SEPARATORS } from '../formats/csv/separator.ts';
import { FileFault, type FileRecord, fileFault } from '../formats/source/records.ts';
import type { FileLayout } from '../map/file-layout.ts';
import {
  addedColumnOf,
  FAULTS_COLUMN,
  FILE_COLUMN,
  type Heading,
  MAX_COLUMNS,
  mayBeData,
  REPEATS_COLUMN,
  recogniseHeadings,
} from './headings.ts';

export interface Header {
  readonly line: number;
  readonly headings: readonly Heading[];
  /** The known columns that the file has, those with a constant included. */
  readonly columns: ReadonlySet<string>;
  /** For each column of the kind, in its order, the index of its cell; -1 for one that the file lacks. */
  readonly places: readonly number[];
  /** Index of the cell that says from which file a refused row is; -1 for a file without it. */
  readonly filePlace: number;
  /** Likewise of the cell that marks a row which its file has twice. */
  readonly repeatsPlace: number;
  /** Whether the file holds the refused rows of an import. */
  readonly isOfRejects: boolean;
}

interface HeaderFault {
  readonly column: string;
  readonly message: Text;
}

export interface HeaderOptions {
  readonly map?: FileLayout | undefined;
  /** Whether the row was recognised as the header; otherwise an unknown column is a fault. */
  readonly isCertain: boolean;
  readonly notes: NoteTaker;
}

/**
 * Reads a header: its columns in any order, each once, none of the required ones missing.
 * @throws FileFault with every fault of the header
 */
export function readHeader(kind: ImportKind, { line, cells }: FileRecord, options: HeaderOptions): Header {
  const { map, notes } = options;
  if (cells.length > MAX_COLUMNS)
    throw fileFault(
      line,
      say('The header has more than {count} columns. Delete the empty ones.', { count: MAX_COLUMNS }),
    );
  const headings = recogniseHeadings(kind, cells, map);
  const constants = [...(map?.constants ?? [])].flatMap(([column, cell]) =>
    cell.trim() === '' ? [] : column,
  );
  const found = headings.flatMap(({ column }) => column ?? []);
  const columns = new Set([...found, ...constants]);
  const faults = [
    ...repeatedColumns(headings),
    ...constants.filter((column) => found.includes(column)).map(columnAndConstant),
    ...unknownColumns(kind, { line, headings, columns }, options),
    ...missingColumns(kind, columns),
  ];
  if (faults.length > 0)
    throw new FileFault(faults.map((fault) => ({ line, ...fault, refuses: 'file' as const })));
  for (const { column, by } of headings) if (by === 'dictionary') notes.note('heading', column ?? '', line);
  return {
    line,
    headings,
    columns,
    places: IMPORT_COLUMNS[kind].map(({ name }) => headings.findIndex(({ column }) => column === name)),
    filePlace: headings.findIndex(({ text }) => addedColumnOf(text) === FILE_COLUMN),
    repeatsPlace: headings.findIndex(({ text }) => addedColumnOf(text) === REPEATS_COLUMN),
    isOfRejects: headings.some(({ text }) => addedColumnOf(text) === FAULTS_COLUMN),
  };
}

function repeatedColumns(headings: readonly Heading[]): HeaderFault[] {
  return headings.flatMap(({ column, text }, i) => {
    const first = headings.findIndex((other) => other.column === column);
    if (column === undefined || column === null || first === i) return [];
    const isSameText = headings[first]?.text.toLowerCase() === text.toLowerCase();
    const message = isSameText
      ? 'This column appears twice in the header.'
      : say('The headings in positions {first} and {second} both mean this column. Let a map ignore one.', {
          first: first + 1,
          second: i + 1,
        });
    return [{ column, message }];
  });
}

const columnAndConstant = (column: string): HeaderFault => ({
  column,
  message:
    column === 'cooperative_code'
      ? 'The file has this column, and --cooperative or the map gives a code too. Leave out one of them.'
      : 'The file has this column, and a constant is given for it. Remove one of them.',
});

const SEPARATOR_NAMES = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'vertical lines' } as const;

interface Unread {
  readonly line: number;
  readonly headings: readonly Heading[];
  readonly columns: ReadonlySet<string>;
}

/** Faults of unknown columns; of those that are ignored, a note. */
function unknownColumns(
  kind: ImportKind,
  { line, headings, columns }: Unread,
  { isCertain, notes }: HeaderOptions,
): HeaderFault[] {
  const known = IMPORT_COLUMNS[kind].map(({ name }) => name);
  const isHeader = looksLikeHeader(headings);
  return headings.flatMap(({ text, column }, i) => {
    if (text === '' || column !== undefined) return [];
    const shown = isHeader && looksLikeHeading(text) ? text.toLowerCase() : '';
    const meant = nearestName(
      text,
      known.filter((name) => !columns.has(name)),
    );
    if (meant !== undefined) {
      const message =
        shown === ''
          ? say('Unknown column in position {position}. Did you mean "{meant}"?', { position: i + 1, meant })
          : say('Unknown column "{column}". Did you mean "{meant}"?', { column: shown, meant });
      return [{ column: shown, message }];
    }
    const joined = headings.length === 1 ? SEPARATORS.find((each) => text.includes(each)) : undefined;
    const message =
      joined === undefined
        ? say('Unknown column in position {position}. Known: {known}.', { position: i + 1, known })
        : `The header is one cell with ${SEPARATOR_NAMES[joined]} in it. If these separate the columns, ` +
          'write no quotes around the line, and no line "sep=…" with another character above it.';
    if (!isCertain) return [{ column: shown, message }];
    notes.note('ignored_column', shown === '' ? `#${i + 1}` : shown, line, message);
    return [];
  });
}

/**
 * Whether a row names columns. Of a file without a header it is the data of a person, of which nothing is
 * shown: so the unknown columns must not be the majority.
 */
function looksLikeHeader(headings: readonly Heading[]): boolean {
  const named = headings.filter(({ text }) => text !== '');
  return 2 * named.filter(({ column }) => column !== undefined).length >= named.length;
}

/** A heading that is read as no column. */
export interface IgnoredHeading {
  /** Of its column, from 1. */
  readonly position: number;
  /** Undefined where it may be somebody's data. */
  readonly text: string | undefined;
}

/** For whoever is to agree to the file: the headings that the registry or the map has no place for. */
export function ignoredHeadings({ headings }: Pick<Header, 'headings'>): IgnoredHeading[] {
  const isHeader = looksLikeHeader(headings);
  return headings.flatMap(({ text, column, by }, i) => {
    const isIgnored = text !== '' && (column === undefined || (column === null && by === 'map'));
    return isIgnored ? { position: i + 1, text: isHeader && !mayBeData(text) ? text : undefined } : [];
  });
}

/** One word, as column names are: a person's name has several, a code or a date has other characters. */
const looksLikeHeading = (text: string): boolean => /^\p{L}[\p{L}\p{N}_]*$/u.test(text) && mayEcho(text);

const MISSING = 'The column is missing.';
const MISSING_COOPERATIVE =
  'The column is missing. For a file of one cooperative, give its code with --cooperative CODE.';

function missingColumns(kind: ImportKind, columns: ReadonlySet<string>): HeaderFault[] {
  const faults: HeaderFault[] = IMPORT_COLUMNS[kind]
    .filter(({ name, isRequired }) => isRequired && !columns.has(name))
    .map(({ name }) => ({
      column: name,
      message: name === 'cooperative_code' ? MISSING_COOPERATIVE : MISSING,
    }));
  const alternatives = ALTERNATIVES[kind];
  if (alternatives !== undefined) {
    const { column, others, missing } = alternatives;
    if (!columns.has(column) && !others.every((name) => columns.has(name)))
      faults.push({ column, message: missing });
  }
  return faults;
}
