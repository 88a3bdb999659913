/** Interfaces of an import, from its first row to its commit. */

import type { ImportFault } from '../formats/records.ts';
import type { ImportChanges, ImportRecord, StagedChange } from '../journal/operations.ts';
import type { ImportKind } from '../registry/file-columns.ts';
import type { TimeZone } from '../values/date-time.ts';
import type { StagedRow, StagedValue } from '../values/declared-fields.ts';
import type { Text } from '../values/message.ts';

/** Kinds of warnings (docs/import-reference.md#warnings). One that stops a file must be confirmed. */
export const WARNINGS = {
  ended_status: { stops: true },
  many_changes: { stops: true },
  other_cooperative: { stops: true },
  moved: { stops: true },
  name_differs: { stops: true },
  near_duplicate: { stops: true },
  changed_id: { stops: true },
  newer_version: { stops: true },
  already_stored: { stops: true },
  removed: { stops: true },
  impossible_id: { stops: false },
  contradicted_id: { stops: false },
  born_after_registration: { stops: false },
  overpaid: { stops: false },
  beyond_amount: { stops: false },
  same_payment: { stops: false },
  same_entry: { stops: false },
  unusual_weight: { stops: false },
  before_registration: { stops: false },
  low_interest: { stops: false },
  after_death: { stops: false },
  other_name: { stops: false },
  end_before_start: { stops: false },
  totals_differ: { stops: false },
  totals_not_compared: { stops: false },
} as const;

export type WarningKind = keyof typeof WARNINGS;

export interface ImportWarning {
  readonly kind: WarningKind;
  readonly stops: boolean;
  /** Message for the operator, without personal data. */
  readonly message: Text;
  /** Number of lines that it is about. */
  readonly count: number;
  /** The lines in their order. May be read until the apply. */
  lines(): Iterable<number>;
}

/** Rows that the replaced import created, and the file no longer has. */
export interface MissingRows {
  readonly count: number;
  /** True if an apply removes them; members and cooperatives stay. */
  readonly areRemoved: boolean;
  /** Rows as stored, in the order of the columns of the kind and of ids. May be read until the apply. */
  list(): Iterable<readonly StagedValue[]>;
}

export interface ImportResult extends ImportChanges {
  readonly importId: number;
  /** Milliseconds for which other writers were locked out; 0 for an engine that locks nobody out. */
  readonly lockMs: number;
  /** Error after the commit, while the read model was refreshed; the rows are written nevertheless. */
  readonly errorAfterCommit?: unknown;
}

export interface RegistrySize {
  readonly cooperatives: number;
  readonly members: number;
  readonly deliveries: number;
  readonly loans: number;
  readonly payments: number;
  /** Transactions of savings accounts. */
  readonly transactions: number;
}

/**
 * Imports files one after the other. Types enforce the order of calls: `stage` a file, `check` it, and apply
 * what the check accepted. Nothing but `AcceptedFile.apply` writes to the registry. The object of a step
 * throws once the next step was taken or another file was staged.
 *
 * Rows and faults come in batches of a few thousand, so that a network is crossed once per batch; memory must
 * not grow with the file. An engine keeps them where no other client sees them: in a temporary table of the
 * connection, or a file.
 */
export interface ImportSession {
  /** Current numbers of rows of each kind; exact, in time that does not grow with them. */
  readSize(): RegistrySize;
  /** True if the registry has neither cooperatives nor members. */
  isRegistryEmpty(): boolean;
  /**
   * Begins a file and discards the one before, unless it was applied or kept.
   * @param columns those the file has: a stored row keeps its value in a missing one, while an empty cell may
   *   clear it
   */
  stage(kind: ImportKind, columns: ReadonlySet<string>): FileStaging;
  /**
   * The last import of this kind of the same bytes that was not undone.
   * @param sha256 64 hexadecimal digits
   */
  findSameImport(kind: ImportKind, sha256: string): number | undefined;
  /** Discards staged data. May be called at any time, after an error too. */
  close(): void;
}

/** A file that is being read. */
export interface FileStaging {
  /**
   * @param rows in order of line, within and across batches; including rows with faults, so that all are
   *   checked
   */
  addRows(rows: readonly StagedRow[]): void;
  /** @param faults found while reading; may precede or follow the rows of their lines */
  addFaults(faults: readonly ImportFault[]): void;
  /**
   * Ends the file: detects references without a target and keys that are not unique, against the registry,
   * inside the file, and against the files of this session that were kept for reference. Takes no lock that a
   * writer waits for.
   */
  check(options: CheckOptions): CheckedFile;
}

