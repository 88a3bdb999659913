/**
 * The access ledger records every access to personal data (docs/ledger.md). An access is recorded before the
 * data is shown. If recording fails, the data is not shown.
 */

import { randomUUID } from 'node:crypto';
import type { Clock } from '../runtime/scheduler.ts';
import type { FieldGroup } from '../values/declared-fields.ts';

/** Persons whose data is accessed. At least one property is present. */
export interface Subject {
  /** National IDs that were requested or shown. The ledger stores only a keyed hash of each number. */
  readonly identityCards?: readonly string[];
  readonly memberIds?: readonly number[];
  /** All persons of some or all cooperatives, with their data as of the event `asOfSequence`. */
  readonly all?: {
    readonly asOfSequence: number;
    /** Null for all cooperatives. */
    readonly cooperativeIds: readonly number[] | null;
  };
}

/** A key used over HTTP, or a user of this machine who runs a command or the desk. */
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
  /** True for a page of a list. The subject is all members on the page. */
  readonly isPage?: boolean;
  /** True if each of `identityCards` was looked up. `memberIds` has the members that the lookups found. */
  readonly isOfNumbers?: boolean;
  readonly subject: Subject;
}

export interface AccessLedger {
  /**
   * @returns the receipt of each access, `{sequence}-{hexadecimal digits}`, once all records are on disk
   * @throws RegistryError `unavailable` with the reason `ledger` (as a rejection) if recording fails; in
   *   that case, the data must not be shown
   */
  record(accesses: readonly AccessRecord[]): Promise<readonly string[]>;
  /** False while nothing can be recorded, because the disk does not respond. */
  isRecording(): boolean;
  state?(): LedgerState;
  /** Writes all accesses that were passed to `record`. Does not wait for a disk that does not respond. */
  close(): Promise<void>;
}

export interface LedgerState {
  /** Number of damaged or missing files that were replaced since the service started. */
  readonly replacedFiles: number;
  /** Approximate number of accesses for which space is reserved; undefined before the first access. */
  readonly reservedAccesses: number | undefined;
}

/** @param user name that the ledger records */
export const accessByUser = (
  clock: Clock,
  user: string,
  access: Pick<AccessRecord, 'route' | 'fields' | 'subject'>,
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
