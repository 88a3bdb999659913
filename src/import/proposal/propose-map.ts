/** A file → a map for it, with null where a person decides (docs/import-reference.md#maps). */
import type { ImportKind } from '../../store/contract/import/import-session.ts';
import { valueIn } from '../cells/blanks.ts';
import type { CellContext, DateOrder } from '../cells/context.ts';
import { ALTERNATIVES, IMPORT_COLUMNS } from '../columns/columns.ts';
import type { RecordSource } from '../formats/source/records.ts';
import type { DecimalMark } from '../map/file-layout.ts';
import { createObserver, type Observer, type UnknownWords } from './observe-cells.ts';
import { type PlacedHeading, placeHeadings, totalsCheck } from './place-headings.ts';
import { type FileSample, sampleFile } from './sample-file.ts';

/** In the order in which it is written. */
export interface MapDocument {
  readonly kind: ImportKind;
  readonly columns?: { readonly [heading: string]: string | null };
  readonly constants?: { readonly [column: string]: null };
  readonly values?: { readonly [column: string]: { readonly [word: string]: null } };
  readonly dates?: DateOrder | null;
  readonly decimal?: DecimalMark | null;
  readonly encoding?: string;
  readonly header_row?: number;
  readonly sheet?: string;
}

export interface MapProposal {
  readonly document: MapDocument;
  /** Line of the header. */
  readonly headerLine: number;
  readonly headings: readonly PlacedHeading[];
  readonly unknownWords: readonly UnknownWords[];
  /** By place of the heading: the first values below it, shortened. */
  readonly examples: readonly (readonly string[])[];
  /** Columns that an import of the file needs, and that neither a heading nor a constant gives. */
  readonly missing: readonly string[];
  /** Of a workbook: the sheet that was read, and all that it has. */
  readonly sheet: string | undefined;
  readonly sheets: readonly string[];
}

interface ProposeOptions {
  readonly kind: ImportKind;
  readonly cells: CellContext;
  /** The sheet that was asked for. */
  readonly sheet?: string | undefined;
}

/** @throws FileFault when the file cannot be read, or no row of it looks like headings */
export async function proposeMap(source: RecordSource, options: ProposeOptions): Promise<MapProposal> {
  const { kind, cells, sheet } = options;
  const { format } = source;
  const sample = await sampleFile(source, kind);
  const headings = placeHeadings(sample, options);
  const { line } = sample.header;
  const isSeparatedBySemicolons = format.type === 'text' && format.separator === ';';
  const observer = createObserver({ ...cells, isSeparatedBySemicolons });
  await observeRows(source, { kind, line, headings }, observer);
  const given = new Set(headings.flatMap(({ column }) => column ?? []));
  const constants = constantsFor(kind, given);
  const unknownWords = observer.unknownWords();
  const [dates, decimal] = [observer.dates(), observer.decimal()];
  const document: MapDocument = {
    kind,
    ...nonEmpty('columns', columnsOf(headings)),
    ...nonEmpty('constants', allNull(constants)),
    ...nonEmpty(
      'values',
      unknownWords.flatMap(({ column, words }) =>
        words.length === 0 ? [] : [[column, Object.fromEntries(allNull(words))]],
      ),
    ),
    ...(dates !== undefined && { dates }),
    ...(decimal !== undefined && { decimal }),
    ...(format.type === 'text' && format.encoding === 'windows-1252' && { encoding: format.encoding }),
    ...(!sample.isFirstRow && { header_row: line }),
    ...(sheet !== undefined && { sheet }),
  };
  const missing = missingColumns(kind, new Set([...given, ...constants]));
  const examples = headings.map((_, place) => examplesOf(sample, place));
  const read = { sheet: format.type === 'workbook' ? format.sheet : undefined, sheets: source.sheets ?? [] };
  return { document, headerLine: line, headings, unknownWords, examples, missing, ...read };
}

const [EXAMPLES, EXAMPLE_CHARACTERS, SEARCHED_ROWS] = [3, 40, 20];

const examplesOf = ({ rows }: FileSample, place: number): string[] =>
  rows
    .slice(0, SEARCHED_ROWS)
    .map(({ cells }) => valueIn(cells, place).slice(0, EXAMPLE_CHARACTERS))
    .filter((value) => value !== '')
    .slice(0, EXAMPLES);

type Entries = readonly (readonly [string, unknown])[];

const nonEmpty = (key: string, entries: Entries) =>
  entries.length === 0 ? {} : { [key]: Object.fromEntries(entries) };

const allNull = (names: readonly string[]): Entries => names.map((name) => [name, null]);

/** Headings that are the names of columns need no map. */
const columnsOf = (headings: readonly PlacedHeading[]): Entries =>
  headings.flatMap(({ text, column, by, isNameable }) =>
    isNameable && by !== 'name' ? [[text, column]] : [],
  );

/** Cells of a column that are known to leave nothing else open: most columns repeat few. */
const MOST_SEEN = 50_000;

/** Looks at every row: only the last may have the word that nobody knows. */
async function observeRows(
  source: RecordSource,
  { kind, line, headings }: { kind: ImportKind; line: number; headings: readonly PlacedHeading[] },
  observer: Observer,
): Promise<void> {
  const watched = IMPORT_COLUMNS[kind].flatMap((column) => {
    const place = headings.findIndex((heading) => heading.column === column.name);
    return place < 0 || !observer.watches(column) ? [] : [{ column, place, seen: new Set<string>() }];
  });
  const isTotals = totalsCheck(kind, headings);
  for await (const { records } of source.read())
    for (const record of records) {
      if (record.line <= line) continue;
      for (const { column, place, seen } of watched) {
        const cell = record.cells[place] ?? '';
        if (seen.has(cell) || isTotals(record.cells)) continue;
        if (seen.size < MOST_SEEN) seen.add(cell);
        const value = valueIn(record.cells, place);
        if (value !== '') observer.look(column, value);
      }
    }
}

/** Required columns that a file may well have the same value of in every row. */
const constantsFor = (kind: ImportKind, given: ReadonlySet<string>): string[] =>
  IMPORT_COLUMNS[kind].flatMap(({ name, isRequired, choices }) =>
    isRequired && !given.has(name) && (name === 'cooperative_code' || choices !== undefined) ? name : [],
  );

function missingColumns(kind: ImportKind, given: ReadonlySet<string>): string[] {
  const missing = IMPORT_COLUMNS[kind].filter(({ name, isRequired }) => isRequired && !given.has(name));
  const alternatives = ALTERNATIVES[kind];
  const isMissing =
    alternatives !== undefined &&
    !given.has(alternatives.column) &&
    !alternatives.others.every((name) => given.has(name));
  const names = missing.map(({ name }) => name);
  return isMissing ? [...names, `${alternatives.column} (or ${alternatives.others.join(' and ')})`] : names;
}