export interface CheckOptions {
  /** Accepts a file in which 20 or more national IDs all end in 0. */
  readonly acceptTrailingZero: boolean;
  /** Leaves refused rows out; by default, one refused row refuses the file. */
  readonly skipInvalid: boolean;
  /**
   * Also writes values that the file sets back to those before a correction over HTTP or by a command; by
   * default they are kept.
   */
  readonly overwritesCorrections?: boolean | undefined;
  /** Imports rows of members who were erased; by default they are refused. */
  readonly despiteErasure?: boolean | undefined;
  /** SHA-256 of the bytes of the file, 64 hexadecimal digits, by which an earlier import of them is found. */
  readonly sha256?: string | undefined;
  /**
   * The layout by which they were read, as the import will record it (`map`): another sheet has other rows.
   */
  readonly readAs?: unknown;
  /**
   * The import of which this file is the newer version: rows that it created and the file no longer has are
   * removed. Members and cooperatives stay. Not together with `skipInvalid`.
   */
  readonly replaces?: number | undefined;
  /** Time zone in which faults show instants; by default UTC. */
  readonly zone?: TimeZone | undefined;
  /** True for a single row typed by a user, who can be asked about more than the sender of a file. */
  readonly isTyped?: boolean | undefined;
}

export type CheckedFile = RefusedFile | AcceptedFile;

interface FileCheck {
  /** Number of staged rows, including the refused ones. */
  readonly rows: number;
  /** Number of lines that have a fault. */
  readonly refusedRows: number;
  readonly faults: number;
  /**
   * Faults in order of line, and on one line in the order in which they were found. May be read several
   * times.
   */
  listFaults(): Iterable<ImportFault>;
  /** Warnings about rows without faults, for the sender of the file, those that stop it first. */
  readonly warnings: readonly ImportWarning[];
}

export interface RefusedFile extends FileCheck {
  readonly isRefused: true;
  /** True if a fault refuses the file by itself, as one of the header does, and not only its rows. */
  readonly isFileFaulty: boolean;
}

/** A file whose rows, except for the refused ones, may be applied. */
export interface AcceptedFile extends FileCheck {
  /** True if values are kept that `overwritesCorrections` would import. */
  readonly canOverwriteKept: boolean;
  readonly isRefused: false;
  /**
   * Changes that an apply would make to the registry as it was when the file was checked. Rows of files that
   * were kept for reference count as not stored.
   */
  readonly changes: ImportChanges;
  /** Numbers of stored values that an apply would change, by column; a column without any is missing. */
  readonly columns: ReadonlyMap<string, number>;
  /** Every stored value that an apply would change, in order of line. May be read until the apply. */
  listChanges(): Iterable<StagedChange>;
  /**
   * Values that the file would change but an apply keeps as they are stored, in the same order. May be read
   * until the apply.
   */
  listKept(): Iterable<StagedChange>;
  /** Undefined for a file that replaces none. */
  readonly missing: MissingRows | undefined;
  /** Dry run: lets the next files of this session refer to the rows of this one, which is not applied. */
  keepForReference(): void;
  /**
   * Writes all accepted rows in one transaction, and none of them on an error. The results of the check must
   * hold inside this transaction: an engine repeats the checks there, unless it knows that nobody has written
   * since. New rows get ids in order of line. A row that equals the stored one is not written and keeps its
   * `updatedAt`. The import and each value that it changes are recorded in the same transaction.
   * @param nowSeconds epoch seconds, for the timestamps of written rows and for empty cells that mean "now"
   * @param options `onlyAsShown`: refuses to apply a file that would by now make other changes than the
   *   confirmed ones
   * @throws RegistryError `unavailable` if the registry has changed and no longer agrees with the file, if
   *   other writers keep the lock, or if the disk is full
   */
  apply(nowSeconds: number, record: ImportRecord, options?: { readonly onlyAsShown: boolean }): ImportResult;
}

/** Imports under way, in any process. The progress of each is known only to itself. */
export interface RunningImports {
  readonly running: number;
  /** Size of their staging files. */
  readonly stagedBytes: number;
}
