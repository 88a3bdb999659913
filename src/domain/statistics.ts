/** What statistics say of a cooperative, and of several together (docs/api.md#statistics). */
import type { LoanStatus } from './lending/loans.ts';
import { formatDate, type TimeZone } from './values/date-time.ts';
import type { ExactInteger } from './values/decimal.ts';

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
  readonly grams: ExactInteger;
}

export interface LoanTotals {
  readonly count: number;
  readonly amountMinor: ExactInteger;
  readonly paidAmountMinor: ExactInteger;
  /** What is left of each loan that is being repaid, not less than 0. */
  readonly outstandingMinor: ExactInteger;
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

/** The months of production as `2026-10`, the first one first. @param now epoch seconds */
export function monthsUntil(now: number, zone: TimeZone): readonly string[] {
  const [year, number] = formatDate(now, zone).split('-').map(Number) as [number, number];
  const last = year * 12 + number - 1;
  return Array.from({ length: STATISTICS_MONTHS }, (_, i) => {
    const at = last - STATISTICS_MONTHS + 1 + i;
    return `${String(Math.floor(at / 12)).padStart(4, '0')}-${String((at % 12) + 1).padStart(2, '0')}`;
  });
}

/** By month, then product; those without one last. */
export const inOrder = (production: Iterable<ProductTotals>): ProductTotals[] =>
  [...production].sort((a, b) => compare(a.month, b.month) || compare(a.product ?? LAST, b.product ?? LAST));
/** No text comes after it. */
const LAST = '\u{10ffff}';
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
