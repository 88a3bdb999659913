/** One person over all cooperatives: what the lookup by national ID returns. */

import type { ProductionSummary } from '../domain/entries/production.ts';
import type { Gender, Member } from '../domain/membership/members.ts';

/**
 * What only a key with `members:financials` sees of a membership. Loans and savings do not depend on the
 * moment: they are opaque here, already serialized by the code that shows them.
 */
export interface Financials {
  readonly production: ProductionSummary;
  readonly loanHistory: string;
  readonly savingsSummary: string;
}

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

/** Newest registration first; of equal ones, the higher id (docs/api.md#looking-up-a-person). */
export const byNewestRegistration = (
  { member: a }: Pick<Membership, 'member'>,
  { member: b }: Pick<Membership, 'member'>,
): number => b.registrationDate - a.registrationDate || b.id - a.id;

/**
 * Consolidates the active memberships of one person.
 * @param memberships in the order of `byNewestRegistration`
 * @returns undefined for an empty list
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
