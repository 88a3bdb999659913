/** Finds and reads the header of a file: the positions of the columns, or all faults of the header. */

import { FAULTS_COLUMN, FILE_COLUMN, type ImportKind, REPEATS_COLUMN } from '../../registry/file-columns.ts';
import { mayEcho } from '../../values/errors.ts';
import { asMessage, say, type Text } from '../../values/message.ts';
import { SEPARATORS } from '../files/csv-rows.ts';
import {
  FileFault,
  type FileRecord,
  fileFault,
  HEADER_ROWS,
  type RecordBatch,
  type SourceFormat,
} from '../files/records.ts';
import type { FileLayout } from '../reading/file-layout.ts';
import { nearestName } from '../reading/fold-and-misspellings.ts';
import type { NoteLog } from '../reading/notes.ts';
import { ALTERNATIVES, IMPORT_COLUMNS, missingColumns } from './columns.ts';
import {
  addedColumnOf,
  type Heading,
  MAX_COLUMNS,
  mayBeData,
  recogniseHeadings,
  scoreHeader,
} from './recognise-headings.ts';

export interface Header {
  readonly line: number;
  readonly headings: readonly Heading[];
  /** Columns that the file or a constant provides. */
  readonly columns: ReadonlySet<string>;
  /** Position in the file of each column in `IMPORT_COLUMNS`; -1 for a column that the file lacks. */
  readonly places: readonly number[];
  // Positions of `registry_file` and `registry_repeats`; -1 if the file lacks the column.
  readonly filePlace: number;
  readonly repeatsPlace: number;
  readonly isOfRejects: boolean;
}

interface HeaderFault {
  readonly column: string;
  readonly message: Text;
}

interface HeaderOptions {
  readonly map?: FileLayout | undefined;
  /** True if the row is certainly the header. Otherwise each unknown column is a fault. */
  readonly isCertain: boolean;
  readonly notes: NoteLog;
}

