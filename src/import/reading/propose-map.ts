/**
 * Proposes a map (docs/import-reference.md#maps). The operator must replace each null, except in `columns`,
 * where null ignores a heading.
 */

import { basename } from 'node:path';
import { valueIn } from '../../formats/spreadsheet-cells-and-empty-words.ts';
import { IMPORT_KINDS, type ImportKind } from '../../registry/file-columns.ts';
import { openFile, scanFile } from '../files/open-file.ts';
import type { RecordSource } from '../files/records.ts';
import { describeColumn, IMPORT_COLUMNS, type ImportColumn, missingColumns } from '../table/columns.ts';
import { isTotalsRow } from '../table/compare-totals.ts';
import { createHeaderCheck, recogniseHeadings, scoreHeader } from '../table/header.ts';
import type { CellContext } from './cell-context.ts';
import {
  createObserver,
  isObserved,
  type Observer,
  type PlacedHeading,
  placeHeadings,
  sampleFile,
} from './guess-columns.ts';

export type MapProposal = Awaited<ReturnType<typeof proposeMap>>;

interface ProposeOptions {
  readonly kind: ImportKind;
  readonly cells: CellContext;
  readonly sheet?: string | undefined;
}

const [EXAMPLES, EXAMPLE_CHARACTERS, SEARCHED_ROWS] = [3, 40, 20];

/** @throws FileFault if the file cannot be read or no row looks like headings */
export async function proposeMap(source: RecordSource, { kind, cells, sheet }: ProposeOptions) {
  const { format } = source;
  const { header, isFirstRow, rows } = await sampleFile(source, kind);
  const headings = placeHeadings(header, rows, { kind, cells });
  const isSeparatedBySemicolons = format.type === 'text' && format.separator === ';';
  const observer = createObserver({ ...cells, isSeparatedBySemicolons });
  await observeRows(source, kind, header.line, headings, observer);
  const columns = new Set(headings.flatMap(({ column }) => column ?? []));
  const constants = IMPORT_COLUMNS[kind].flatMap((column) =>
    column.isRequired && !columns.has(column.name) && mayBeConstant(column) ? column.name : [],
  );
  const unknownWords = observer.unknownWords();
  const [dates, decimal] = [observer.dates(), observer.decimal()];
  // Keys in the order of the written document.
  const document = {
    kind,
    ...nonEmpty('columns', columnsOf(headings)),
    ...nonEmpty('constants', allNull(constants)),
    ...nonEmpty(
      'values',
      unknownWords.flatMap(({ column, words }) =>
        words.length === 0 ? [] : [[column, Object.fromEntries(allNull(words))] as const],
      ),
    ),
    ...(dates !== undefined && { dates }),
    ...(decimal !== undefined && { decimal }),
    ...(format.type === 'text' && format.encoding === 'windows-1252' && { encoding: format.encoding }),
    ...(!isFirstRow && { header_row: header.line }),
    ...(sheet !== undefined && { sheet }),
  };
  const examplesAt = (place: number): readonly string[] =>
    rows
      .slice(0, SEARCHED_ROWS)
      .map((row) => valueIn(row.cells, place).slice(0, EXAMPLE_CHARACTERS))
      .filter((value) => value !== '')
      .slice(0, EXAMPLES);
  return {
    document,
    headerLine: header.line,
    headings,
    unknownWords,
    examples: headings.map((_, place) => examplesAt(place)),
    /** Required columns that neither a heading nor a constant provides. */
    missing: missingColumns(kind, new Set([...columns, ...constants])).map((name) =>
      describeColumn(kind, name),
    ),
    /** Name of the sheet that was read; undefined for a text file. */
    sheet: format.type === 'workbook' ? format.sheet : undefined,
    sheets: source.sheets ?? [],
  };
}

/** True for a column that often has the same value in all rows. */
const mayBeConstant = ({ name, choices }: ImportColumn): boolean =>
  name === 'cooperative_code' || choices !== undefined;

const nonEmpty = <Key extends string, Value>(key: Key, entries: readonly (readonly [string, Value])[]) =>
  (entries.length === 0 ? {} : { [key]: Object.fromEntries(entries) }) as {
    readonly [name in Key]?: { readonly [name: string]: Value };
  };

const allNull = (names: readonly string[]) => names.map((name) => [name, null] as const);

/** Returns entries of a map for all headings except exact column names. */
const columnsOf = (headings: readonly PlacedHeading[]) =>
  headings.flatMap(({ text, column, by, isNameable }) =>
    isNameable && by !== 'name' ? [[text, column] as const] : [],
  );

/** Maximum number of cached cells of a column. Because of the cache, equal cells are examined only once. */
const MOST_CACHED = 50_000;

/** Examines every row, because an unknown word may occur only in the last one. */
async function observeRows(
  source: RecordSource,
  kind: ImportKind,
  headerLine: number,
  headings: readonly PlacedHeading[],
  observer: Observer,
): Promise<void> {
  const observed = IMPORT_COLUMNS[kind].filter(isObserved).flatMap((column) => {
    const place = headings.findIndex((heading) => heading.column === column.name);
    return place < 0 ? [] : [{ column, place, cache: new Set<string>() }];
  });
  const repeatsHeader = createHeaderCheck(headings);
  for await (const { records } of source.read())
    for (const { line, cells } of records) {
      if (line <= headerLine || isTotalsRow(headings, cells) || repeatsHeader(cells)) continue;
      for (const { column, place, cache } of observed) {
        const cell = cells[place] ?? '';
        if (cache.has(cell)) continue;
        if (cache.size < MOST_CACHED) cache.add(cell);
        const value = valueIn(cells, place);
        if (value !== '') observer.look(column, value);
      }
    }
}

// Guess of a file's kind from its name and headings

/** Words in the names of files that indicate a kind, in English, French and Kinyarwanda. */
const NAMES: { readonly [kind in ImportKind]: RegExp } = {
  cooperatives: /cooperatives|coopératives|amakoperative/i,
  members: /members|membres|abanyamuryango|urutonde/i,
  production: /production|livraison|delivery|deliveries|umusaruro|recolte|récolte/i,
  loans: /loans|prêts|prets|crédits|credits|inguzanyo/i,
  payments: /payments|paiements|remboursement|kwishyura|ubwishyu/i,
  savings: /savings|épargne|epargne|ubwizigame|kuzigama/i,
};

/** Number of recognised headings that a matching file name is worth. */
const NAME_SCORE = 2;

/** @param name name of the file as the user knows it @throws FileFault if the file cannot be read */
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
 * Returns the number of recognised columns minus the missing required columns. Columns that may be constants,
 * such as the code of the cooperative, do not count as missing.
 */
function scoreOf(kind: ImportKind, cells: readonly string[]): number {
  const columns = new Set(recogniseHeadings(kind, cells).flatMap(({ column }) => column ?? []));
  const missing = IMPORT_COLUMNS[kind].filter(
    (column) => column.isRequired && !columns.has(column.name) && !mayBeConstant(column),
  );
  return columns.size - missing.length;
}
