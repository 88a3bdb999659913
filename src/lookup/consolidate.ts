/** One person over all cooperatives: what the lookup by national ID returns. */

import type { ProductionSummary } from '../domain/entries/production.ts';
import type { CooperativeSummary } from '../domain/membership/cooperatives.ts';
import { CONSOLIDATED, type LOOKED_UP, type Member } from '../domain/membership/members.ts';

/**
 * What only a key with `members:financials` sees of a membership. Loans and savings do not depend on the
 * moment: they are opaque here, already serialized by the code that shows them.
 */
export interface Financials {
  readonly production: ProductionSummary;
  readonly loanHistory: string;
  readonly savingsSummary: string;
}

type LookedUp = (typeof LOOKED_UP)[number];
type Consolidated = (typeof CONSOLIDATED)[number];

/** What a lookup shows of a member, and what it is found by. */
export type LookedUpMember = Pick<
  Member,
  'id' | 'cooperativeId' | 'identityCard' | 'registrationDate' | LookedUp | Consolidated
>;

export interface Membership extends LookedUpMember {
  readonly cooperative: CooperativeSummary;
  /** Null for keys that may not see it. */
  readonly financials: Financials | null;
}

/** What the newest registration says that says anything. */
type Known = { readonly [property in Consolidated]: Member[property] | null };

export interface ConsolidatedMember extends Known {
  readonly identityCard: string;
  readonly primaryFullName: string;
  readonly nameVariants: readonly string[];
  readonly memberships: readonly Membership[];
}

/** Newest registration first; of equal ones, the higher id (docs/api.md#looking-up-a-person). */
export const byNewestRegistration = (
  a: Pick<Membership, 'registrationDate' | 'id'>,
  b: Pick<Membership, 'registrationDate' | 'id'>,
): number => b.registrationDate - a.registrationDate || b.id - a.id;

/**
 * Consolidates the active memberships of one person.
 * @param memberships in the order of `byNewestRegistration`
 * @returns undefined for an empty list
 */
export function consolidate(memberships: readonly Membership[]): ConsolidatedMember | undefined {
  const newest = memberships[0];
  if (newest === undefined) return undefined;
  const names = memberships.map(({ fullName }) => fullName);
  const consolidated: { [property: string]: unknown } = {
    identityCard: newest.identityCard,
    primaryFullName: newest.fullName,
    nameVariants: names.length === 1 ? names : [...new Set(names)],
    memberships,
  };
  for (const property of CONSOLIDATED) consolidated[property] = firstKnown(memberships, property);
  return consolidated as unknown as ConsolidatedMember;
}

function firstKnown(memberships: readonly Membership[], property: Consolidated): string | null {
  for (const { [property]: value } of memberships) if (value !== null) return value;
  return null;
}
