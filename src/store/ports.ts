/**
 * What the rest may ask of storage. One method is one atomic change; a write's promise settles when the
 * change is on disk. An engine is one folder beside this file, with the same entities as file names;
 * `open.ts` knows them.
 */
import type { ApiKey, ApiKeyValues } from '../domain/api-keys.ts';
import type {
  Cooperative,
  CooperativeFilter,
  CooperativeSummary,
  CooperativeValues,
} from '../domain/cooperatives.ts';
import type { FieldMessages } from '../domain/errors.ts';
import type { Loan } from '../domain/loans.ts';
import type { Membership } from '../domain/lookup.ts';
import type { Member, MemberFilter, MemberValues } from '../domain/members.ts';
import type { Page, PageRequest } from '../domain/page.ts';
import type { Decision } from '../domain/rate-limit.ts';
import type { SavingsSummary } from '../domain/savings.ts';

/** An engine in this process answers at once, one across a network later. */
export type Awaitable<T> = T | PromiseLike<T>;

export const isThenable = <T>(value: Awaitable<T>): value is PromiseLike<T> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';

/**
 * Goes on with a value, in the same event-loop iteration when it is there already: the way of the hottest
 * route.
 */
export const whenReady = <T, U>(value: Awaitable<T>, work: (value: T) => Awaitable<U>): Awaitable<U> =>
  isThenable(value) ? value.then(work) : work(value);

/**
 * `unusable`: what the location names cannot be used (there is nothing, it belongs to another program or
 * release, it cannot be opened); `failed`: it can, but the disk, the file or another process's lock stood in
 * the way.
 */
export type StorageErrorKind = 'unusable' | 'failed';

/** A fault of storage itself; the message tells an operator what to do. */
export class StorageError extends Error {
  readonly kind: StorageErrorKind;

  constructor(kind: StorageErrorKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StorageError';
    this.kind = kind;
  }
}

/** How storage has work done at the end of the current event-loop iteration. */
export interface EndOfIteration {
  /** @param work must not throw */
  atEnd(step: 'storage', work: () => void): void;
}

/**
 * How the parts of a lookup that do not depend on the moment are shown: storage keeps them as they will be
 * sent.
 */
export interface ReadModelSerializer {
  /** @param loans in the order of the history, as many as it shows */
  serializeLoanHistory(loans: readonly Loan[]): string;
  serializeSavingsSummary(summary: SavingsSummary): string;
}

/** What storage is given by whoever composes the program. */
export interface StorageDependencies {
  readonly clock: { monotonicMs(): number };
  readonly scheduler: EndOfIteration;
  readonly serializer: ReadModelSerializer;
}

/**
 * One storage location: everything that a command or the service does with it. Nothing is opened before it is
 * asked for.
 */
export interface Storage {
  /** As the configuration names it. */
  readonly location: string;
  /** Whether a registry was created there. */
  exists(): Awaitable<boolean>;
  /** Creates what is missing. @throws StorageError */
  openRegistry(): RegistryStore;
  /**
   * @param use `serve`: found by their secrets on each request, created when missing; `issue`: changed by a
   * command, created when missing; `manage`: changed by a command, must exist
   * @throws StorageError
   */
  openKeys(use: 'serve' | 'issue' | 'manage'): ApiKeyStore;
  /** Creates what is missing. @throws StorageError */
  openImportSession(): ImportSession;
  /**
   * Reads everything and changes nothing.
   * @throws StorageError `unusable` when there is no registry of this release
   */
  check(): Awaitable<readonly Finding[]>;
  /**
   * Computes what lookups would otherwise compute each time. Other writers wait for a small part of it at
   * most.
   * @returns how many members it was computed for
   * @throws StorageError
   */
  refreshReadModel(nowSeconds: number): Awaitable<number>;
  /** Removes what killed imports have left. @returns how many imports that were */
  removeStaleStaging(): Awaitable<number>;
}

/** One thing that a check has looked at. */
export interface Finding {
  readonly check: string;
  /** Null when the check passed. */
  readonly fault: string | null;
  /** What was counted or read. */
  readonly value?: string;
}

