/**
 * The access ledger: a record of every access to personal data (docs/ledger.md). A response with personal
 * data is recorded first, and is not sent if it cannot be recorded.
 */

import { randomUUID } from 'node:crypto';
import type { Clock } from '../runtime/scheduler.ts';
import type { FieldGroup } from '../values/declared-fields.ts';

/** The data subjects of an access; at least one property is present. */
export interface Subject {
  /** National IDs requested and shown. The ledger stores a keyed hash of each, never the number. */
  readonly identityCards?: readonly string[];
  /** Ids of members shown. */
  readonly memberIds?: readonly number[];
  /** All data that a filter lets through, as of an event. */
  readonly all?: {
    readonly asOfSequence: number;
    /** The only cooperatives included; null for all. */
    readonly cooperativeIds: readonly number[] | null;
  };
}

/** The accessing party: a key over HTTP, or an operating-system user of a command or of the desk. */
type Reader = { readonly keyId: number } | { readonly user: string };

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
  /** True if one page of a list was shown, whose members are the subject; not for a member or an export. */
  readonly isPage?: boolean;
  /**
   * True for a batch of lookups, one for each national ID of the subject; its members belong to any of the
   * numbers.
   */
  readonly isOfNumbers?: boolean;
  readonly subject: Subject;
}

export interface AccessLedger {
  /**
   * Records accesses together.
   * @returns once they are on disk, the receipt of each: `{sequence}-{hexadecimal digits}`
   * @throws RegistryError `unavailable` with the reason `ledger` (as a rejection) if they cannot be recorded;
   *   their data may not be shown then
   */
  record(readings: readonly AccessRecord[]): Promise<readonly string[]>;
  /** False while the disk does not respond: nothing can be recorded then. */
  isRecording(): boolean;
  /** State of a service's ledger, for metrics. */
  state?(): LedgerState;
  /** Completes the accesses passed to `record` so far, but does not wait for a disk that does not respond. */
  close(): Promise<void>;
}

export interface LedgerState {
  /** Files found damaged or missing since the service started, and replaced by new ones. */
  readonly replacedFiles: number;
  /** Approximate number of accesses that fit when the disk is full; undefined before the first access. */
  readonly reservedAccesses: number | undefined;
}

// Accesses without a key, by a user of this machine: a command, the desk

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
