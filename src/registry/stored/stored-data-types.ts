/** Types of stored data for commands and the desk: each row with every value. */

import type { StagedValue } from '../../values/declared-fields.ts';
import type { HistoryEntry } from '../changes/record-changes.ts';
import type { ChangedEntity } from '../changes/tables.ts';

/**
 * Stored values of a row, by field name in bodies and import files: amounts in minor units, weights in grams,
 * instants in epoch seconds. Ids and counts are text.
 */
export interface StoredRow {
  readonly [field: string]: StagedValue;
}

/** Each list is in id order. */
export interface StoredMembership {
  readonly member: StoredRow;
  readonly deliveries: readonly StoredRow[];
  readonly loans: readonly StoredRow[];
  readonly payments: readonly StoredRow[];
  readonly savingsAccounts: readonly StoredRow[];
  readonly savingsTransactions: readonly StoredRow[];
}

/** Change of a row of a person. Members that were merged into the person's memberships count too. */
export interface StoredChange extends HistoryEntry {
  readonly entity: ChangedEntity;
  readonly row: string;
}

/** At least one identifier must match. If `cooperativeCode` is set, the cooperative must match too. */
export interface MemberName {
  readonly id?: number;
  readonly memberCode?: string;
  /** Current or former national ID. */
  readonly identityCard?: string;
  /**
   * Set for search input, which may be outdated or in the wrong letter case. If nothing matches, the search
   * then tries codes and references in upper case, and then the codes of merged members. Corrections need
   * exact identifiers, so they do not set `isTyped`.
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

export interface NamedMember extends FoundMember {
  readonly status: string;
}

/** All data of a person, in all cooperatives and statuses. */
export interface StoredPerson {
  readonly identityCard: string;
  readonly formerIdentityCards: readonly string[];
  readonly memberships: readonly StoredMembership[];
  /** First the creation of each row, then all changes from oldest to newest. */
  readonly history: readonly StoredChange[];
  /** Number of responses with data of the person, saved for repeated requests. */
  readonly keptResponses: number;
}
