/** Compares rows of totals in a file with the sums of its rows (docs/import-reference.md#rows-of-totals). */

import { isEmptyWord, trimmedCell } from '../../formats/spreadsheet-cells.ts';
import { byKind, type ImportKind } from '../../registry/file-columns.ts';
import { type DecimalKind, formatDecimal, RATE } from '../../values/decimal.ts';
import type { StagedValue } from '../../values/declared-fields.ts';
import { say, Written } from '../../values/message.ts';
import { type ImportWarning, WARNINGS } from '../import-warnings.ts';
import { IMPORT_COLUMNS } from './columns.ts';

type Values = readonly StagedValue[];

interface SummedColumn {
  readonly name: string;
  /** Index of the column among the kind's columns. */
  readonly place: number;
  readonly decimal: DecimalKind;
}

/** Columns of amounts and weights. Sums of rates are meaningless. */
export const SUMMED = byKind((kind) =>
  IMPORT_COLUMNS[kind].flatMap(({ name, decimal }, place): SummedColumn[] =>
    decimal === undefined || decimal === RATE ? [] : [{ name, place, decimal }],
  ),
);

type Factor = readonly [column: string, value: string, factor: number];

/** Rows that some files count differently in totals: withdrawals subtracted, void payments omitted. */
const FACTORS: { readonly [kind in ImportKind]?: Factor } = {
  savings: ['kind', 'withdrawal', -1],
  payments: ['status', 'void', 0],
};

/** Maximum number of warnings, and of sections with totals of their own. */
const [MOST_WARNINGS, MOST_SECTIONS] = [20, 500];

export function createTotalsCheck(kind: ImportKind) {
  const [decisiveColumn, decisiveValue, factor] = FACTORS[kind] ?? [];
  const decisive = IMPORT_COLUMNS[kind].findIndex(({ name }) => name === decisiveColumn);
  const columns = SUMMED[kind].map((column) => ({ column, sections: [emptySection()] }));
  /** Rows of totals above all other rows, compared at the end. */
  const early: (readonly [line: number, values: Values])[] = [];
  const differences: ImportWarning[] = [];
  /** Totals that could not be compared because rows are faulty, by column. */
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
        // A fault without a column concerns the number of cells, so all values are unknown.
        if (faulty.includes(column.name) || faulty.includes('')) section.unread++;
      }
    },
    /** Compares a row of totals with the rows before it. */
    compare(line: number, values: Values): void {
      if (isAnyRow)
        compareEach(line, values, (sections) => {
          sections.push(emptySection());
          if (sections.length > MOST_SECTIONS)
            sections.splice(0, 2, joined(sections[0] as Section, sections[1] as Section));
        });
      else if (early.length < MOST_WARNINGS) early.push([line, values]);
    },
    /** Returns the warnings. Must be called after the entire file has been read. */
    warnings(): ImportWarning[] {
      for (const [line, values] of early) compareEach(line, values);
      return [...differences, ...[...uncompared].map(([column, totals]) => notCompared(column, totals))];
    },
  };
}

/**
 * Sums of the rows between two rows of totals, in minor units or grams. Exact up to 2^53, more than any
 * comparison needs. `unread` counts cells with an unknown value.
 */
const emptySection = () => ({ all: 0, counted: 0, unread: 0 });

type Section = ReturnType<typeof emptySection>;

const joined = (one: Section, other: Section): Section => ({
  all: one.all + other.all,
  counted: one.counted + other.counted,
  unread: one.unread + other.unread,
});

/**
 * Searches for a stated total among the sums of the rows since each earlier row of totals and since the
 * beginning. Ignores differences of less than a kilogram or franc as rounding.
 * @returns also `last`, the sum of the last section with rows, which the total was probably meant for
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

/** Columns that identify a row, without the cooperative's code, which may be filled in on every line. */
export const IDENTITY: readonly string[] = [
  'code',
  'identity_card',
  'member_code',
  'loan_reference',
  'reference',
  'account_number',
];

/**
 * True for a row of totals: its first cell begins with a word such as `Total`, and no other cell identifies
 * it. A member named Total may match too, so an import skips a row as totals only if the row has a fault
 * (table-lines.ts); scans for evidence may lose such a member.
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
