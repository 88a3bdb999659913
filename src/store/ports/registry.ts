/** The registry as the rest of the program sees it: its cooperatives, members, loans and payments. */
import type { Visible } from '../../domain/access/visible.ts';
import type {
  Cooperative,
  CooperativeFilter,
  CooperativeSummary,
  CooperativeValues,
} from '../../domain/membership/cooperatives.ts';
import type { Member, MemberFilter, MemberValues } from '../../domain/membership/members.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';
import type { FieldMessages } from '../../domain/values/errors.ts';
import type { Page, PageRequest } from '../../domain/values/page.ts';
import type { Membership } from '../../lookup/consolidate.ts';
import type { EntryStore } from './entries.ts';
import type { EventStore } from './events.ts';
import type { IdempotentResponses, ResponseToKeep } from './idempotent-responses.ts';
import type { Actor } from './journal/history.ts';
import type { LoanStore } from './loans.ts';
import type { PaymentStore } from './payments.ts';
import type { StorageError } from './storage-error.ts';

export interface CooperativeStore {
  find(id: number): Awaitable<Cooperative | undefined>;
  list(filter: CooperativeFilter, request: PageRequest): Awaitable<Page<Cooperative>>;
  /** What a write of these values would be refused for: a code that another cooperative has. */
  conflicts(values: Partial<CooperativeValues>, exceptId?: number): Awaitable<FieldMessages>;
  /**
   * Adds a row, with its origin in the history.
   * @param keep the response to be kept in the same transaction, if there is none under its key
   * @throws RegistryError `repeated` when there is, `invalid` for a conflict, `unavailable` when the database
   * is busy or the disk nearly full
   */
  create(
    values: CooperativeValues,
    nowSeconds: number,
    actor: Actor,
    keep?: ResponseToKeep<Cooperative>,
  ): Promise<Cooperative>;
  /**
   * Replaces the values, and records each that differs; equal ones leave the row untouched, `updatedAt`
   * included.
   * @param decide gives the new values from the stored row, inside the transaction; it may throw a
   * RegistryError
   * @throws RegistryError `not_found`, `invalid`, `unavailable`
   */
  update(
    id: number,
    decide: (stored: Cooperative) => CooperativeValues,
    nowSeconds: number,
    actor: Actor,
  ): Promise<Cooperative>;
}

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

export interface MemberStore {
  /** @throws RegistryError `gone` for the id of a member that was merged into another */
  find(id: number): Awaitable<Member | undefined>;
  list(filter: MemberFilter, request: PageRequest): Awaitable<Page<ListedMember>>;
  /**
   * The active memberships of a person, newest registration first.
   * @param at epoch seconds at which the production window ends; null leaves the financials out
   */
  listActiveMemberships(identityCard: string, at: number | null): Awaitable<readonly Membership[]>;
  findActiveMembership(
    cooperativeId: number,
    identityCard: string,
    at: number | null,
  ): Awaitable<Membership | undefined>;
  /** The number that a person has now, by one that was replaced; undefined for any other number. */
  findCurrentIdentityCard(former: string): Awaitable<string | undefined>;
  /** What a write of these values would be refused for: an unknown cooperative, a NID or code in use. */
  conflicts(values: Partial<MemberValues>, exceptId?: number): Awaitable<FieldMessages>;
  /**
   * Adds a row, with its origin in the history.
   * @param keep the response to be kept in the same transaction, if there is none under its key
   * @throws RegistryError `repeated` when there is, `invalid` for a conflict, `unavailable` when the database
   * is busy or the disk nearly full
   */
  create(
    values: MemberValues,
    nowSeconds: number,
    actor: Actor,
    keep?: ResponseToKeep<Member>,
  ): Promise<Member>;
  /**
   * Replaces the values, and records each that differs; equal ones leave the row untouched, `updatedAt`
   * included.
   * @param decide gives the new values from the stored row, inside the transaction; it may throw a
   * RegistryError
   * @throws RegistryError `not_found`, `unavailable`, `invalid`: also for another cooperative than the stored
   * one
   */
  update(
    id: number,
    decide: (stored: Member) => MemberValues,
    nowSeconds: number,
    actor: Actor,
  ): Promise<Member>;
}

/** What belongs to cooperatives. */
export interface OwnedRows {
  readonly cooperatives: CooperativeStore;
  readonly members: MemberStore;
  readonly entries: EntryStore;
  readonly loans: LoanStore;
  readonly payments: PaymentStore;
  readonly events: EventStore;
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
  isReady(): Awaitable<boolean>;
  /**
   * Resolves when a commit has failed in a way that leaves the disk in doubt, with the error to report;
   * pending until then. No write is taken after it; the registry must be checked and started again.
   */
  readonly failed: Promise<StorageError>;
  close(): Promise<void>;
}
