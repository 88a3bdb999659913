/**
 * The access ledger: who has read whose data (docs/ledger.md). What answers with personal data records the
 * reading first, and sends nothing when it cannot be recorded.
 */

import { FIELD_GROUPS, type FieldGroup } from '../../domain/values/declared-fields.ts';

export { FIELD_GROUPS, type FieldGroup };

/** Whose data a reading showed. At least one of them is given. */
export interface Subject {
  /**
   * National IDs: those that were asked for, and those of the persons shown. The ledger holds a keyed hash of
   * each, never the number.
   */
  readonly identityCards?: readonly string[];
  /** Members shown, by id. */
  readonly memberIds?: readonly number[];
  /** Everything that a filter lets through, as of an event. */
  readonly all?: {
    readonly asOfSequence: number;
    /** Ids of the only cooperatives; null: all of them. */
    readonly cooperativeIds: readonly number[] | null;
  };
}

/** Who read: the holder of a key over HTTP, or a user of the system by a command or an embedding program. */
export type Reader = { readonly keyId: number } | { readonly user: string };

export interface Reading {
  /** Epoch milliseconds. */
  readonly timeMs: number;
  readonly requestId: string;
  readonly reader: Reader;
  /** The template of a route with its method, or the words of a command: never a value. */
  readonly route: string;
  readonly fields: readonly FieldGroup[];
  /** Of the response; 200 for a command. */
  readonly status: number;
  /** The client's address; null for a command. */
  readonly address: string | null;
  /** `X-Purpose` and `X-End-User`: 1 to 200 printable characters; null when not given. */
  readonly purpose: string | null;
  readonly endUser: string | null;
  /** A page of a list, which shows the members of the subject; not one member, nor an export. */
  readonly isPage?: boolean;
  readonly subject: Subject;
}

/** What records readings. */
export interface AccessLedger {
  /**
   * Records readings together.
   * @returns when they are on disk, the receipt of each: `{sequence}-{hexadecimal digits}`
   * @throws RegistryError `unavailable` with the reason `ledger` (as a rejection) when they cannot be
   * recorded: nothing of them may be shown then
   */
  record(readings: readonly Reading[]): Promise<readonly string[]>;
  /** False while the disk does not answer: nothing can be recorded then. */
  isRecording(): boolean;
  /** What metrics show of the ledger of a service. */
  state?(): LedgerState;
  /** Ends after what was given to `record`, but does not wait for a disk that does not answer. */
  close(): Promise<void>;
}

export interface LedgerState {
  /** Files that were damaged or taken away since the service has started, and replaced by new ones. */
  readonly replacedFiles: number;
  /** How many readings fit when the disk is full, about; undefined before the first reading. */
  readonly reservedReadings: number | undefined;
}

/** What the ledger of a service needs. */
export interface ServedLedgerOptions {
  readonly clock: { now(): number; monotonicMs(): number };
  /** For how many days readings are kept. */
  readonly days: number;
  /** Logs what an operator should know. */
  readonly note: (message: string) => void;
  /** @param durationMs until the readings were on disk, or could not be recorded; it must not throw */
  readonly measure?: ((readings: number, durationMs: number, isRecorded: boolean) => void) | undefined;
}

/** As a person is named in entries. @param identityCard 16 digits; hashed as it is */
export type HashPerson = (identityCard: string) => string;

/** Readings that were recorded together. */
export interface LedgerBatch {
  readonly chain: number;
  readonly origin: string;
  /** The sequence of its first entry. */
  readonly first: number;
  readonly count: number;
  /** In hexadecimal digits. */
  readonly hash: string;
  /** Of the key that has hashed its national IDs. */
  readonly keyId: string;
  /** The lines of its entries: to look for something in them is faster than to parse them. */
  readonly lines: string;
}

/** What is written of a reading; what is not there was not given, or does not apply. */
export interface StoredReading {
  /** In UTC, with milliseconds. */
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
  /** A page of a list. */
  readonly page?: true;
  readonly all?: { readonly as_of: number; readonly cooperatives: readonly number[] | null };
}

