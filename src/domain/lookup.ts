/** One person over all cooperatives: what the lookup by national ID answers. */
import type { Loan } from './loans.ts';
import type { Gender, Member } from './members.ts';
import type { ProductionSummary } from './production.ts';
import type { SavingsSummary } from './savings.ts';

/** JSON text, as it is sent. */
export type JsonFragment = string;

/** The three blocks that only a key with `members:financials` sees. */
export interface Financials {
  readonly production: ProductionSummary;
  /** At most LOAN_HISTORY_LIMIT, still to start, then by start date, last those that never started. */
  readonly loanHistory: JsonFragment;
  readonly savingsSummary: JsonFragment;
}

/** How the blocks that do not depend on the moment are shown: a store keeps them as they will be sent. */
export interface BlockTexts {
  /** Differs when the texts would: of another release, or in another time zone. */
  readonly stamp: string;
  loans(loans: readonly Loan[]): JsonFragment;
  savings(summary: SavingsSummary): JsonFragment;
}

/** Characters of a stamp. */
export const STAMP_LENGTH = 8;

/** What a lookup shows of a member. */
export type LookedUpMember = Omit<Member, 'createdAt' | 'updatedAt'>;

export interface Membership {
  readonly member: LookedUpMember;
  /** Null for keys that may not see it. */
  readonly financials: Financials | null;
}

export interface ConsolidatedMember {
  readonly identityCard: string;
  readonly primaryFullName: string;
  readonly nameVariants: readonly string[];
  readonly gender: Gender | null;
  readonly dateOfBirth: string | null;
  readonly mobile: string | null;
  readonly memberships: readonly Membership[];
}

/**
 * Consolidates the active memberships of one person.
 * @param memberships newest registration first; of equal ones, the higher id
 * (docs/api.md#looking-up-a-person)
 * @returns undefined when there is none
 */
export function consolidate(memberships: readonly Membership[]): ConsolidatedMember | undefined {
  const newest = memberships[0]?.member;
  if (newest === undefined) return undefined;
  const firstKnown = <K extends 'gender' | 'dateOfBirth' | 'mobile'>(field: K): Member[K] | null =>
    memberships.find(({ member }) => member[field] !== null)?.member[field] ?? null;
  return {
    identityCard: newest.identityCard,
    primaryFullName: newest.fullName,
    nameVariants: [...new Set(memberships.map(({ member }) => member.fullName))],
    gender: firstKnown('gender'),
    dateOfBirth: firstKnown('dateOfBirth'),
    mobile: firstKnown('mobile'),
    memberships,
  };
}
