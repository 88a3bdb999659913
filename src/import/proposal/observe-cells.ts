/** What the cells of known columns leave open: the order of dates, the decimal mark, unknown words. */
import { FieldError, mayEcho } from '../../domain/values/errors.ts';
import type { CellContext, DateOrder } from '../cells/context.ts';
import type { ImportColumn } from '../columns/columns.ts';
import { foldHeading } from '../dictionary/fold.ts';
import { typeOf } from '../map/column-types.ts';
import type { DecimalMark } from '../map/reading-map.ts';
import { dateSigns, decimalSign } from './cell-signs.ts';

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

/** @param hasSemicolons whether the separator is `;`, so that a comma before three digits is a decimal one */
export function createObserver(cells: CellContext, hasSemicolons: boolean): Observer {
  const types = new Map<ImportColumn, ReturnType<typeof typeOf>>();
  function typeFor(column: ImportColumn): ReturnType<typeof typeOf> {
    const type = types.get(column) ?? typeOf(column, cells);
    types.set(column, type);
    return type;
  }
  const dates = { dayFirst: 0, monthFirst: 0, oneDigit: 0, yearLast: 0, yearFirst: 0 };
  const marks = { comma: 0, point: 0, unclearComma: 0, unclearPoint: 0 };
  /** By column, by folded word, the first spelling. */
  const unknown = new Map<string, Map<string, string>>();

  function lookAtDate(cell: string): void {
    const signs = dateSigns(cell);
    if (signs?.form === 'year first') dates.yearFirst++;
    if (signs?.form !== 'year last') return;
    dates.yearLast++;
    if (signs.first > 12) dates.dayFirst++;
    if (signs.second > 12) dates.monthFirst++;
    if (signs.hasOneDigit) dates.oneDigit++;
  }

  function lookAtNumber(column: ImportColumn, cell: string): void {
    const sign = decimalSign(cell);
    // Where only two decimals are possible, a mark before three digits separates thousands.
    const mayBeDecimals = () => !(column.parse('0.125', cells) instanceof FieldError);
    if (sign === ',') marks.comma++;
    else if (sign === '.') marks.point++;
    else if (sign === 'point before three' && mayBeDecimals()) marks.unclearPoint++;
    else if (sign !== 'comma before three') return;
    else if (hasSemicolons) marks.comma++;
    else if (mayBeDecimals()) marks.unclearComma++;
  }

  function lookAtWord({ name, parse }: ImportColumn, cell: string): void {
    if (!(parse(cell, cells) instanceof FieldError)) return;
    const words = unknown.get(name) ?? new Map<string, string>();
    unknown.set(name, words);
    const word = foldHeading(cell);
    if (words.size <= MOST_WORDS && !words.has(word)) words.set(word, cell);
  }

  return {
    watches: (column) => typeFor(column) !== 'text',
    look(column, cell) {
      const type = typeFor(column);
      if (type === 'date') lookAtDate(cell);
      else if (type === 'number') lookAtNumber(column, cell);
      else if (type === 'choice') lookAtWord(column, cell);
    },
    dates() {
      const { dayFirst, monthFirst, oneDigit, yearLast, yearFirst } = dates;
      if (yearFirst > 0) return yearLast > 0 ? null : 'ymd';
      if (dayFirst > 0 || monthFirst > 0)
        return dayFirst > 0 && monthFirst > 0 ? null : dayFirst > 0 ? 'dmy' : 'mdy';
      // Two digits each are read as day first.
      return oneDigit > 0 ? null : undefined;
    },
    decimal() {
      const { comma, point, unclearComma, unclearPoint } = marks;
      if (comma > 0) return point + unclearPoint > 0 ? null : ',';
      return unclearComma > 0 ? null : undefined;
    },
    unknownWords: () => [...unknown].map(([column, words]) => shownWords(column, [...words.values()])),
  };
}

function shownWords(column: string, words: readonly string[]): UnknownWords {
  const shown = words.length > MOST_WORDS ? [] : words.filter(mayEcho);
  return { column, words: shown, hasMore: shown.length < words.length };
}