export interface LedgerEntry extends StoredReading {
  readonly chain: number;
  readonly origin: string;
  readonly sequence: number;
  readonly receipt: string;
}

export interface VerifiedChain {
  readonly chain: number;
  readonly origin: string;
  /** Entries that are sound. */
  readonly entries: number;
  /** The last entry before the first place that is not sound, for later comparison; 0 without any. */
  readonly lastSequence: number;
  readonly lastHash: string;
  /** The last sequence that retention has removed; 0 when nothing was removed. */
  readonly removedThrough: number;
  /** What is not sound there, what it means, and what to do; null when all is sound. */
  readonly fault: string | null;
}

export interface LedgerVerification {
  /** Entries that are sound. */
  readonly entries: number;
  readonly chains: readonly VerifiedChain[];
  /** What is not sound: what it means, and what to do. Empty: all is sound. */
  readonly faults: readonly string[];
}

export interface CheckedReceipt {
  /** The reading that the receipt is of; undefined when the ledger does not hold it. */
  readonly entry: LedgerEntry | undefined;
  /** What the check means, in a sentence. */
  readonly message: string;
}

/** A file of the ledger that is damaged, or that this user may not open. */
export interface UnreadableFile {
  readonly name: string;
  readonly reason: string;
}

/** Reads what is in the ledger, also while others write it: batch by batch, in bounded memory. */
export interface LedgerReader {
  /**
   * Every batch of every chain once, in the order in which each chain was written. Whether they are sound is
   * for `verify` to say.
   */
  batches(): Iterable<LedgerBatch>;
  /** Files that were passed over; complete once all batches were read. */
  readonly unreadable: readonly UnreadableFile[];
  /** @param text only entries whose lines contain it: the others are not parsed */
  entriesOf(batch: LedgerBatch, text?: string): LedgerEntry[];
  /** @returns undefined for a key that was lost or damaged: whose numbers it has hashed is unknown then */
  findPersonHash(keyId: string): HashPerson | undefined;
  /** Reads every byte and changes nothing; others may write meanwhile. */
  verify(): LedgerVerification;
  /** Whether the ledger holds the reading of a receipt, and everything before it is as it was. */
  verifyReceipt(text: string): CheckedReceipt;
  close(): void;
}

/** How the ledger is doing, in a few milliseconds. */
export interface LedgerCondition {
  readonly chains: number;
  readonly files: number;
  /** Those that are kept. */
  readonly entries: number;
  readonly bytes: number;
  /** Names of files that cannot be read. */
  readonly unreadable: readonly string[];
  /** Names of files that were taken away, as far as later ones tell. */
  readonly missing: readonly string[];
  /** Names of files that are older than readings are kept, while later months are missing. */
  readonly tooOld: readonly string[];
  /** How many readings fit when the disk is full, about. */
  readonly reservedReadings: number;
  /** Epoch milliseconds; null when there is none. */
  readonly newestMs: number | null;
  /** When retention has last removed readings, in epoch milliseconds, and how many in all. */
  readonly removedAtMs: number | null;
  readonly removed: number;
  /** What is wrong with it; null when nothing is. */
  readonly fault: 'open to others' | 'not writable' | 'does not answer' | null;
}

/** For how long readings are kept. */
export interface Retention {
  /** Epoch milliseconds. */
  readonly nowMs: number;
  /** For how many days at least. */
  readonly days: number;
  /** Names of files that somebody has looked at: they go although later months are missing. */
  readonly named?: readonly string[];
}

/** Names of files, the oldest first. */
export interface OldLedgerFiles {
  /** Those that retention removes. */
  readonly removable: readonly string[];
  /** Those that are too old, while later months are missing: somebody has to look first. */
  readonly waiting: readonly string[];
}

export interface RemovedLedgerFiles {
  readonly names: readonly string[];
  readonly entries: number;
}