export interface CooperativeStore {
  find(id: number): Awaitable<Cooperative | undefined>;
  list(filter: CooperativeFilter, request: PageRequest): Awaitable<Page<Cooperative>>;
  /** What a write of these values would be refused for: a code that another cooperative has. */
  conflicts(values: Partial<CooperativeValues>, exceptId?: number): Awaitable<FieldMessages>;
  /**
   * @throws RegistryError `invalid` for a conflict, `unavailable` when the database is busy or the disk
   * nearly full
   */
  create(values: CooperativeValues, nowSeconds: number): Promise<Cooperative>;
  /**
   * Replaces the values; equal ones leave the row untouched, `updatedAt` included.
   * @param decide gives the new values from the stored row, inside the transaction; it may throw a
   * RegistryError
   * @throws RegistryError `not_found`, `invalid`, `unavailable`
   */
  update(
    id: number,
    decide: (stored: Cooperative) => CooperativeValues,
    nowSeconds: number,
  ): Promise<Cooperative>;
}

/** The values of a member that lists show as they are stored, by the names under which they show them. */
export const LISTED_FIELDS = [
  ...(['id', 'member_code', 'full_name', 'identity_card'] as const),
  ...(['mobile', 'gender', 'role', 'status'] as const),
] as const;

/**
 * What a list shows of a member. An engine writes the stored values as JSON while it reads them: giving them
 * one by one, to be written afterwards, costs a page a third of its speed
 * (docs/decisions/0018-lists-as-text.md).
 */
export interface ListedMember {
  readonly id: number;
  /** A JSON object of LISTED_FIELDS, in their order; each is a string or null. */
  readonly json: string;
  readonly cooperative: CooperativeSummary;
  /** Epoch seconds. */
  readonly registrationDate: number;
}

export interface MemberStore {
  find(id: number): Awaitable<Member | undefined>;
  list(filter: MemberFilter, request: PageRequest): Awaitable<Page<ListedMember>>;
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
  /**
   * What a write of these values would be refused for: an unknown cooperative, a NID or code already there.
   */
  conflicts(values: Partial<MemberValues>, exceptId?: number): Awaitable<FieldMessages>;
  /**
   * @throws RegistryError `invalid` for a conflict, `unavailable` when the database is busy or the disk
   * nearly full
   */
  create(values: MemberValues, nowSeconds: number): Promise<Member>;
  /**
   * Replaces the values; equal ones leave the row untouched, `updatedAt` included.
   * @param decide gives the new values from the stored row, inside the transaction; it may throw a
   * RegistryError
   * @throws RegistryError `not_found`, `unavailable`, `invalid`: also for another cooperative than the stored
   * one
   */
  update(id: number, decide: (stored: Member) => MemberValues, nowSeconds: number): Promise<Member>;
}

export interface RegistryStore {
  readonly cooperatives: CooperativeStore;
  readonly members: MemberStore;
  /** Whether the database answers reads and takes writes. */
  isReady(): Awaitable<boolean>;
  /**
   * Resolves when a commit has failed in a way that leaves the disk in doubt, with the error to report;
   * pending as long as there was none. No write is taken after it: a check of the registry and a new start go
   * on.
   */
  readonly failed: Promise<StorageError>;
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
  find(id: number, nowSeconds: number): Awaitable<ApiKey | undefined>;
  list(nowSeconds: number): Awaitable<readonly ApiKey[]>;
  create(values: ApiKeyValues, secret: KeySecret, nowSeconds: number): Awaitable<ApiKey>;
  /** @returns undefined when there is no such key */
  update(
    id: number,
    changes: Partial<ApiKeyValues> & { isActive?: boolean },
    nowSeconds: number,
  ): Awaitable<ApiKey | undefined>;
  /**
   * Adds a secret; those before it end.
   * @param overlapSeconds how long the earlier secrets stay valid
   */
  rotate(
    id: number,
    secret: KeySecret,
    overlapSeconds: number,
    nowSeconds: number,
  ): Awaitable<ApiKey | undefined>;
  close(): Awaitable<void>;
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
  /** Empty when the fault concerns no single column. */
  readonly column: string;
  readonly message: string;
  /** What the fault refuses: the row of its line, or the file. */
  readonly refuses: 'row' | 'file';
}

/** A checked cell, or null for an empty one. */
export type StagedValue = string | number | null;

