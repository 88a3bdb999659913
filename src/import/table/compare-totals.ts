/** Compares rows of totals in a file with the sums of its rows (docs/import-reference.md#rows-of-totals). */

import { isEmptyWord, trimmedCell } from '../../formats/spreadsheet-cells-and-empty-words.ts';
import { byKind, type ImportKind } from '../../registry/file-columns.ts';
import { type DecimalKind, formatDecimal, RATE } from '../../values/decimal.ts';
import type { StagedValue } from '../../values/declared-fields.ts';
import { say, Written } from '../../values/message.ts';
import { type ImportWarning, WARNINGS } from '../import-warnings.ts';
import { IMPORT_COLUMNS } from './columns.ts';

type Values = readonly StagedValue[];

interface SummedColumn {
  readonly name: string;
  /** Index of the column in `IMPORT_COLUMNS`. */
  readonly place: number;
  readonly decimal: DecimalKind;
}

/** Columns of amounts and weights. Rates are left out, because their sums are meaningless. */
export const SUMMED = byKind((kind) =>
  IMPORT_COLUMNS[kind].flatMap(({ name, decimal }, place): SummedColumn[] =>
    decimal === undefined || decimal === RATE ? [] : [{ name, place, decimal }],
  ),
);

type Factor = readonly [column: string, value: string, factor: number];

/** Rows that some files subtract from their totals (withdrawals) or leave out of them (void payments). */
const FACTORS: { readonly [kind in ImportKind]?: Factor } = {
  savings: ['kind', 'withdrawal', -1],
  payments: ['status', 'void', 0],
};

/** Maximum number of warnings, and maximum number of sections whose sums are in memory. */
const [MOST_WARNINGS, MOST_SECTIONS] = [20, 500];

export function createTotalsCheck(kind: ImportKind) {
  const [decisiveColumn, decisiveValue, factor] = FACTORS[kind] ?? [];
  const decisive = IMPORT_COLUMNS[kind].findIndex(({ name }) => name === decisiveColumn);
  const columns = SUMMED[kind].map((column) => ({ column, sections: [emptySection()] }));
  /** Rows of totals before the first row that is not a total. They are compared at the end. */
  const early: (readonly [line: number, values: Values])[] = [];
  const differences: ImportWarning[] = [];
  /** Totals that could not be compared because summed cells have faults, by column. */
  const uncompared = new Map<string, { unread: number; lines: number[] }>();
  let isAnyRow = false;

  /** @param endsSection true to begin a new section in each column for which the row states a total */
  function compareAll(line: number, values: Values, endsSection: boolean): void {
    for (const { column, sections } of columns) {
      const stated = values[column.place];
      if (typeof stated !== 'number') continue;
      const { isFound, unread, last } = sumsOf(sections, column.decimal, stated);
      if (!isFound && unread > 0) {
        const lines = uncompared.get(column.name)?.lines ?? [];
        uncompared.set(column.name, { unread, lines: [...lines, line] });
      } else if (!isFound && differences.length < MOST_WARNINGS)
        differences.push(totalsDiffer(column, line, stated, last));
      if (!endsSection) continue;
      sections.push(emptySection());
      if (sections.length > MOST_SECTIONS)
        sections.splice(0, 2, joined(sections[0] as Section, sections[1] as Section));
    }
  }

  return {
    /** @param faulty columns in which the row has a fault, so that the value is unknown */
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
        // A fault without a column concerns the number of cells, so all values are unknown.
        if (faulty.includes(column.name) || faulty.includes('')) section.unread++;
      }
    },
    compare(line: number, values: Values): void {
      if (isAnyRow) compareAll(line, values, true);
      else if (early.length < MOST_WARNINGS) early.push([line, values]);
    },
    /** Must be called after the entire file has been read. */
    warnings(): ImportWarning[] {
      for (const [line, values] of early) compareAll(line, values, false);
      return [...differences, ...[...uncompared].map(([column, totals]) => notCompared(column, totals))];
    },
  };
}

/**
 * Sums of the rows between two rows of totals, in minor units or grams. `all` is the plain sum, `counted` the
 * sum with the factor of `FACTORS`, and `unread` the number of cells with an unknown value.
 */
const emptySection = () => ({ all: 0, counted: 0, unread: 0 });

type Section = ReturnType<typeof emptySection>;

const joined = (one: Section, other: Section): Section => ({
  all: one.all + other.all,
  counted: one.counted + other.counted,
  unread: one.unread + other.unread,
});

/**
 * Compares a stated total with the sum of all earlier rows, and with the sums of the rows since each earlier
 * row of totals. Ignores differences of less than a kilogram or franc.
 * @returns also `last`, the sum of the last section with values, for a message
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

// Detection of rows of totals, between or below the other rows (docs/import-reference.md#notes)

const WORDS = 'total|totals|totale|totaux|somme|sum|igiteranyo|yose|byose|zose';
const TOTAL = new RegExp(`^(?:(?:grand|sous|sub)[\\s-]*)?(?:${WORDS})(?![\\p{L}\\p{N}])`, 'iu');

/** Columns that identify a row. The cooperative's code is left out: all lines may have it, even totals. */
export const IDENTITY: readonly string[] = [
  'code',
  'identity_card',
  'member_code',
  'loan_reference',
  'reference',
  'account_number',
];

/**
 * True for a row whose first value begins with a word such as `Total`, if no other cell identifies the row.
 * The row of a member named Total may match too. So an import treats a matching row as totals only if the row
 * has a fault (read-and-check.ts). Scans for evidence skip all matching rows.
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
