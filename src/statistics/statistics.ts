/** Statistics of one or several cooperatives, and their JSON (docs/api.md#statistics). */

import { SECTORS } from '../registry/cooperatives.ts';
import { LOAN_STATUSES, type LoanStatus } from '../registry/loans.ts';
import { GENDERS, MEMBER_STATUSES, ROLES } from '../registry/members.ts';
import { formatDate, formatDateTime, type TimeZone } from '../values/date-time.ts';
import { type ExactInteger, formatDecimal } from '../values/decimal.ts';
import { decimalSchema, NULL_FINANCIALS } from '../values/field-json.ts';
import {
  array,
  choiceOf,
  integer,
  nullable,
  object,
  type Schema,
  type Static,
  string,
} from '../values/schema.ts';

/** Calendar months of production, including the current one. */
const STATISTICS_MONTHS = 24;

/** Numbers by value; values with a count of zero may be missing. */
export interface Counts {
  [value: string]: number;
}

/** Value for members without a registered gender. */
export const UNKNOWN_GENDER = 'unknown';

/** Excludes erased members. */
export interface MemberTotals {
  total: number;
  readonly byStatus: Counts;
  /** Counts only active members, like `byRole`. */
  readonly byGender: Counts;
  readonly byRole: Counts;
  readonly byJoiningYear: Counts;
}

/** Deliveries of a product in a month, including those of members erased since. */
export interface ProductTotals {
  /** `2026-10`, in the registry's zone. */
  readonly month: string;
  readonly product: string | null;
  readonly deliveries: number;
  readonly grams: ExactInteger;
}

export interface LoanTotals {
  readonly count: number;
  readonly amountMinor: ExactInteger;
  readonly paidAmountMinor: ExactInteger;
  /** Sum of the remaining amounts of loans being repaid, each at least 0. */
  readonly outstandingMinor: ExactInteger;
}

interface SavingsTotals {
  readonly accounts: number;
  readonly contributionsMinor: ExactInteger;
  readonly withdrawalsMinor: ExactInteger;
}

export interface CooperativeTotals {
  readonly members: MemberTotals;
  /** By month, then product. */
  readonly production: readonly ProductTotals[];
  readonly loans: { readonly [status in LoanStatus]: LoanTotals };
  readonly savings: SavingsTotals;
}

export interface Statistics extends CooperativeTotals {
  /** Epoch seconds. */
  readonly asOf: number;
  /** Number of the last event included. */
  readonly sequence: number;
}

/** Cooperatives of a district or sector; a null name stands for those without one. */
export interface GroupTotals {
  readonly name: string | null;
  readonly cooperatives: number;
  readonly activeMembers: number;
}

export interface CountryStatistics extends Statistics {
  readonly districts: readonly GroupTotals[];
  readonly sectors: readonly GroupTotals[];
}

/** True for loans that still have to be repaid. */
export const isRepaid = (status: string): boolean => status === 'approved' || status === 'defaulted';

export function addCount(counts: Counts, value: string, count: number): void {
  counts[value] = (counts[value] ?? 0) + count;
}

export const noMembers = (): MemberTotals => ({
  total: 0,
  byStatus: {},
  byGender: {},
  byRole: {},
  byJoiningYear: {},
});

export const NO_LOANS: LoanTotals = {
  count: 0,
  amountMinor: 0,
  paidAmountMinor: 0,
  outstandingMinor: 0,
};

/**
 * Months of production such as `2026-10`, oldest first.
 * @param now epoch seconds
 */
export function monthsUntil(now: number, zone: TimeZone): readonly string[] {
  const [year, number] = formatDate(now, zone).split('-').map(Number) as [number, number];
  const last = year * 12 + number - 1;
  return Array.from({ length: STATISTICS_MONTHS }, (_, i) => {
    const at = last - STATISTICS_MONTHS + 1 + i;
    return `${String(Math.floor(at / 12)).padStart(4, '0')}-${String((at % 12) + 1).padStart(2, '0')}`;
  });
}

/** By month, then product; null products last. */
export const inOrder = (production: Iterable<ProductTotals>): ProductTotals[] =>
  [...production].sort((a, b) => compare(a.month, b.month) || compare(a.product ?? LAST, b.product ?? LAST));
/** Sorts after every other text. */
const LAST = '\u{10ffff}';
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

// JSON of statistics in responses and the command (docs/api.md#statistics)

const count = (description?: string) =>
  integer({ minimum: 0, ...(description === undefined ? {} : { description }) });

/** One count per value, including zeros. */
const counts = <T extends string>(values: readonly T[], description: string) =>
  object(Object.fromEntries(values.map((value) => [value, count()])) as { [value in T]: Schema<number> }, {
    description,
  });

const GENDER_VALUES = [...GENDERS, UNKNOWN_GENDER] as const;

const MEMBERS = object(
  {
    total: count('Members of every status.'),
    by_status: counts(MEMBER_STATUSES, 'Members of each status.'),
    by_gender: counts(GENDER_VALUES, 'Active members; `unknown`: none is registered.'),
    by_role: counts(ROLES, 'Active members.'),
    by_joining_year: {
      type: 'object',
      description: 'Members of every status, by the year of their registration.',
      additionalProperties: count(),
    } as Schema<Counts>,
  },
  { title: 'MemberStatistics' },
);

