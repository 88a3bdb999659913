/** What statistics say of a cooperative, and of several together (docs/api.md#statistics). */
import { LOAN_STATUSES, type LoanStatus } from './lending/loans.ts';
import { formatDate, startOfDay, type TimeZone } from './values/date-time.ts';
import { type ExactInteger, narrow } from './values/decimal.ts';

/** Calendar months of production, the present one included. */
export const STATISTICS_MONTHS = 24;

/** How many there are of each value; values of nobody may be left out. */
export interface Counts {
  [value: string]: number;
}

/** The gender of those of whom none is registered. */
export const UNKNOWN_GENDER = 'unknown';

/** Members that were erased are in none of these. */
export interface MemberTotals {
  total: number;
  readonly byStatus: Counts;
  /** Of active members. */
  readonly byGender: Counts;
  readonly byRole: Counts;
  readonly byJoiningYear: Counts;
}

/** What was delivered of a product in a month, by members who were erased since as well. */
export interface ProductTotals {
  /** `2026-10` in the registry's zone. */
  readonly month: string;
  readonly product: string | null;
  readonly deliveries: number;
  /** Who delivered. */
  readonly members: number;
  readonly grams: ExactInteger;
}

export interface LoanTotals {
  count: number;
  amountMinor: ExactInteger;
  paidAmountMinor: ExactInteger;
  /** What is left of each loan that is being repaid, not less than 0. */
  outstandingMinor: ExactInteger;
}

export interface SavingsTotals {
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
  /** Of the last event that they include. */
  readonly sequence: number;
}

/** The cooperatives of a district or sector; null: of those that have none. */
export interface GroupTotals {
  readonly name: string | null;
  readonly cooperatives: number;
  readonly activeMembers: number;
}

export interface CountryStatistics extends Statistics {
  readonly districts: readonly GroupTotals[];
  readonly sectors: readonly GroupTotals[];
}

/** The loans that somebody still has to repay. */
export const isRepaid = (status: string): boolean => status === 'approved' || status === 'defaulted';

export const addExact = (one: ExactInteger, other: ExactInteger): ExactInteger => {
  const sum = Number(one) + Number(other);
  return Number.isSafeInteger(sum) ? sum : narrow(BigInt(one) + BigInt(other));
};

export function addCount(counts: Counts, value: string, count = 1): void {
  counts[value] = (counts[value] ?? 0) + count;
}

export const noMembers = (): MemberTotals => ({
  ...{ total: 0, byStatus: {}, byGender: {}, byRole: {}, byJoiningYear: {} },
});

export const noLoans = (): CooperativeTotals['loans'] =>
  Object.fromEntries(
    LOAN_STATUSES.map((status) => [
      status,
      { count: 0, amountMinor: 0, paidAmountMinor: 0, outstandingMinor: 0 },
    ]),
  ) as unknown as CooperativeTotals['loans'];

/** A month, and the epoch second with which it begins in the zone. */
export interface Month {
  readonly month: string;
  readonly from: number;
}

/** The months of production and the one after them, the first one first. @param now epoch seconds */
export function monthsUntil(now: number, zone: TimeZone): readonly Month[] {
  const [year, number] = formatDate(now, zone).split('-').map(Number) as [number, number];
  const last = year * 12 + number - 1;
  return Array.from({ length: STATISTICS_MONTHS + 1 }, (_, i) => {
    const at = last - STATISTICS_MONTHS + 1 + i;
    const month = `${String(Math.floor(at / 12)).padStart(4, '0')}-${String((at % 12) + 1).padStart(2, '0')}`;
    return { month, from: startOfDay(`${month}-01`, zone) };
  });
}

/** By month, then product; those without one last. */
export const inOrder = (production: Iterable<ProductTotals>): ProductTotals[] =>
  [...production].sort((a, b) => compare(a.month, b.month) || compare(a.product ?? LAST, b.product ?? LAST));
/** No text comes after it. */
const LAST = '\u{10ffff}';
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** A member belongs to one cooperative: counts of people add up too. */
export function sumTotals(all: Iterable<CooperativeTotals>): CooperativeTotals {
  const members = noMembers();
  const loans = noLoans();
  const production = new Map<string, { -readonly [name in keyof ProductTotals]: ProductTotals[name] }>();
  let savings: SavingsTotals = { accounts: 0, contributionsMinor: 0, withdrawalsMinor: 0 };
  for (const each of all) {
    members.total += each.members.total;
    for (const group of ['byStatus', 'byGender', 'byRole', 'byJoiningYear'] as const)
      for (const value in each.members[group])
        addCount(members[group], value, each.members[group][value] as number);
    for (const totals of each.production) {
      const key = `${totals.month} ${totals.product === null ? '' : `=${totals.product}`}`;
      const sum = production.get(key);
      if (sum === undefined) {
        production.set(key, { ...totals });
        continue;
      }
      sum.deliveries += totals.deliveries;
      sum.members += totals.members;
      sum.grams = addExact(sum.grams, totals.grams);
    }
    for (const status of LOAN_STATUSES) addLoans(loans[status], each.loans[status]);
    savings = {
      accounts: savings.accounts + each.savings.accounts,
      contributionsMinor: addExact(savings.contributionsMinor, each.savings.contributionsMinor),
      withdrawalsMinor: addExact(savings.withdrawalsMinor, each.savings.withdrawalsMinor),
    };
  }
  return { members, production: inOrder(production.values()), loans, savings };
}

function addLoans(
  sum: LoanTotals,
  { count, amountMinor, paidAmountMinor, outstandingMinor }: LoanTotals,
): void {
  if (count === 0) return;
  sum.count += count;
  sum.amountMinor = addExact(sum.amountMinor, amountMinor);
  sum.paidAmountMinor = addExact(sum.paidAmountMinor, paidAmountMinor);
  sum.outstandingMinor = addExact(sum.outstandingMinor, outstandingMinor);
}
