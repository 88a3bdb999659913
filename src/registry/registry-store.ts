/** Interfaces of the registry's stores: cooperatives, members, entries, loans and payments. */

import type { StoreOf } from '../access/api-keys.ts';
import type { Actor, EntityStore, ResponseToSave } from '../sqlite/entity-store.ts';
import type { FieldMessages, Page, PageRequest } from '../values/errors.ts';
import type { Membership } from './consolidate.ts';
import type {
  Cooperative,
  CooperativeFilter,
  CooperativeSummary,
  CooperativeValues,
} from './cooperatives.ts';
import type {
  DeliveryFilter,
  NewDelivery,
  NewSavingsTransaction,
  Period,
  ProductionEntry,
  SavingsTransaction,
} from './entries.ts';
import type { LoanFilter, LoanRecord, LoanValues } from './loans.ts';
import type { Member, MemberFilter, MemberSearch, MemberValues } from './members.ts';
import type { PaymentFilter, PaymentRecord, PaymentValues } from './payments.ts';

/**
 * Adds entries of one kind. Both methods throw like `MemberStore.find` for the id of a member: RegistryError
 * `not_found` and `gone`.
 */
export interface EntryWrites<Values, Entry> {
  /** Conflicts with stored rows, besides faults of single values. */
  conflicts(memberId: number, values: Partial<Values>): FieldMessages;
  /**
   * Adds an entry, with its origin in the history and one event of its member. Opens the savings account if
   * the number is unused.
   * @param keep as for EntityStore.create
   * @throws RegistryError `invalid` for a conflict, `repeated`, `unavailable`
   */
  create(
    memberId: number,
    values: Values,
    nowSeconds: number,
    actor: Actor,
    keep?: ResponseToSave<Entry> | undefined,
  ): Promise<Entry>;
}

/** Lists are ordered by instant, newest first, then by the higher id. */
export interface EntryStore {
  /** Empty for a member that does not exist. */
  listDeliveries(memberId: number, filter: DeliveryFilter, request: PageRequest): Page<ProductionEntry>;
  /** Transactions of all savings accounts of the member; empty for a member that does not exist. */
  listSavingsTransactions(memberId: number, filter: Period, request: PageRequest): Page<SavingsTransaction>;
  readonly deliveries: EntryWrites<NewDelivery, ProductionEntry>;
  readonly savingsTransactions: EntryWrites<NewSavingsTransaction, SavingsTransaction>;
}

export type CooperativeStore = EntityStore<Cooperative, CooperativeValues, CooperativeFilter>;

/**
 * A member in a list. The engine writes the stored values as JSON while reading them: passing them
 * individually and serializing them later would cost a third of a page's speed
 * (docs/decisions/0018-lists-as-text.md).
 */
export interface ListedMember {
  readonly id: number;
  /** JSON object of the id and of LISTED_TEXTS, in their order; each is a string or null. */
  readonly json: string;
  readonly cooperative: CooperativeSummary;
  /** Epoch seconds. */
  readonly registrationDate: number;
}

export interface MemberStore extends EntityStore<Member, MemberValues, MemberFilter, ListedMember> {
  /** @throws RegistryError `gone` for a member that was merged into another, or erased */
  find(id: number): Member | undefined;
  /**
   * Active memberships of a person, newest registration first.
   * @param at epoch seconds at which the production window ends; null omits the financials
   */
  listActiveMemberships(identityCard: string, at: number | null): readonly Membership[];
  findActiveMembership(
    cooperativeId: number,
    identityCard: string,
    at: number | null,
  ): Membership | undefined;
  /** Current number of the person whose former number was replaced; undefined for any other number. */
  findCurrentIdentityCard(former: string): string | undefined;
}

export type LoanStore = EntityStore<LoanRecord, LoanValues, LoanFilter>;

/**
 * Each write also updates the paid amount of the loan, with its history and event, in the same transaction.
 */
export type PaymentStore = EntityStore<
  PaymentRecord,
  PaymentValues,
  PaymentFilter,
  PaymentRecord,
  [loan: LoanRecord],
  // May throw a RegistryError, as for an update; `invalid` also for a total with too many digits.
  [values: PaymentValues, decide: (loan: LoanRecord) => PaymentValues]
>;

export interface OwnedRows {
  readonly cooperatives: CooperativeStore;
  readonly members: MemberStore;
  readonly entries: EntryStore;
  readonly loans: LoanStore;
  readonly payments: PaymentStore;
}

/** Store for the holders of keys: no read or write without the cooperatives that the key may see. */
export interface NarrowableStore<Rows = OwnedRows> {
  /** The same rows as far as they are visible; others do not exist, neither for reads nor for writes. */
  readonly narrowedTo: StoreOf<Rows>;
}

export interface Searching {
  /**
   * @throws RegistryError (as a rejection) `unavailable` if too many searches wait, or names are missing from
   *   the index
   */
  members(asked: MemberSearch): Promise<Page<ListedMember>>;
  /** Number of searches under way. */
  waiting(): number;
  close(): Promise<void>;
}
