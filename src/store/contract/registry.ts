/** The registry as the rest of the program sees it: its cooperatives, members, loans and payments. */

import type { ApiKey } from '../../domain/access/api-keys.ts';
import type { Decision } from '../../domain/access/sliding-window.ts';
import type { Visible } from '../../domain/access/visible.ts';
import type {
  DeliveryFilter,
  NewDelivery,
  NewSavingsTransaction,
  Period,
  ProductionEntry,
  SavingsTransaction,
} from '../../domain/entries/entries.ts';
import type { LoanFilter, LoanRecord, LoanValues } from '../../domain/lending/loans.ts';
import type { PaymentFilter, PaymentRecord, PaymentValues } from '../../domain/lending/payments.ts';
import type {
  Cooperative,
  CooperativeFilter,
  CooperativeSummary,
  CooperativeValues,
} from '../../domain/membership/cooperatives.ts';
import type { Member, MemberFilter, MemberValues } from '../../domain/membership/members.ts';
import type { CountryStatistics, Statistics } from '../../domain/statistics.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';
import type { FieldMessages } from '../../domain/values/errors.ts';
import type { Page, PageRequest } from '../../domain/values/page.ts';
import type { Membership } from '../../lookup/consolidate.ts';
import type { EntityStore, IdempotentResponses, ResponseToKeep } from './entity-store.ts';
import type { EventStore } from './events.ts';
import type { Actor } from './journal/history.ts';
import type { StorageError } from './storage-error.ts';

/** Counts the requests of each key in its two windows, both exact (docs/api.md#rate-limits). */
export interface RateLimiter {
  /** Decides on one request now and, when it is admitted, counts it. */
  take(key: ApiKey): Decision;
  /** The state of both windows, without counting a request. */
  usage(key: ApiKey): Pick<Decision, 'hour' | 'day'>;
}

/**
 * Adds entries of one kind. Both refuse the id of a member that does not exist or is gone, as
 * `MemberStore.find` does, with RegistryError `not_found` and `gone`.
 */
export interface EntryWrites<Values, Entry> {
  /** What an entry of the member would be refused for, beside faults of single values. */
  conflicts(memberId: number, values: Partial<Values>): FieldMessages;
  /**
   * Adds an entry, with its origin in the history and one event of its member; a savings account that nobody
   * has is opened.
   * @param keep as of EntityStore.create
   * @throws RegistryError `invalid` for a conflict, `repeated`, `unavailable`
   */
  create(
    memberId: number,
    values: Values,
    nowSeconds: number,
    actor: Actor,
    keep?: ResponseToKeep<Entry> | undefined,
  ): Promise<Entry>;
}

/** Lists are in order of the instant, newest first; of equal ones the higher id comes first. */
export interface EntryStore {
  /** Empty for a member that does not exist. */
  listDeliveries(memberId: number, filter: DeliveryFilter, request: PageRequest): Page<ProductionEntry>;
  /** Of all savings accounts of the member; empty for one that does not exist. */
  listSavingsTransactions(memberId: number, filter: Period, request: PageRequest): Page<SavingsTransaction>;
  readonly deliveries: EntryWrites<NewDelivery, ProductionEntry>;
  readonly savingsTransactions: EntryWrites<NewSavingsTransaction, SavingsTransaction>;
}

/** Sums over cooperatives, as of one snapshot. */
export interface StatisticsStore {
  /** @param now epoch seconds @returns undefined when there is no such cooperative */
  ofCooperative(id: number, now: number): Statistics | undefined;
  /** All cooperatives that are seen, or those of a district, in any letter case. */
  ofCountry(now: number, district?: string): Awaitable<CountryStatistics>;
}

/** For the operator's command. */
export interface CommandStatistics extends StatisticsStore {
  findCooperative(code: string): CooperativeSummary | undefined;
  close(): void;
}

export type CooperativeStore = EntityStore<Cooperative, CooperativeValues, CooperativeFilter>;

/**
 * What a list shows of a member. An engine writes the stored values as JSON while it reads them: giving them
 * one by one, to be written afterwards, costs a page a third of its speed
 * (docs/decisions/0018-lists-as-text.md).
 */
export interface ListedMember {
  readonly id: number;
  /** A JSON object of the id and of LISTED_TEXTS, in their order; each is a string or null. */
  readonly json: string;
  readonly cooperative: CooperativeSummary;
  /** Epoch seconds. */
  readonly registrationDate: number;
}

export interface MemberStore extends EntityStore<Member, MemberValues, MemberFilter, ListedMember> {
  /** @throws RegistryError `gone` for the id of a member that was merged into another */
  find(id: number): Member | undefined;
  /**
   * The active memberships of a person, newest registration first.
   * @param at epoch seconds at which the production window ends; null leaves the financials out
   */
  listActiveMemberships(identityCard: string, at: number | null): readonly Membership[];
  findActiveMembership(
    cooperativeId: number,
    identityCard: string,
    at: number | null,
  ): Membership | undefined;
  /** The number that a person has now, by one that was replaced; undefined for any other number. */
  findCurrentIdentityCard(former: string): string | undefined;
}

export type LoanStore = EntityStore<LoanRecord, LoanValues, LoanFilter>;

/** Each write also sets what is paid on the loan: with its history and event, in the same transaction. */
export type PaymentStore = EntityStore<
  PaymentRecord,
  PaymentValues,
  PaymentFilter,
  PaymentRecord,
  [loan: LoanRecord],
  // As for an update, it may throw a RegistryError; `invalid` also for a total with too many digits.
  [values: PaymentValues, decide: (loan: LoanRecord) => PaymentValues]
>;

/** What belongs to cooperatives. */
export interface OwnedRows {
  readonly cooperatives: CooperativeStore;
  readonly members: MemberStore;
  readonly entries: EntryStore;
  readonly loans: LoanStore;
  readonly payments: PaymentStore;
  readonly events: EventStore;
  readonly statistics: StatisticsStore;
}

/** A store by what is seen. */
export type StoreOf<Store> = (visible: Visible) => Store;

/** All that is served to the holders of keys: nothing is read or written without saying what they see. */
export interface NarrowableStore {
  /** The same rows as far as they are seen: no others exist there, for reads nor for writes. */
  readonly narrowedTo: StoreOf<OwnedRows>;
}

export interface RegistryStore extends OwnedRows, NarrowableStore {
  readonly responses: IdempotentResponses;
  /** Whether the database answers reads and takes writes. */
  isReady(): boolean;
  /** How many searches by name are under way, the one that runs included. */
  searchesWaiting(): number;
  /**
   * Resolves when a commit has failed in a way that leaves the disk in doubt, with the error to report;
   * pending until then. No write is taken after it; the registry must be checked and started again.
   */
  readonly failed: Promise<StorageError>;
  close(): Promise<void>;
}
