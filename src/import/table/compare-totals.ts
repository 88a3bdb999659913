/**
 * Compares the totals that a file states with the sums of its rows (docs/import-reference.md#rows-of-totals).
 */

import { isEmptyWord, trimmedCell } from '../../formats/blanks.ts';
import { byKind, type ImportKind } from '../../registry/file-columns.ts';
import { type DecimalKind, formatDecimal, RATE } from '../../values/decimal.ts';
import type { StagedValue } from '../../values/declared-fields.ts';
import { say, Written } from '../../values/message.ts';
import { type ImportWarning, WARNINGS } from '../import-warnings.ts';
import { IMPORT_COLUMNS } from './columns.ts';

type Values = readonly StagedValue[];

interface SummedColumn {
  readonly name: string;
  /** Place among the columns of the kind. */
  readonly place: number;
  readonly decimal: DecimalKind;
}

/** Columns of amounts and weights. A sum of rates says nothing. */
export const SUMMED = byKind((kind) =>
  IMPORT_COLUMNS[kind].flatMap(({ name, decimal }, place): SummedColumn[] =>
    decimal === undefined || decimal === RATE ? [] : [{ name, place, decimal }],
  ),
);

type Factor = readonly [column: string, value: string, factor: number];

/**
 * Rows that the totals of some files count in another way: withdrawals are subtracted, void payments left
 * out.
 */
const FACTORS: { readonly [kind in ImportKind]?: Factor } = {
  savings: ['kind', 'withdrawal', -1],
  payments: ['status', 'void', 0],
};

/** Limits: nobody reads more warnings, or has totals over more sections. */
const [MOST_WARNINGS, MOST_SECTIONS] = [20, 500];

export function createTotalsCheck(kind: ImportKind) {
  const [decisiveColumn, decisiveValue, factor] = FACTORS[kind] ?? [];
  const decisive = IMPORT_COLUMNS[kind].findIndex(({ name }) => name === decisiveColumn);
  const columns = SUMMED[kind].map((column) => ({ column, sections: [emptySection()] }));
  /** Totals above all rows, compared at the end. */
  const early: (readonly [line: number, values: Values])[] = [];
  const differences: ImportWarning[] = [];
  /** Totals that could not be compared, by column. */
  const uncompared = new Map<string, { unread: number; lines: number[] }>();
  let isAnyRow = false;

  function compareColumn(line: number, stated: number, { column, sections }: (typeof columns)[number]): void {
    const { isFound, unread, last } = sumsOf(sections, column.decimal, stated);
    if (isFound) return;
    if (unread > 0) {
      const lines = uncompared.get(column.name)?.lines ?? [];
      uncompared.set(column.name, { unread, lines: [...lines, line] });
    } else if (differences.length < MOST_WARNINGS) differences.push(totalsDiffer(column, line, stated, last));
  }

  function compareEach(line: number, values: Values, compared?: (sections: Section[]) => void): void {
    for (const summed of columns) {
      const stated = values[summed.column.place];
      if (typeof stated !== 'number') continue;
      compareColumn(line, stated, summed);
      compared?.(summed.sections);
    }
  }

  return {
    /** @param faulty columns of the row with a fault, whose values are unknown */
    addRow(values: Values, faulty: readonly string[]): void {
      isAnyRow = true;
      const share = decisive >= 0 && values[decisive] === decisiveValue ? (factor ?? 1) : 1;
      for (const { column, sections } of columns) {
        const section = sections.at(-1) as Section;
        const value = values[column.place];
        if (typeof value === 'number') {
          section.all += value;
          section.counted += value * share;
        }
        // The fault of a row with too many or too few cells names no column.
        if (faulty.includes(column.name) || faulty.includes('')) section.unread++;
      }
    },
    /** Compares the values of a row of totals. */
    compare(line: number, values: Values): void {
      if (isAnyRow)
        compareEach(line, values, (sections) => {
          sections.push(emptySection());
          if (sections.length > MOST_SECTIONS)
            sections.splice(0, 2, joined(sections[0] as Section, sections[1] as Section));
        });
      else if (early.length < MOST_WARNINGS) early.push([line, values]);
    },
    /** Warnings, complete once the file is read. */
    warnings(): ImportWarning[] {
      for (const [line, values] of early) compareEach(line, values);
      return [...differences, ...[...uncompared].map(([column, totals]) => notCompared(column, totals))];
    },
  };
}

