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

export interface AccessLedger {
  /**
   * Records readings together.
   * @returns when they are on disk, the receipt of each: `{sequence}-{hexadecimal digits}`
   * @throws RegistryError `unavailable` with the reason `ledger` (as a rejection) when they cannot be
   * recorded: nothing of them may be shown then
   */
  record(readings: readonly Reading[]): Promise<readonly string[]>;
  /** Ends after what was given to `record`. */
  close(): Promise<void>;
}
