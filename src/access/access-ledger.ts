/**
 * The access ledger: a record of every access to personal data (docs/ledger.md). A response with personal
 * data is recorded first, and is not sent if it cannot be recorded.
 */

import { randomUUID } from 'node:crypto';
import type { Clock } from '../runtime/scheduler.ts';
import { FIELD_GROUPS, type FieldGroup } from '../values/declared-fields.ts';

export { FIELD_GROUPS, type FieldGroup };

/** The data subjects of a reading. At least one property is given. */
export interface Subject {
  /** National IDs requested and shown. The ledger stores a keyed hash of each, never the number. */
  readonly identityCards?: readonly string[];
  /** Ids of members shown. */
  readonly memberIds?: readonly number[];
  /** Everything that a filter lets through, as of an event. */
  readonly all?: {
    readonly asOfSequence: number;
    /** The only cooperatives included; null for all. */
    readonly cooperativeIds: readonly number[] | null;
  };
}

/** The accessing party: a key over HTTP, or an operating-system user of a command or of the desk. */
export type Reader = { readonly keyId: number } | { readonly user: string };

export interface AccessRecord {
  /** Epoch milliseconds. */
  readonly timeMs: number;
  readonly requestId: string;
  readonly reader: Reader;
  /** Method and template of a route, or the words of a command; never a value. */
  readonly route: string;
  readonly fields: readonly FieldGroup[];
  /** Status of the response; 200 for a command. */
  readonly status: number;
  /** The client's address; null for a command. */
  readonly address: string | null;
  /** `X-Purpose` and `X-End-User`: 1 to 200 printable characters; null if not given. */
  readonly purpose: string | null;
  readonly endUser: string | null;
  /** True for a page of a list, showing the subject's members; not for a single member or an export. */
  readonly isPage?: boolean;
  readonly subject: Subject;
}

export interface AccessLedger {
  /**
   * Records readings together.
   * @returns once they are on disk, the receipt of each: `{sequence}-{hexadecimal digits}`
   * @throws RegistryError `unavailable` with the reason `ledger` (as a rejection) if they cannot be recorded;
   * nothing of them may be shown then
   */
  record(readings: readonly AccessRecord[]): Promise<readonly string[]>;
  /** False while the disk does not respond: nothing can be recorded then. */
  isRecording(): boolean;
  /** State of a service's ledger, for metrics. */
  state?(): LedgerState;
  /** Completes the readings given to `record` so far, but does not wait for a disk that does not respond. */
  close(): Promise<void>;
}

export interface LedgerState {
  /** Files found damaged or missing since the service started, and replaced by new ones. */
  readonly replacedFiles: number;
  /** Approximate number of readings that fit when the disk is full; undefined before the first reading. */
  readonly reservedAccesses: number | undefined;
}

export interface ServedLedgerOptions {
  readonly clock: { now(): number; monotonicMs(): number };
  /** Days for which readings are kept. */
  readonly days: number;
  /** Logs a message for operators. */
  readonly note: (message: string) => void;
  /** Must not throw. @param durationMs time until the readings were on disk, or could not be recorded */
  readonly measure?: ((readings: number, durationMs: number, isRecorded: boolean) => void) | undefined;
}

/** Hashes a national ID as entries do. @param identityCard 16 digits, hashed as they are */
export type HashPerson = (identityCard: string) => string;

export interface LedgerBatch {
  readonly chain: number;
  readonly origin: string;
  /** Sequence of its first entry. */
  readonly first: number;
  readonly count: number;
  /** Hexadecimal. */
  readonly hash: string;
  /** Id of the key that hashed its national IDs. */
  readonly keyId: string;
  /** The lines of its entries: searching them is faster than parsing them. */
  readonly lines: string;
}

/** A reading as stored; absent properties were not given, or do not apply. */
export interface StoredAccess {
  /** UTC, with milliseconds. */
  readonly time: string;
  readonly request_id: string;
  readonly key_id?: number;
  readonly user?: string;
  readonly route: string;
  readonly fields: readonly FieldGroup[];
  readonly status: number;
  readonly address?: string;
  readonly purpose?: string;
  readonly end_user?: string;
  /** Hashes of national IDs, with the key of the batch. */
  readonly persons?: readonly string[];
  readonly members?: readonly number[];
  /** True for a page of a list. */
  readonly page?: true;
  readonly all?: { readonly as_of: number; readonly cooperatives: readonly number[] | null };
}