/**
 * Sums between two rows of totals, in minor units or grams; exact up to 2^53, which is more than is compared.
 * `unread` is the number of cells whose value is unknown.
 */
const emptySection = () => ({ all: 0, counted: 0, unread: 0 });

type Section = ReturnType<typeof emptySection>;

const joined = (one: Section, other: Section): Section => ({
  all: one.all + other.all,
  counted: one.counted + other.counted,
  unread: one.unread + other.unread,
});

/**
 * Adds up the rows since each of the earlier totals, and since the beginning, and looks for the stated sum. A
 * difference of less than a kilogram or franc is taken for rounding.
 * @returns also `last`, the sum of the last section with rows, which was probably meant
 */
function sumsOf(sections: readonly Section[], { fractionDigits }: DecimalKind, stated: number) {
  const isStated = (sum: number) => Math.abs(sum - stated) < 10 ** fractionDigits;
  let sum = emptySection();
  let last: number | undefined;
  let isFound = false;
  for (const section of sections.toReversed()) {
    sum = joined(sum, section);
    if (section.all !== 0) last ??= sum.all;
    isFound ||= isStated(sum.all) || isStated(sum.counted);
  }
  return { isFound, unread: sum.unread, last: last ?? 0 };
}

function totalsDiffer(column: SummedColumn, line: number, stated: number, sum: number): ImportWarning {
  const { fractionDigits } = column.decimal;
  const inUnits = (units: number) =>
    new Written('amount', formatDecimal(units, fractionDigits).replace(/\.?0+$/, ''));
  return {
    kind: 'totals_differ',
    stops: WARNINGS.totals_differ.stops,
    message: say('The row of totals has {said} in column {column}, and its rows add up to {sum}.', {
      said: inUnits(stated),
      column: column.name,
      sum: inUnits(sum),
    }),
    count: 1,
    lines: () => [line],
  };
}

const notCompared = (
  column: string,
  { unread: cells, lines }: { unread: number; lines: readonly number[] },
): ImportWarning => ({
  kind: 'totals_not_compared',
  stops: WARNINGS.totals_not_compared.stops,
  message: say(
    'The totals of column {column} were not compared: {cells|# cell|# cells} of the column cannot be read.',
    { column, cells },
  ),
  count: lines.length,
  lines: () => lines,
});

// Rows of totals among or below the other rows of a file (docs/import-reference.md#notes)

const WORDS = 'total|totals|totale|totaux|somme|sum|igiteranyo|yose|byose|zose';
const TOTAL = new RegExp(`^(?:(?:grand|sous|sub)[\\s-]*)?(?:${WORDS})(?![\\p{L}\\p{N}])`, 'iu');

/** Columns that identify a row. The cooperative's code may be filled in everywhere, so it does not count. */
export const IDENTITY: readonly string[] = [
  'code',
  'identity_card',
  'member_code',
  'loan_reference',
  'reference',
  'account_number',
];

/**
 * Detects a row of totals among those that cannot be read: its first cell says so, and nothing identifies it.
 * Rows without a fault are not examined, so a person called Total stays a person.
 */
export function isTotalsRow(
  headings: readonly { readonly column: string | null | undefined }[],
  cells: readonly string[],
): boolean {
  const isTotal = (place: number) => TOTAL.test(trimmedCell(cells, place));
  const first = cells.findIndex(
    (cell, place) => cell.trim() !== '' && (headings[place]?.column !== 'cooperative_code' || isTotal(place)),
  );
  if (!isTotal(first)) return false;
  return headings.every(({ column }, place) => {
    const cell = (cells[place] ?? '').trim();
    return !IDENTITY.includes(column ?? '') || place === first || cell === '' || isEmptyWord(cell);
  });
}
