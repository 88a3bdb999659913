/**
 * Access ledger: a record of every access to personal data (docs/ledger.md). A response with personal data is
 * recorded first, and is not sent if recording fails.
 */

import { randomUUID } from 'node:crypto';
import type { Clock } from '../runtime/scheduler.ts';
import type { FieldGroup } from '../values/declared-fields.ts';

/** Data subjects of an access. At least one property is present. */
export interface Subject {
  /** National IDs requested and shown. The ledger stores a keyed hash of each instead of the number. */
  readonly identityCards?: readonly string[];
  /** Ids of members shown. */
  readonly memberIds?: readonly number[];
  /** All data that a filter selects, as of an event. */
  readonly all?: {
    readonly asOfSequence: number;
    /** The only cooperatives included; null for all. */
    readonly cooperativeIds: readonly number[] | null;
  };
}

/** Party that accesses data: a key over HTTP, or an operating-system user of a command or the desk. */
type Reader = { readonly keyId: number } | { readonly user: string };

export interface AccessRecord {
  /** Epoch milliseconds. */
  readonly timeMs: number;
  readonly requestId: string;
  readonly reader: Reader;
  /** Method and template of a route, or the words of a command, without any values. */
  readonly route: string;
  readonly fields: readonly FieldGroup[];
  /** Status of the response; 200 for a command. */
  readonly status: number;
  /** Address of the client; null for a command. */
  readonly address: string | null;
  /** `X-Purpose` and `X-End-User`: 1 to 200 printable characters, or null if missing. */
  readonly purpose: string | null;
  readonly endUser: string | null;
  /** True if a page of a list was shown, with its members as the subject; false for a member or an export. */
  readonly isPage?: boolean;
  /**
   * True for a batch of lookups, one for each national ID of the subject. A member of the subject may belong
   * to any of these numbers.
   */
  readonly isOfNumbers?: boolean;
  readonly subject: Subject;
}

export interface AccessLedger {
  /**
   * Records accesses together.
   * @returns when the records are on disk, the receipt of each access: `{sequence}-{hexadecimal digits}`
   * @throws RegistryError `unavailable` with the reason `ledger` (as a rejection) if recording fails; the
   *   data must not be shown then
   */
  record(readings: readonly AccessRecord[]): Promise<readonly string[]>;
  /** False while the disk does not respond, so that nothing can be recorded. */
  isRecording(): boolean;
  /** State of a service's ledger, for metrics. */
  state?(): LedgerState;
  /** Records the accesses passed to `record` so far, without waiting for a disk that does not respond. */
  close(): Promise<void>;
}

export interface LedgerState {
  /** Number of files found damaged or missing since the service started, and replaced by new files. */
  readonly replacedFiles: number;
  /** Approximate number of accesses that fit when the disk is full; undefined before the first access. */
  readonly reservedAccesses: number | undefined;
}

// Accesses without a key, by a user of this machine through a command or the desk

/** @param user name for the ledger @param access the data read, and further properties of the access */
export const accessByUser = (
  clock: Clock,
  user: string,
  access: Pick<AccessRecord, 'route' | 'fields' | 'subject'> & Partial<AccessRecord>,
): AccessRecord => ({
  timeMs: clock.now(),
  requestId: randomUUID(),
  reader: { user },
  status: 200,
  address: null,
  purpose: null,
  endUser: null,
  ...access,
});
