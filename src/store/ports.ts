/**
 * What the rest may ask of storage. One method is one atomic change; a write's promise settles when the change
 * is on disk. An engine is one folder beside this file, with the same nouns as file names.
 */
import type { ApiKey, ApiKeyValues } from '../domain/api-keys.ts';
import type { Cooperative, CooperativeFilter, CooperativeValues } from '../domain/cooperatives.ts';
import type { FieldMessages } from '../domain/errors.ts';
import type { Membership } from '../domain/lookup.ts';
import type { Member, MemberFilter, MemberValues } from '../domain/members.ts';
import type { Page, PageRequest } from '../domain/page.ts';
import type { Decision } from '../domain/rate-limit.ts';

/** An engine in this process answers at once, one across a network later. */
export type Awaitable<T> = T | PromiseLike<T>;

export const isThenable = <T>(value: Awaitable<T>): value is PromiseLike<T> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';

/** Goes on with a value, in the same event-loop iteration when it is there already: the way of the hottest route. */
export const whenReady = <T, U>(value: Awaitable<T>, work: (value: T) => Awaitable<U>): Awaitable<U> =>
  isThenable(value) ? value.then(work) : work(value);

export interface CooperativeStore {
  find(id: number): Awaitable<Cooperative | undefined>;
  list(filter: CooperativeFilter, request: PageRequest): Awaitable<Page<Cooperative>>;
  /** What a write of these values would be refused for: a code that another cooperative has. */
  conflicts(values: Partial<CooperativeValues>, exceptId?: number): Awaitable<FieldMessages>;
  /** @throws RegistryError `invalid` for a conflict, `unavailable` when the database is busy or the disk nearly full */
  create(values: CooperativeValues, nowSeconds: number): Promise<Cooperative>;
  /**
   * Replaces the values; equal ones leave the row untouched, `updatedAt` included.
   * @param decide gives the new values from the stored row, inside the transaction; it may throw a RegistryError
   * @throws RegistryError `not_found`, `invalid`, `unavailable`
   */
  update(
    id: number,
    decide: (stored: Cooperative) => CooperativeValues,
    nowSeconds: number,
  ): Promise<Cooperative>;
}

export interface MemberStore {
  find(id: number): Awaitable<Member | undefined>;
  list(filter: MemberFilter, request: PageRequest): Awaitable<Page<Member>>;
  /**
   * The active memberships of a person, newest registration first.
   * @param at epoch seconds at which the production window ends; null leaves the financial blocks out
   */
  listActiveMemberships(identityCard: string, at: number | null): Awaitable<readonly Membership[]>;
  findActiveMembership(
    cooperativeId: number,
    identityCard: string,
    at: number | null,
  ): Awaitable<Membership | undefined>;
  /** What a write of these values would be refused for: an unknown cooperative, a NID or code already there. */
  conflicts(values: Partial<MemberValues>, exceptId?: number): Awaitable<FieldMessages>;
  /** @throws RegistryError `invalid` for a conflict, `unavailable` when the database is busy or the disk nearly full */
  create(values: MemberValues, nowSeconds: number): Promise<Member>;
  /**
   * Replaces the values; equal ones leave the row untouched, `updatedAt` included.
   * @param decide gives the new values from the stored row, inside the transaction; it may throw a RegistryError
   * @throws RegistryError `not_found`, `invalid`, `unavailable`
   */
  update(id: number, decide: (stored: Member) => MemberValues, nowSeconds: number): Promise<Member>;
}

export interface RegistryStore {
  readonly cooperatives: CooperativeStore;
  readonly members: MemberStore;
  /** Whether the database answers. */
  isReady(): Awaitable<boolean>;
  close(): Promise<void>;
}

/** One secret of a key: only its SHA-256 is stored. */
export interface KeySecret {
  readonly hash: Uint8Array;
  readonly prefix: string;
}

export interface ApiKeyStore {
  /**
   * The key that the secret belongs to, disabled and expired ones too; ended secrets are unknown.
   * @param hash SHA-256 of the whole key in hexadecimal digits
   */
  findBySecret(hash: string, nowSeconds: number): Awaitable<ApiKey | undefined>;
  find(id: number, nowSeconds: number): ApiKey | undefined;
  list(nowSeconds: number): readonly ApiKey[];
  create(values: ApiKeyValues, secret: KeySecret, nowSeconds: number): ApiKey;
  /** @returns undefined when there is no such key */
  update(
    id: number,
    changes: Partial<ApiKeyValues> & { isActive?: boolean },
    nowSeconds: number,
  ): ApiKey | undefined;
  /**
   * Adds a secret; those before it end.
   * @param overlapSeconds how long the earlier secrets stay valid
   */
  rotate(id: number, secret: KeySecret, overlapSeconds: number, nowSeconds: number): ApiKey | undefined;
  close(): void;
}

/** Counts the requests of each key in its two windows, both exact (docs/api.md#rate-limits). */
export interface RateLimiter {
  /** Decides on one request now and, when it is admitted, counts it. */
  take(key: ApiKey): Awaitable<Decision>;
  /** The state of both windows, without counting a request. */
  usage(key: ApiKey): Awaitable<Pick<Decision, 'hour' | 'day'>>;
}

export const IMPORT_KINDS = ['cooperatives', 'members', 'production', 'loans', 'savings'] as const;
/** In the order in which later ones refer to earlier ones. */
export type ImportKind = (typeof IMPORT_KINDS)[number];

export interface ImportFault {
  /** Line on which the row starts; the header is line 1. */
  readonly line: number;
  /** Empty when the fault is about the whole row. */
  readonly column: string;
  readonly message: string;
}

export interface ImportResult {
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  /** Milliseconds for which the registry's write lock was held. */
  readonly lockMs: number;
}

/** A checked cell, or null for an empty one. */
export type StagedValue = string | number | null;

/** One import of one or more files: everything is staged and checked beside the registry before it is written. */
export interface ImportSession {
  /** Whether the registry holds neither cooperatives nor members. */
  isRegistryEmpty(): boolean;
  /** Begins a file, forgetting the one before. @param columns those the file has */
  start(kind: ImportKind, columns: ReadonlySet<string>): void;
  /** @param values of every column of the kind, in its order; of a faulty row, null where the fault is */
  stage(line: number, values: readonly StagedValue[]): void;
  /** @param isWhole whether it refuses the file, not a row alone */
  addFault(fault: ImportFault, isWhole?: boolean): void;
  /** Ends the reading of a file and checks references and uniqueness, against the registry and inside the file. */
  check(options: { acceptTrailingZero: boolean }): void;
  counts(): { rows: number; refusedRows: number; faults: number; isWholeRefused: boolean };
  /** In order of line. */
  faults(): Iterable<ImportFault>;
  faultsOf(line: number): readonly ImportFault[];
  /** Leaves the refused rows out of what is applied. */
  dropRefused(): void;
  /** Lets the following files of a dry run refer to this one. */
  addToReferences(): void;
  /** @throws RegistryError `unavailable` when another process holds the lock for too long; nothing was written then */
  apply(nowSeconds: number): ImportResult;
  close(): void;
}
