/** Proposes a map for a file, with null where a person decides (docs/import-reference.md#maps). */

import { basename } from 'node:path';
import { valueIn } from '../../formats/blanks.ts';
import { openFile, scanFile } from '../../formats/open-file.ts';
import type { RecordSource } from '../../formats/records.ts';
import { IMPORT_KINDS, type ImportKind } from '../../registry/file-columns.ts';
import { ALTERNATIVES, IMPORT_COLUMNS } from '../table/columns.ts';
import { recogniseHeadings, scoreHeader } from '../table/recognise-headings.ts';
import type { CellContext, DateOrder } from './cell-context.ts';
import type { DecimalMark } from './file-layout.ts';
import {
  createObserver,
  type FileSample,
  type Observer,
  type PlacedHeading,
  placeHeadings,
  sampleFile,
  totalsCheck,
  type UnknownWords,
} from './guess-headings.ts';

/** A map document, with its keys in the order in which they are written. */
interface MapDocument {
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
  readonly headerLine: number;
  readonly headings: readonly PlacedHeading[];
  readonly unknownWords: readonly UnknownWords[];
  /** First values below each heading, shortened, by place of the heading. */
  readonly examples: readonly (readonly string[])[];
  /** Columns that an import of the file needs and that neither a heading nor a constant gives. */
  readonly missing: readonly string[];
  /** The sheet that was read, one of `sheets`; undefined for a text file. */
  readonly sheet: string | undefined;
  readonly sheets: readonly string[];
}

interface ProposeOptions {
  readonly kind: ImportKind;
  readonly cells: CellContext;
  readonly sheet?: string | undefined;
}

/** @throws FileFault if the file cannot be read, or no row of it looks like headings */
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

/** Entries for a map, which headings that are names of columns do not need. */
const columnsOf = (headings: readonly PlacedHeading[]): Entries =>
  headings.flatMap(({ text, column, by, isNameable }) =>
    isNameable && by !== 'name' ? [[text, column]] : [],
  );

/** Cells remembered of each column, as looking at them again shows nothing new: most columns repeat few. */
const MOST_SEEN = 50_000;

/** Looks at every row: the only unknown word may be in the last one. */
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

/** Required columns that may well have the same value in every row. */
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

// The kind of a file, guessed from its name and its headings

/** Words in file names that stand for a kind, in English, French and Kinyarwanda. */
const NAMES: { readonly [kind in ImportKind]: RegExp } = {
  cooperatives: /cooperatives|coopératives|amakoperative/i,
  members: /members|membres|abanyamuryango|urutonde/i,
  production: /production|livraison|delivery|deliveries|umusaruro|recolte|récolte/i,
  loans: /loans|prêts|prets|crédits|credits|inguzanyo/i,
  payments: /payments|paiements|remboursement|kwishyura|ubwishyu/i,
  savings: /savings|épargne|epargne|ubwizigame|kuzigama/i,
};

/** Number of headings that a matching name counts for. */
const NAME_SCORE = 2;

/**
 * Guesses the kind whose columns most headings name; a kind whose required columns are missing counts for
 * less.
 * @param name name of the file as people know it; by default that of its path
 * @throws FileFault if the file cannot be read
 */
export async function guessKind(path: string, name = basename(path)): Promise<ImportKind> {
  const scored: { kind: ImportKind; score: number }[] = [];
  const content = await scanFile(path);
  let fault: unknown;
  for (const kind of IMPORT_KINDS) {
    const source = await openFile(path, { content, scoreHeader: (cells) => scoreHeader(kind, cells) });
    try {
      const { header } = await sampleFile(source, kind);
      scored.push({ kind, score: scoreOf(kind, header.cells) + (NAMES[kind].test(name) ? NAME_SCORE : 0) });
    } catch (error) {
      fault = error;
    } finally {
      await source.close();
    }
  }
  const [best] = scored.sort((one, other) => other.score - one.score);
  if (best === undefined) throw fault;
  return best.kind;
}

/**
 * Number of recognised columns less the missing required ones. A code of the cooperative may be asked for
 * later.
 */
function scoreOf(kind: ImportKind, cells: readonly string[]): number {
  const found = new Set(recogniseHeadings(kind, cells).flatMap(({ column }) => column ?? []));
  const missing = IMPORT_COLUMNS[kind].filter(
    ({ name, isRequired, choices }) =>
      isRequired && !found.has(name) && name !== 'cooperative_code' && choices === undefined,
  );
  return found.size - missing.length;
}