export interface LedgerEntry extends StoredAccess {
  readonly chain: number;
  readonly origin: string;
  readonly sequence: number;
  readonly receipt: string;
}

export interface VerifiedChain {
  readonly chain: number;
  readonly origin: string;
  /** Number of valid entries. */
  readonly entries: number;
  /** The last entry before the first fault, for later comparison; 0 without any. */
  readonly lastSequence: number;
  readonly lastHash: string;
  /** The last sequence that retention removed; 0 if none was removed. */
  readonly removedThrough: number;
  /** Fault with its meaning and remedy; null if the chain is valid. */
  readonly fault: string | null;
}

export interface LedgerVerification {
  /** Number of valid entries. */
  readonly entries: number;
  readonly chains: readonly VerifiedChain[];
  /** Faults with their meaning and remedy; empty if all is valid. */
  readonly faults: readonly string[];
}

export interface CheckedReceipt {
  /** The reading that the receipt is for; undefined if the ledger does not contain it. */
  readonly entry: LedgerEntry | undefined;
  /** Meaning of the result, in a sentence. */
  readonly message: string;
}

/** A ledger file that is damaged, or that this user may not open. */
export interface UnreadableFile {
  readonly name: string;
  readonly reason: string;
}

/** Reads the ledger, even while it is written to: batch by batch, in bounded memory. */
export interface LedgerReader {
  /** Yields every batch of every chain once, in the order written, without verifying them (see `verify`). */
  batches(): Iterable<LedgerBatch>;
  /** Files that were skipped; complete once all batches have been read. */
  readonly unreadable: readonly UnreadableFile[];
  /** @param text returns only entries whose lines contain it; others are not parsed */
  entriesOf(batch: LedgerBatch, text?: string): LedgerEntry[];
  /** @returns undefined for a lost or damaged key: the numbers it hashed can no longer be determined */
  findPersonHash(keyId: string): HashPerson | undefined;
  /** Reads every byte and changes nothing; the ledger may be written to meanwhile. */
  verify(): LedgerVerification;
  /** Checks that the ledger contains the reading of a receipt, and that everything before it is unchanged. */
  verifyReceipt(text: string): CheckedReceipt;
  close(): void;
}

/** Condition of the ledger, determined within a few milliseconds. */
export interface LedgerStatus {
  readonly chains: number;
  readonly files: number;
  /** Number of entries currently kept. */
  readonly entries: number;
  readonly bytes: number;
  /** Names of unreadable files. */
  readonly unreadable: readonly string[];
  /** Names of missing files, as far as later ones show. */
  readonly missing: readonly string[];
  /** Names of files past the retention period, while later months are missing. */
  readonly tooOld: readonly string[];
  /** Approximate number of readings that fit when the disk is full. */
  readonly reservedAccesses: number;
  /** Epoch milliseconds; null if there is none. */
  readonly newestMs: number | null;
  /** Epoch milliseconds of the last removal by retention; `removed` is the total of removed readings. */
  readonly removedAtMs: number | null;
  readonly removed: number;
  /** Fault of the ledger; null if there is none. */
  readonly fault: 'open to others' | 'not writable' | 'does not answer' | null;
}

/** Retention period of readings. */
export interface Retention {
  /** Epoch milliseconds. */
  readonly nowMs: number;
  /** Minimum days to keep readings. */
  readonly days: number;
  /** Names of files that an operator has inspected: they are removed although later months are missing. */
  readonly named?: readonly string[];
}

/** Names of files, oldest first. */
export interface OldLedgerFiles {
  readonly removable: readonly string[];
  /**
   * Files past the retention period, while later months are missing: an operator has to inspect them first.
   */
  readonly waiting: readonly string[];
}

export interface RemovedLedgerFiles {
  readonly names: readonly string[];
  readonly entries: number;
}

// Readings without a key, by a user of this machine: a command, the desk

/** @param user name for the ledger @param shown the data read, and further properties of the reading */
export const accessByUser = (
  clock: Clock,
  user: string,
  shown: Pick<AccessRecord, 'route' | 'fields' | 'subject'> & Partial<AccessRecord>,
): AccessRecord => ({
  timeMs: clock.now(),
  requestId: randomUUID(),
  reader: { user },
  status: 200,
  address: null,
  purpose: null,
  endUser: null,
  ...shown,
});