export interface StagedRow {
  /** Line on which the row starts; no two rows of a file have the same. */
  readonly line: number;
  /** One for each column of the kind, in its order; null where a cell of a refused row is faulty. */
  readonly values: readonly StagedValue[];
}

/** How many rows of a file are new, differ from the stored row of the same natural key, or equal it. */
export interface ImportChanges {
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
}

export interface ImportResult extends ImportChanges {
  /** Milliseconds for which other writers were locked out; 0 where an engine locks nobody out. */
  readonly lockMs: number;
  /**
   * What went wrong after the commit, while the read model was refreshed: the rows are written all the same.
   */
  readonly errorAfterCommit?: unknown;
}

/**
 * Imports files one after the other. The order of calls is a matter of types: `stage` a file, `check` it, and
 * apply what the check accepted. Nothing but `AcceptedFile.apply` writes to the registry. An object of one
 * step is of no use any more once the next step was taken or another file was staged: its calls then throw.
 *
 * Rows and faults come in batches of a few thousand, so that a network is crossed once a batch; memory must
 * not grow with the file. An engine keeps them where no other client sees them: a temporary table of the
 * connection, a file.
 */
export interface ImportSession {
  /** Whether the registry has neither cooperatives nor members. */
  isRegistryEmpty(): Awaitable<boolean>;
  /**
   * Begins a file and discards the one before, unless it was applied or kept.
   * @param columns those the file has: of a stored row, a missing one keeps its value, an empty cell may
   * clear it
   */
  stage(kind: ImportKind, columns: ReadonlySet<string>): Awaitable<FileStaging>;
  /** Discards what is staged. May be called at any time, after an error too. */
  close(): Awaitable<void>;
}

/** A file while it is read. */
export interface FileStaging {
  /**
   * @param rows in order of line, within and across batches; the rows with faults too, so that all are
   * checked
   */
  addRows(rows: readonly StagedRow[]): Awaitable<void>;
  /** @param faults found while reading; may precede or follow the rows of their lines */
  addFaults(faults: readonly ImportFault[]): Awaitable<void>;
  /**
   * Ends the file: finds references that lead nowhere and keys that are not unique, against the registry,
   * inside the file, and against the files of this session that were kept for reference. Takes no lock that a
   * writer waits for.
   */
  check(options: CheckOptions): Awaitable<CheckedFile>;
}

export interface CheckOptions {
  /** Accepts a file in which 20 or more national IDs all end in 0. */
  readonly acceptTrailingZero: boolean;
  /** Leaves refused rows out; without it, one refused row refuses the file. */
  readonly skipInvalid: boolean;
}

export type CheckedFile = RefusedFile | AcceptedFile;

interface FileCheck {
  /** All rows that were staged, the refused ones included. */
  readonly rows: number;
  /** Lines that have a fault. */
  readonly refusedRows: number;
  readonly faults: number;
  /** In order of line, and on one line in the order in which they were found. May be read several times. */
  listFaults(): AsyncIterable<ImportFault>;
}

export interface RefusedFile extends FileCheck {
  readonly isRefused: true;
  /** Whether a fault refuses the file by itself, as that of a header does, and not only its rows. */
  readonly isFileFaulty: boolean;
}

/** A file whose rows, but for the refused ones, may be applied. */
export interface AcceptedFile extends FileCheck {
  readonly isRefused: false;
  /**
   * What an apply would do to the registry as it is now. Costs about as much as comparing every row that
   * exists, so it is asked for only where nothing is applied. Rows of files that were kept for reference
   * count as not stored.
   */
  countChanges(): Awaitable<ImportChanges>;
  /** Lets the next files of this session refer to the rows of this one, which is not applied: a dry run. */
  keepForReference(): Awaitable<void>;
  /**
   * Writes all accepted rows in one transaction, and none of them on an error. What was checked must hold
   * inside this transaction: an engine checks again there, unless it knows that nobody has written since. New
   * rows get ids in order of line. A row that equals the stored one is not written and keeps its `updatedAt`.
   * @param nowSeconds epoch seconds, for the timestamps of written rows and for empty cells that mean "now"
   * @throws RegistryError `unavailable` when the registry has changed and no longer agrees with the file,
   * when other writers keep the lock, or when the disk is full
   */
  apply(nowSeconds: number): Awaitable<ImportResult>;
}
