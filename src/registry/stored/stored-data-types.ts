/** Types of the stored data that the operator's commands and the desk read row by row, with every value. */

import type { StagedValue } from '../../values/declared-fields.ts';
import type { PageRequest } from '../../values/errors.ts';
import type { ChangedEntity } from '../changes/correction-kinds.ts';
import type { HistoryEntry } from '../changes/record-changes.ts';
import type { EntryKind } from '../entries.ts';
import type { Described, Likeness } from '../likeness.ts';

/**
 * Values of a row by the names of bodies and import files, as stored: amounts in minor units, weights in
 * grams, instants in epoch seconds. Ids and counts are text.
 */
export interface StoredRow {
  readonly [field: string]: StagedValue;
}

/** A membership with everything that belongs to it; each list in id order. */
export interface StoredMembership {
  readonly member: StoredRow;
  readonly deliveries: readonly StoredRow[];
  readonly loans: readonly StoredRow[];
  readonly payments: readonly StoredRow[];
  readonly savingsAccounts: readonly StoredRow[];
  readonly savingsTransactions: readonly StoredRow[];
}

/** A change of a row of a person, or of a row merged into one. */
export interface StoredChange extends HistoryEntry {
  readonly entity: ChangedEntity;
  readonly row: string;
}

/** Identifiers of a member; each one given finds members. */
export interface MemberName {
  readonly id?: number;
  readonly memberCode?: string;
  /** Current or former. */
  readonly identityCard?: string;
  /**
   * Set for input that a person typed for a search. A code or reference without a match is then retried in
   * upper case, and a former code finds the member that its holder was merged into. Corrections need exact
   * identifiers.
   */
  readonly isTyped?: true;
  /** Reference of a delivery, savings transaction, loan or payment of the member. */
  readonly reference?: string;
  readonly cooperativeCode?: string;
}

export interface FoundMember {
  readonly id: number;
  readonly cooperativeCode: string;
  readonly memberCode: string;
  readonly fullName: string;
}

/** Sort orders of lists of a cooperative: texts ascending, days and amounts descending. */
export const ROW_ORDERS = ['name', 'code', 'day', 'what', 'amount', 'left', 'reference', 'loan'] as const;
export type RowOrder = (typeof ROW_ORDERS)[number];

/** Page request in the default order of the list, or in another of its orders. */
export interface OrderedRequest extends PageRequest {
  readonly order?: RowOrder | undefined;
}

export type RecordedKind = EntryKind | 'payments';

export interface RecordedRow extends FoundMember {
  readonly rowId: string;
  readonly reference: string;
  /**
   * Epoch seconds of the delivery, transaction, payment or start of the loan; null for a loan without a start
   * date.
   */
  readonly at: number | null;
  /** Product, kind of transaction, status of the loan or method of payment; `void` for a void payment. */
  readonly what: string | null;
  /** Grams for a delivery, otherwise minor units; withdrawals are negative. */
  readonly amount: number;
  /** Reference of the loan of a payment; null for other rows. */
  readonly loan: string | null;
}

/** A loan past its end date that is not fully paid back. */
export interface LateLoan extends FoundMember {
  readonly reference: string;
  readonly amountMinor: number;
  readonly paidAmountMinor: number;
  /** Epoch seconds. */
  readonly endDate: number;
}

/** A member found by a search for a name. */
export interface NamedMember extends FoundMember {
  readonly status: string;
}

/** All data of a person, in all cooperatives and statuses. */
export interface StoredPerson {
  readonly identityCard: string;
  /** Numbers that still find the person. */
  readonly formerIdentityCards: readonly string[];
  readonly memberships: readonly StoredMembership[];
  /** Origin of each row, then every change; newest last. */
  readonly history: readonly StoredChange[];
  /** Number of responses naming the person that are kept for repeated requests. */
  readonly keptResponses: number;
}

/** Members who may be one person, registered under two national IDs. */
export interface LikelyDuplicate extends Likeness {
  /** The member to remove in a merge: inactive, with fewer entries, or registered later. */
  readonly from: FoundMember;
  readonly into: FoundMember;
}

/** Groups excluded from the comparison because too many members share a value. */
export interface Crowd {
  readonly shared: 'phone' | 'name';
  /** Number of phones, or of names with a date of birth. */
  readonly groups: number;
  readonly members: number;
}

export interface LikelyDuplicates {
  /** Most likely first; one pair of memberships for any two people. */
  readonly pairs: readonly LikelyDuplicate[];
  /**
   * Number of pairs beyond the limit, the least likely ones. A pair may be counted once for each search that
   * finds it.
   */
  readonly dropped: number;
  /** Number of pairs left out because they were set aside as different people. */
  readonly dismissed: number;
  readonly crowds: readonly Crowd[];
}

/** A membership of a person whose memberships contradict each other. */
export interface ContradictoryMember extends FoundMember, Described {}

export interface ContradictoryPerson {
  /** All memberships of the person, in id order. */
  readonly members: readonly ContradictoryMember[];
  /** Worded without personal data. */
  readonly contradictions: readonly string[];
}

export interface Contradictions {
  /** Most contradictions first. */
  readonly persons: readonly ContradictoryPerson[];
  /** Number of persons left out because they were confirmed as one person and have not changed since. */
  readonly accepted: number;
  /** Number of persons dropped beyond the limit. */
  readonly dropped: number;
}

/**
 * Another person who holds or held a national ID of this person. Access to it in that period is not access to
 * this person's data.
 */
export interface OtherHolder {
  readonly identityCard: string;
  readonly memberId: number;
  /** Epoch seconds. */
  readonly since: number;
  /** Null if they hold it now. */
  readonly until: number | null;
}

/** Identifiers under which the access ledger may know a person. */
export interface PersonTraces {
  /** Every number under which the person is or was registered, the requested one first. */
  readonly identityCards: readonly string[];
  readonly otherHolders: readonly OtherHolder[];
  /** Members who are or were the person, including merged ones. */
  readonly memberIds: readonly number[];
  /** Cooperatives in which one of these members is or was registered. */
  readonly cooperativeIds: readonly number[];
  /** Epoch second of the first registration; undefined if there is none, and after an erasure. */
  readonly since: number | undefined;
  /** Epoch second of the erasure. The cooperatives of an erased person are no longer known. */
  readonly erasedAt: number | undefined;
}

/** A national ID that leads, or has led, to a person. */
export interface KnownNumber {
  readonly number: string;
  readonly current: string;
  /** Epoch second at which the number ended; null if it leads to the person now. */
  readonly until: number | null;
}