const PRODUCTION = array(
  object(
    {
      month: string({ pattern: '^[0-9]{4}-[0-9]{2}$', description: 'Calendar month.' }),
      product: nullable(string({ description: 'As it is written in the deliveries.' })),
      deliveries: count(),
      total_kg: decimalSchema(3, 'Kilograms.'),
    },
    { title: 'MonthOfProduct' },
  ),
  {
    description:
      `The last ${STATISTICS_MONTHS} calendar months, this one included; a month without deliveries is ` +
      `left out. ${NULL_FINANCIALS}.`,
  },
);

const LOANS = object(
  Object.fromEntries(
    LOAN_STATUSES.map((status) => [
      status,
      object(
        {
          count: count(),
          amount: decimalSchema(2, 'Rwandan francs.'),
          paid_amount: decimalSchema(2, 'Rwandan francs.'),
          outstanding: decimalSchema(
            2,
            'What is left of each loan, not less than 0; of approved and defaulted loans only.',
          ),
        },
        { title: 'LoanStatistics' },
      ),
    ]),
  ),
  { title: 'LoansByStatus' },
);

const SAVINGS = object(
  {
    accounts: count(),
    total_contributions_rwf: decimalSchema(2, 'Rwandan francs.'),
    total_withdrawals_rwf: decimalSchema(2, 'Rwandan francs.'),
    balance_rwf: string({
      pattern: '^-?[0-9]+\\.[0-9]{2}$',
      description: 'Contributions less withdrawals, in Rwandan francs.',
    }),
  },
  { title: 'SavingsStatistics' },
);

const SUMS = {
  as_of: string({ format: 'date-time', description: 'The moment of the request.' }),
  sequence: integer({
    minimum: 0,
    description: 'The last event that is included; the feed goes on after it.',
  }),
  members: MEMBERS,
  production: nullable(PRODUCTION),
  loans: nullable(LOANS, { description: `${NULL_FINANCIALS}.` }),
  savings: nullable(SAVINGS, { description: `${NULL_FINANCIALS}.` }),
};

const group = <Name extends 'district' | 'sector'>(name: Name, schema: Schema<string>) =>
  array(
    object({
      ...({ [name]: nullable(schema) } as { [key in Name]: Schema<string | null> }),
      cooperatives: count('Of every status.'),
      active_members: count(),
    }),
    { description: `By ${name}; null: none is registered.` },
  );

export const STATISTICS = object(SUMS, { title: 'Statistics' });
export const COUNTRY_STATISTICS = object(
  { ...SUMS, districts: group('district', string()), sectors: group('sector', choiceOf(SECTORS)) },
  { title: 'CountryStatistics' },
);

const money = (minor: ExactInteger): string => formatDecimal(minor, 2);
const all = <T extends string>(values: readonly T[], found: Counts) =>
  Object.fromEntries(values.map((value) => [value, found[value] ?? 0])) as { [value in T]: number };

const describeFinancials = ({ production, loans, savings }: Statistics) => ({
  production: production.map(({ month, product, deliveries, grams }) => ({
    month,
    product,
    deliveries,
    total_kg: formatDecimal(grams, 3),
  })),
  loans: Object.fromEntries(
    LOAN_STATUSES.map((status) => {
      const { count: number, amountMinor, paidAmountMinor, outstandingMinor } = loans[status];
      const sums = { amount: money(amountMinor), paid_amount: money(paidAmountMinor) };
      return [status, { count: number, ...sums, outstanding: money(outstandingMinor) }];
    }),
  ),
  savings: {
    accounts: savings.accounts,
    total_contributions_rwf: money(savings.contributionsMinor),
    total_withdrawals_rwf: money(savings.withdrawalsMinor),
    balance_rwf: money(BigInt(savings.contributionsMinor) - BigInt(savings.withdrawalsMinor)),
  },
});

export type ShownStatistics = Static<typeof STATISTICS>;
export type ShownCountry = Static<typeof COUNTRY_STATISTICS>;

/** @param withFinancials if false, production, loans and savings are null */
export const describeStatistics = (
  statistics: Statistics,
  zone: TimeZone,
  withFinancials: boolean,
): ShownStatistics => ({
  as_of: formatDateTime(statistics.asOf, zone),
  sequence: statistics.sequence,
  members: {
    total: statistics.members.total,
    by_status: all(MEMBER_STATUSES, statistics.members.byStatus),
    by_gender: all(GENDER_VALUES, statistics.members.byGender),
    by_role: all(ROLES, statistics.members.byRole),
    by_joining_year: statistics.members.byJoiningYear,
  },
  ...(withFinancials ? describeFinancials(statistics) : { production: null, loans: null, savings: null }),
});

const describeGroups = <Name extends string>(groups: readonly GroupTotals[], nameOf: Name) =>
  groups.map(({ name, cooperatives, activeMembers }) => ({
    ...({ [nameOf]: name } as { [key in Name]: string | null }),
    cooperatives,
    active_members: activeMembers,
  }));

export const describeCountry = (statistics: CountryStatistics, zone: TimeZone, withFinancials: boolean) => ({
  ...describeStatistics(statistics, zone, withFinancials),
  districts: describeGroups(statistics.districts, 'district'),
  sectors: describeGroups(statistics.sectors, 'sector'),
});
