/** What the totals of a file say, and what its rows add up to (docs/import-reference.md#rows-of-totals). */
import { type DecimalKind, formatDecimal, RATE } from '../../domain/values/decimal.ts';
import { say, Written } from '../../domain/values/message.ts';
import { byKind } from '../../store/contract/import/import-columns.ts';
import type { ImportKind, StagedValue } from '../../store/contract/import/import-session.ts';
import { type ImportWarning, WARNINGS } from '../../store/contract/import/import-warnings.ts';
import { IMPORT_COLUMNS } from '../columns/columns.ts';

type Values = readonly StagedValue[];

export interface TotalsCheck {
  /** @param faulty columns of the row with a fault, whose values are not known */
  addRow(values: Values, faulty: readonly string[]): void;
  /** Of a row of totals. */
  compare(line: number, values: Values): void;
  /** Once the file is read. */
  warnings(): ImportWarning[];
}

interface SummedColumn {
  readonly name: string;
  /** Among the columns of the kind. */
  readonly place: number;
  readonly decimal: DecimalKind;
}

/** Amounts and weights. A sum of rates says nothing. */
export const SUMMED = byKind((kind) =>
  IMPORT_COLUMNS[kind].flatMap(({ name, decimal }, place): SummedColumn[] =>
    decimal === undefined || decimal === RATE ? [] : [{ name, place, decimal }],
  ),
);

type Factor = readonly [column: string, value: string, factor: number];

/** As some add up: withdrawals are taken away from what was paid in, and void payments are left out. */
const FACTORS: { readonly [kind in ImportKind]?: Factor } = {
  savings: ['kind', 'withdrawal', -1],
  payments: ['status', 'void', 0],
};

/** Between two rows of totals, in minor units or grams; exact up to 2^53, which is more than is compared. */
interface Section {
  all: number;
  counted: number;
  /** Cells whose value is not known. */
  unread: number;
}

interface Differing {
  readonly column: SummedColumn;
  readonly line: number;
  readonly said: number;
  readonly sum: number;
}

/** Totals of a column that were compared with nothing. */
interface Uncompared {
  readonly unread: number;
  readonly lines: readonly number[];
}

/** Nobody looks at more, or has totals of totals of more sections. */
const [MOST_WARNINGS, MOST_SECTIONS] = [20, 500];

export function createTotalsCheck(kind: ImportKind): TotalsCheck {
  const [column, value, factor] = FACTORS[kind] ?? [];
  const decisive = IMPORT_COLUMNS[kind].findIndex(({ name }) => name === column);
  const columns = SUMMED[kind].map((summed) => ({ summed, sections: [emptySection()] }));
  /** Above all rows: compared at the end. */
  const early: (readonly [line: number, values: Values])[] = [];
  const differing: Differing[] = [];
  const uncompared = new Map<string, Uncompared>();
  let isAnyRow = false;

  function compareColumn(line: number, values: Values, { summed, sections }: (typeof columns)[number]): void {
    const said = values[summed.place];
    if (typeof said !== 'number' || differing.length === MOST_WARNINGS) return;
    const { isFound, unread, last } = sumsOf(sections, summed.decimal, said);
    if (isFound) return;
    if (unread === 0) differing.push({ column: summed, line, said, sum: last });
    else
      uncompared.set(summed.name, { unread, lines: [...(uncompared.get(summed.name)?.lines ?? []), line] });
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
        // A row with too many cells or too few has a fault of no column.
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
 * Whether the rows since any earlier totals, or since the beginning, add up to what is said. Less than a
 * kilogram or franc is taken for rounding.
 * @returns also the sum of the last section with rows: what was probably meant
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
