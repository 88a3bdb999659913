/** Types of stored data, as commands and the desk read it: row by row, with every value. */

import type { StagedValue } from '../../values/declared-fields.ts';
import type { HistoryEntry } from '../changes/record-changes.ts';
import type { ChangedEntity } from '../changes/tables.ts';

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

/** Identifiers of a member; any of them finds members. */
export interface MemberName {
  readonly id?: number;
  readonly memberCode?: string;
  /** Current or former. */
  readonly identityCard?: string;
  /**
   * Set for input of a search, which may differ in case or be outdated: without a match, codes and references
   * are tried in upper case, and former codes find the member into which their holder was merged. Corrections
   * need exact identifiers.
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

/** A member found by a search for a name. */
export interface NamedMember extends FoundMember {
  readonly status: string;
}

/** All data of a person, in all cooperatives and statuses. */
export interface StoredPerson {
  readonly identityCard: string;
  /** Former numbers that find the person. */
  readonly formerIdentityCards: readonly string[];
  readonly memberships: readonly StoredMembership[];
  /** Origin of each row, then every change; newest last. */
  readonly history: readonly StoredChange[];
  /** Number of responses naming the person that are kept for repeated requests. */
  readonly keptResponses: number;
}
