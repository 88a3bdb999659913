/** What the cells of known columns leave open: the order of dates, the decimal mark, unknown words. */
import { FieldError, mayEcho } from '../../domain/values/errors.ts';
import { type CellContext, type DateOrder, type DecimalForm, noDates } from '../cells/context.ts';
import { collectDateEvidence, dateOrderOf } from '../cells/dates.ts';
import { decimalMarkOf } from '../cells/decimals.ts';
import { type ImportColumn, isOfDates } from '../columns/columns.ts';
import { foldHeading } from '../dictionary/fold.ts';
import type { DecimalMark } from '../map/file-layout.ts';

/** More different words than these are none of a choice, and may be somebody's data. */
const MOST_WORDS = 20;

export interface UnknownWords {
  readonly column: string;
  /** In the spelling that comes first; none when they are too many. */
  readonly words: readonly string[];
  /** Whether there are others, which may be somebody's data. */
  readonly hasMore: boolean;
}

export interface Observer {
  /** Whether cells of the column leave anything open. */
  watches(column: ImportColumn): boolean;
  /** Looks at a cell that is not empty, trimmed. */
  look(column: ImportColumn, cell: string): void;
  /** Null where the file has dates whose order it does not settle; undefined where none needs to be known. */
  dates(): DateOrder | null | undefined;
  /** The same of the decimal mark. */
  decimal(): DecimalMark | null | undefined;
  unknownWords(): UnknownWords[];
}

/** @param cells as they are in the file */
export function createObserver(cells: CellContext): Observer {
  const dates = noDates();
  // A file has one decimal mark, so it does not matter which column shows it.
  const forms = new Set<DecimalForm>();
  const numbers: CellContext = { ...cells, showDecimal: (form) => forms.add(form) };
  /** By column, by folded word, the first spelling. */
  const unknown = new Map<string, Map<string, string>>();

  function lookAtWord({ name, parse }: ImportColumn, cell: string): void {
    if (!(parse(cell, cells) instanceof FieldError)) return;
    const words = unknown.get(name) ?? new Map<string, string>();
    unknown.set(name, words);
    const word = foldHeading(cell);
    if (words.size <= MOST_WORDS && !words.has(word)) words.set(word, cell);
  }

  return {
    watches: (column) => isOfDates(column) || column.kind === 'decimal' || column.kind === 'choice',
    look(column, cell) {
      if (isOfDates(column)) collectDateEvidence(cell, dates);
      else if (column.kind === 'decimal') column.parse(cell, numbers);
      else if (column.kind === 'choice') lookAtWord(column, cell);
    },
    dates: () => dateOrderOf(dates),
    decimal: () => decimalMarkOf(forms),
    unknownWords: () => [...unknown].map(([column, words]) => shownWords(column, [...words.values()])),
  };
}

function shownWords(column: string, words: readonly string[]): UnknownWords {
  const shown = words.length > MOST_WORDS ? [] : words.filter(mayEcho);
  return { column, words: shown, hasMore: shown.length < words.length };
}