/** @throws FileFault with all faults of the header, such as repeated, unknown and missing columns */
export function readHeader(kind: ImportKind, record: FileRecord, options: HeaderOptions): Header {
  const { line, cells, cellFaults } = record;
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
  const named = headings.flatMap(({ column }) => column ?? []);
  const columns = new Set([...named, ...constants]);
  const faults = [
    ...Array.from(cellFaults ?? [], ([place, fault]) => headingFault(place, fault)),
    ...repeatedColumns(headings),
    ...constants.filter((column) => named.includes(column)).map(columnAndConstant),
    ...unknownColumns(kind, line, headings, columns, options),
    ...missingColumns(kind, columns).map((column) => ({ column, message: missing(kind, column) })),
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

const headingFault = (place: number, fault: Text): HeaderFault => ({
  column: '',
  message: say('The heading in position {position} cannot be read. {fault}', {
    position: place + 1,
    fault: asMessage(fault),
  }),
});

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

/**
 * Returns faults of unknown columns. If the row is certainly the header, only headings similar to the name of
 * a missing column are faults. The other unknown columns get notes.
 */
function unknownColumns(
  kind: ImportKind,
  line: number,
  headings: readonly Heading[],
  columns: ReadonlySet<string>,
  { isCertain, notes }: HeaderOptions,
): HeaderFault[] {
  const known = IMPORT_COLUMNS[kind].map(({ name }) => name);
  const absent = known.filter((name) => !columns.has(name));
  const isHeader = looksLikeHeader(headings);
  return headings.flatMap(({ text, column: recognised }, i) => {
    if (text === '' || recognised !== undefined) return [];
    const column = isHeader && looksLikeHeading(text) ? text.toLowerCase() : '';
    const position = i + 1;
    const meant = nearestName(text, absent);
    if (meant !== undefined) {
      const message =
        column === ''
          ? say('Unknown column in position {position}. Did you mean "{meant}"?', { position, meant })
          : say('Unknown column "{column}". Did you mean "{meant}"?', { column, meant });
      return [{ column, message }];
    }
    const separator = headings.length === 1 ? SEPARATORS.find((mark) => text.includes(mark)) : undefined;
    const message =
      separator === undefined
        ? say('Unknown column in position {position}. Known: {known}.', { position, known })
        : `The header is one cell with ${SEPARATOR_NAMES[separator]} in it. If these separate the columns, ` +
          'write no quotes around the line, and no line "sep=…" with another character above it.';
    if (!isCertain) return [{ column, message }];
    notes.note('ignored_column', column === '' ? `#${position}` : column, line, { refusal: message });
    return [];
  });
}

/**
 * True if at least half of the headings are known. Otherwise the file may lack a header, and the row may be
 * personal data, which messages must not show.
 */
function looksLikeHeader(headings: readonly Heading[]): boolean {
  const written = headings.filter(({ text }) => text !== '');
  return 2 * written.filter(({ column }) => column !== undefined).length >= written.length;
}

/** Lists unknown and ignored headings, with positions from 1. Omits texts that may be personal data. */
export function ignoredHeadings({ headings }: Pick<Header, 'headings'>) {
  const isHeader = looksLikeHeader(headings);
  return headings.flatMap(({ text, column, by }, i) => {
    const isIgnored = text !== '' && (column === undefined || (column === null && by === 'map'));
    return isIgnored ? { position: i + 1, text: isHeader && !mayBeData(text) ? text : undefined } : [];
  });
}

/** True for a single word. Names of people, codes and dates have other characters. */
const looksLikeHeading = (text: string): boolean => /^\p{L}[\p{L}\p{N}_]*$/u.test(text) && mayEcho(text);

function missing(kind: ImportKind, column: string): string {
  if (column === 'cooperative_code')
    return 'The column is missing. For a file of one cooperative, give its code with --cooperative CODE.';
  const alternatives = ALTERNATIVES[kind];
  return column === alternatives?.column ? alternatives.missingMessage : 'The column is missing.';
}

// Search for the header among the first rows (docs/import-reference.md#headings)

/** Minimum number of recognised headings in a header. A row with fewer may be data. */
const LOWEST_SCORE = 2;

/**
 * @param records at least the rows of the file that are searched for the header (`withHeaderRows`)
 * @returns the index of the header; `isCertain` is false if the row may be personal data, which messages must
 *   not show
 * @throws FileFault if the map names a line without a row
 */
export function findHeader(kind: ImportKind, records: readonly FileRecord[], map?: FileLayout) {
  const [first] = records;
  // A file of rejects begins with its header, even if the map names another line for the original file.
  if (first?.cells.some((cell) => addedColumnOf(cell) === FAULTS_COLUMN) === true)
    return { index: 0, isCertain: true };
  if (map?.headerRow !== undefined) {
    const index = records.findIndex(({ line }) => line === map.headerRow);
    if (index >= 0) return { index, isCertain: true };
    throw fileFault(map.headerRow, 'The map expects the header on this line, which is empty.');
  }
  if (first !== undefined && isExact(kind, first.cells)) return { index: 0, isCertain: true };
  const scores = records.slice(0, HEADER_ROWS).map(({ cells }) => scoreHeader(kind, cells, map));
  const best = Math.max(...scores);
  return best >= LOWEST_SCORE
    ? { index: scores.indexOf(best), isCertain: true }
    : { index: 0, isCertain: false };
}

const isExact = (kind: ImportKind, cells: readonly string[]): boolean =>
  cells.length <= MAX_COLUMNS &&
  recogniseHeadings(kind, cells).every(({ text, by }) => text === '' || by === 'name');

/** Detects repeated headers. Files for printing have a header on each page. */
export function createHeaderCheck(
  headings: readonly Pick<Heading, 'text'>[],
): (cells: readonly string[]) => boolean {
  const texts = headings.map(({ text }) => text.toLowerCase());
  const isRepeatable = texts.filter((text) => text !== '').length > 1;
  return (cells) =>
    isRepeatable && texts.every((text, place) => (cells[place] ?? '').trim().toLowerCase() === text);
}

/**
 * Joins the first batches, so that the first batch has all rows that are searched for the header. Yields the
 * rows before an error, then throws the error.
 */
export async function* withHeaderRows(
  batches: AsyncIterable<RecordBatch>,
  map?: FileLayout,
): AsyncGenerator<RecordBatch> {
  const records: FileRecord[] = [];
  let first: RecordBatch = { records, bytesRead: 0 };
  let isComplete = false;
  try {
    for await (const batch of batches) {
      if (isComplete) {
        yield batch;
        continue;
      }
      for (const record of batch.records) records.push(record);
      first = { ...batch, records };
      isComplete = records.length >= HEADER_ROWS && (records.at(-1)?.line ?? 0) >= (map?.headerRow ?? 0);
      if (isComplete) yield first;
    }
  } catch (error) {
    if (!isComplete) yield first;
    throw error;
  }
  if (!isComplete) yield first;
}

/**
 * Detects rows with too few or too many cells. In a text file, an extra cell shows that a separator inside a
 * value, as in `12,500`, has shifted the other values. So even an empty extra cell is refused, unless the
 * header ends with an empty cell. In a workbook, a row ends with its last value, so no row is too short.
 */
export function createWidthCheck(
  { headings }: Header,
  format: SourceFormat,
): (cells: readonly string[]) => boolean {
  const width = headings.length;
  const namedWidth = headings.findLastIndex(({ text }) => text !== '') + 1;
  const mayBeLonger = format.type !== 'text' || namedWidth < width;
  return (cells) => {
    if (cells.length === width) return false;
    if (cells.length < namedWidth) return format.type === 'text';
    return cells.length > width && (!mayBeLonger || cells.slice(width).some((cell) => cell.trim() !== ''));
  };
}
