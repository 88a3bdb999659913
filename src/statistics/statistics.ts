/** Converts statistics to JSON, for responses and the command (docs/api.md#statistics). */

import { SECTORS } from '../registry/cooperatives.ts';
import { LOAN_STATUSES } from '../registry/loans.ts';
import { GENDERS, MEMBER_STATUSES, ROLES } from '../registry/members.ts';
import { formatDateTime, type TimeZone } from '../values/date-time.ts';
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
import {
  type CountryStatistics,
  type Counts,
  type GroupTotals,
  STATISTICS_MONTHS,
  type Statistics,
  UNKNOWN_GENDER,
} from './statistics-store.ts';

const count = (description?: string) => integer({ minimum: 0, ...(description && { description }) });

const counts = <T extends string>(values: readonly T[], description: string) =>
  object(Object.fromEntries(values.map((value) => [value, count()])) as { [value in T]: Schema<number> }, {
    description,
  });

const GENDER_VALUES = [...GENDERS, UNKNOWN_GENDER] as const;

const MEMBERS = object(
  {
    total: count('Members of every status.'),
    by_status: counts(MEMBER_STATUSES, 'Members of each status.'),
    by_gender: counts(GENDER_VALUES, 'Active members; `unknown` counts members without a registered gender.'),
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
      product: nullable(string({ description: 'The product as written in the deliveries.' })),
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

const FRANCS = decimalSchema(2, 'Rwandan francs.');

const LOANS = object(
  Object.fromEntries(
    LOAN_STATUSES.map((status) => [
      status,
      object(
        {
          count: count(),
          amount: FRANCS,
          paid_amount: FRANCS,
          outstanding: decimalSchema(
            2,
            'The sum left to pay, at least 0 for each loan; approved and defaulted loans only.',
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
    total_contributions_rwf: FRANCS,
    total_withdrawals_rwf: FRANCS,
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
    description: 'The last event that is included: pass it to /events as `after` to continue.',
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
      cooperatives: count('Cooperatives of every status.'),
      active_members: count(),
    }),
    { description: `By ${name}; null for cooperatives without a registered ${name}.` },
  );

export const STATISTICS = object(SUMS, { title: 'Statistics' });
export const COUNTRY_STATISTICS = object(
  { ...SUMS, districts: group('district', string()), sectors: group('sector', choiceOf(SECTORS)) },
  { title: 'CountryStatistics' },
);

const money = (minor: ExactInteger): string => formatDecimal(minor, 2);
/** Returns the counts of all values, including zeros. */
const allOf = <T extends string>(values: readonly T[], counts: Counts) =>
  Object.fromEntries(values.map((value) => [value, counts[value] ?? 0])) as { [value in T]: number };

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

export type DescribedStatistics = Static<typeof STATISTICS>;
export type DescribedCountry = Static<typeof COUNTRY_STATISTICS>;

/** @param withFinancials false to return null for production, loans and savings */
export const describeStatistics = (
  statistics: Statistics,
  zone: TimeZone,
  withFinancials: boolean,
): DescribedStatistics => ({
  as_of: formatDateTime(statistics.asOf, zone),
  sequence: statistics.sequence,
  members: {
    total: statistics.members.total,
    by_status: allOf(MEMBER_STATUSES, statistics.members.byStatus),
    by_gender: allOf(GENDER_VALUES, statistics.members.byGender),
    by_role: allOf(ROLES, statistics.members.byRole),
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
