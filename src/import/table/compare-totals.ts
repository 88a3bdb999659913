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
import type { Header } from './header.ts';

type Values = readonly StagedValue[];

interface TotalsCheck {
  /** @param faulty columns of the row with a fault, whose values are unknown */
  addRow(values: Values, faulty: readonly string[]): void;
  /** Compares the values of a row of totals. */
  compare(line: number, values: Values): void;
  /** Warnings, complete once the file is read. */
  warnings(): ImportWarning[];
}

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

/** Factors with which some files add up: withdrawals are subtracted, and void payments left out. */
const FACTORS: { readonly [kind in ImportKind]?: Factor } = {
  savings: ['kind', 'withdrawal', -1],
  payments: ['status', 'void', 0],
};

/**
 * Sums between two rows of totals, in minor units or grams; exact up to 2^53, which is more than is compared.
 */
interface Section {
  all: number;
  counted: number;
  /** Number of cells whose value is unknown. */
  unread: number;
}

interface Differing {
  readonly column: SummedColumn;
  readonly line: number;
  readonly said: number;
  readonly sum: number;
}

/** Totals of a column that could not be compared. */
interface Uncompared {
  readonly unread: number;
  readonly lines: readonly number[];
}

/** Limits: nobody reads more warnings, or has totals over more sections. */
const [MOST_WARNINGS, MOST_SECTIONS] = [20, 500];

export function createTotalsCheck(kind: ImportKind): TotalsCheck {
  const [column, value, factor] = FACTORS[kind] ?? [];
  const decisive = IMPORT_COLUMNS[kind].findIndex(({ name }) => name === column);
  const columns = SUMMED[kind].map((summed) => ({ summed, sections: [emptySection()] }));
  /** Totals above all rows, compared at the end. */
  const early: (readonly [line: number, values: Values])[] = [];
  const differing: Differing[] = [];
  const uncompared = new Map<string, Uncompared>();
  let isAnyRow = false;

  function compareColumn(line: number, values: Values, { summed, sections }: (typeof columns)[number]): void {
    const said = values[summed.place];
    if (typeof said !== 'number') return;
    const { isFound, unread, last } = sumsOf(sections, summed.decimal, said);
    if (isFound) return;
    if (unread > 0)
      uncompared.set(summed.name, { unread, lines: [...(uncompared.get(summed.name)?.lines ?? []), line] });
    else if (differing.length < MOST_WARNINGS) differing.push({ column: summed, line, said, sum: last });
  }

  return {
    addRow(values, faulty) {
      isAnyRow = true;
      const share = decisive >= 0 && values[decisive] === value ? (factor ?? 1) : 1;
      for (const { summed, sections } of columns) {
        const section = sections.at(-1) as Section;
        const given = values[summed.place];
        if (typeof given === 'number') section.all += given;
        if (typeof given === 'number') section.counted += given * share;
        // The fault of a row with too many or too few cells names no column.
        if (faulty.includes(summed.name) || faulty.includes('')) section.unread++;
      }
    },
    compare(line, values) {
      if (!isAnyRow) {
        if (early.length < MOST_WARNINGS) early.push([line, values]);
        return;
      }
      for (const each of columns) {
        if (typeof values[each.summed.place] !== 'number') continue;
        compareColumn(line, values, each);
        const { sections } = each;
        sections.push(emptySection());
        if (sections.length > MOST_SECTIONS) sections.splice(0, 2, joined(sections[0], sections[1]));
      }
    },
    warnings() {
      for (const [line, values] of early) for (const each of columns) compareColumn(line, values, each);
      return [...differing.map(toWarning), ...[...uncompared].map(notCompared)];
    },
  };
}

const emptySection = (): Section => ({ all: 0, counted: 0, unread: 0 });

const joined = (...sections: (Section | undefined)[]): Section =>
  sections.reduce<Section>(
    (sum, each) => ({
      all: sum.all + (each?.all ?? 0),
      counted: sum.counted + (each?.counted ?? 0),
      unread: sum.unread + (each?.unread ?? 0),
    }),
    emptySection(),
  );

/**
 * Adds up the rows since each of the earlier totals, and since the beginning, and looks for the stated sum. A
 * difference of less than a kilogram or franc is taken for rounding.
 * @returns also `last`, the sum of the last section with rows, which was probably meant
 */
function sumsOf(sections: readonly Section[], { fractionDigits }: DecimalKind, said: number) {
  const isSaid = (sum: number) => Math.abs(sum - said) < 10 ** fractionDigits;
  let sum = emptySection();
  let last: number | undefined;
  let isFound = false;
  for (const section of sections.toReversed()) {
    sum = joined(sum, section);
    if (section.all !== 0) last ??= sum.all;
    isFound ||= isSaid(sum.all) || isSaid(sum.counted);
  }
  return { isFound, unread: sum.unread, last: last ?? 0 };
}

const written = (units: number, { fractionDigits }: DecimalKind): Written =>
  new Written('amount', formatDecimal(units, fractionDigits).replace(/\.?0+$/, ''));

function toWarning({ column: { name, decimal }, line, said, sum }: Differing): ImportWarning {
  return {
    kind: 'totals_differ',
    stops: WARNINGS.totals_differ.stops,
    message: say('The row of totals has {said} in column {column}, and its rows add up to {sum}.', {
      said: written(said, decimal),
      column: name,
      sum: written(sum, decimal),
    }),
    count: 1,
    lines: () => [line],
  };
}

const notCompared = ([column, { unread, lines }]: [string, Uncompared]): ImportWarning => ({
  kind: 'totals_not_compared',
  stops: WARNINGS.totals_not_compared.stops,
  message: say(
    'The totals of column {column} were not compared: {cells|# cell of it|# cells of it} cannot be read.',
    { column, cells: unread },
  ),
  count: lines.length,
  lines: () => lines,
});

// Rows of totals among or below the other rows of a file (docs/import-reference.md#notes)

const WORDS = 'total|totals|totale|totaux|somme|sum|igiteranyo|yose|byose|zose';
const TOTAL = new RegExp(`^(?:(?:grand|sous|sub)[\\s-]*)?(?:${WORDS})(?![\\p{L}\\p{N}])`, 'iu');

/** Columns that identify a row. The cooperative's code may be filled in everywhere, so it does not count. */
const IDENTITY = ['code', 'identity_card', 'member_code', 'loan_reference', 'reference', 'account_number'];

/**
 * Detects a row of totals among those that cannot be read: its first cell says so, and nothing identifies it.
 * Rows without a fault are not examined, so a person called Total stays a person.
 */
export function isTotalsRow(
  kind: ImportKind,
  { places, headings }: Pick<Header, 'places' | 'headings'>,
  cells: readonly string[],
): boolean {
  const isOfCooperative = (place: number) => headings[place]?.column === 'cooperative_code';
  const isTotal = (place: number) => TOTAL.test(trimmedCell(cells, place));
  const first = cells.findIndex(
    (cell, place) => cell.trim() !== '' && !(isOfCooperative(place) && !isTotal(place)),
  );
  if (!isTotal(first)) return false;
  return IMPORT_COLUMNS[kind].every(({ name }, i) => {
    const place = places[i] as number;
    const cell = (cells[place] ?? '').trim();
    return !IDENTITY.includes(name) || place === first || cell === '' || isEmptyWord(cell);
  });
}
