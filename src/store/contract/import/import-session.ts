/** An import, from its first row to its commit. */

import type { TimeZone } from '../../../domain/values/date-time.ts';
import type { Text } from '../../../domain/values/message.ts';
import type { ImportWarning } from './import-warnings.ts';

/** What an import was given, as far as the registry cannot know it by itself. */
export interface ImportRecord {
  /** Without its folder. */
  readonly fileName: string;
  /** Of the bytes of the file, 64 hexadecimal digits. */
  readonly sha256: string;
  /** How the file was read; null without a map. Like `options` and `notes`, anything that JSON can hold. */
  readonly map: unknown;
  readonly options: unknown;
  /** What was read leniently or skipped; no value of the file. */
  readonly notes: unknown;
  /** Name of the operating system's user. */
  readonly systemUser: string;
  /**
   * Somebody has typed its only row: it is recorded as a correction, so that files keep its values, and its
   * reason is the kind of the row.
   */
  readonly isEntered?: true;
}

export const IMPORT_KINDS = [
  'cooperatives',
  'members',
  'production',
  'loans',
  'payments',
  'savings',
] as const;
/** In the order in which later ones refer to earlier ones. */
export type ImportKind = (typeof IMPORT_KINDS)[number];

export interface ImportFault {
  /** Line on which the row starts; the header is line 1. */
  readonly line: number;
  /** Empty when the fault concerns no single column. */
  readonly column: string;
  readonly message: Text;
  /** What the fault refuses: the row of its line, or the file. */
  readonly refuses: 'row' | 'file';
}

/** The template of a fault whose row is an earlier one again. */
export const SAME_AS_LINE = 'Same as line {line}.';

/** A checked cell, or null for an empty one. */
export type StagedValue = string | number | null;

export interface StagedRow {
  /** Line on which the row starts; no two rows of a file have the same. */
  readonly line: number;
  /**
   * One for each column of the kind, in its order; null where a cell of a refused row is invalid. A delivery
   * or savings transaction with a null `reference` gets one derived from its values
   * (docs/import-reference.md#entries-without-a-reference); an entry with a null `member_code` belongs to the
   * member with the row's `identity_card`. A loan with a `paid_amount` above 0 has a `paid_until`.
   */
  readonly values: readonly StagedValue[];
  /**
   * The imported files that have rejected the row before, as `sha256:` and the first 16 digits, separated by
   * spaces. Without a reference, the row is then none of the entries that accepted rows of these files are.
   */
  readonly rejectedFrom?: string | undefined;
}

/** How many rows of a file are new, differ from the stored row of the same natural key, or equal it. */
export interface ImportChanges {
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  /** Values that the file would change, and that stay as they are stored. */
  readonly kept: number;
  /** Rows of the import that the file replaces, which it no longer has. */
  readonly removed: number;
}

/** What the import that a file replaces has created, and the file no longer has. */
export interface MissingRows {
  readonly count: number;
  /** Whether an apply removes them; members and cooperatives stay. */
  readonly areRemoved: boolean;
  /** As stored, in the order of the columns of the kind and of ids. May be read until the apply. */
  list(): Iterable<readonly StagedValue[]>;
}

/** One value of a stored row that a file changes. */
export interface StagedChange {
  /** Line on which the file's row starts. */
  readonly line: number;
  /** What people call the row: the code of a cooperative, a member code, a reference. Never a national ID. */
  readonly row: string;
  /** Column of the file. */
  readonly column: string;
  /** As stored: amounts in minor units, weights in grams, instants in epoch seconds. */
  readonly old: StagedValue;
  readonly new: StagedValue;
}

export interface ImportResult extends ImportChanges {
  /** Under which the import is recorded. */
  readonly importId: number;
  /** Milliseconds for which other writers were locked out; 0 where an engine locks nobody out. */
  readonly lockMs: number;
  /**
   * What went wrong after the commit, while the read model was refreshed; the rows are written nevertheless.
   */
  readonly errorAfterCommit?: unknown;
}

export interface RegistrySize {
  readonly cooperatives: number;
  readonly members: number;
  readonly deliveries: number;
  readonly loans: number;
  readonly payments: number;
  /** Of savings accounts. */
  readonly transactions: number;
}

/**
 * Imports files one after the other. The order of calls is a matter of types: `stage` a file, `check` it, and
 * apply what the check accepted. Nothing but `AcceptedFile.apply` writes to the registry. The object of a
 * step throws once the next step was taken or another file was staged.
 *
 * Rows and faults come in batches of a few thousand, so that a network is crossed once a batch; memory must
 * not grow with the file. An engine keeps them where no other client sees them: a temporary table of the
 * connection, a file.
 */
export interface ImportSession {
  /** How many rows of each kind the registry has now; exact, in time that does not grow with them. */
  readSize(): RegistrySize;
  /** Whether the registry has neither cooperatives nor members. */
  isRegistryEmpty(): boolean;
  /**
   * Begins a file and discards the one before, unless it was applied or kept.
   * @param columns those the file has: of a stored row, a missing one keeps its value, an empty cell may
   * clear it
   */
  stage(kind: ImportKind, columns: ReadonlySet<string>): FileStaging;
  /**
   * The last import of this kind of the same bytes that was not undone.
   * @param sha256 64 hexadecimal digits
   */
  findSameImport(kind: ImportKind, sha256: string): number | undefined;
  /** Discards what is staged. May be called at any time, after an error too. */
  close(): void;
}

/** A file while it is read. */
export interface FileStaging {
  /**
   * @param rows in order of line, within and across batches; the rows with faults too, so that all are
   * checked
   */
  addRows(rows: readonly StagedRow[]): void;
  /** @param faults found while reading; may precede or follow the rows of their lines */
  addFaults(faults: readonly ImportFault[]): void;
  /**
   * Ends the file: finds references that lead nowhere and keys that are not unique, against the registry,
   * inside the file, and against the files of this session that were kept for reference. Takes no lock that a
   * writer waits for.
   */
  check(options: CheckOptions): CheckedFile;
}

export interface CheckOptions {
  /** Accepts a file in which 20 or more national IDs all end in 0. */
  readonly acceptTrailingZero: boolean;
  /** Leaves refused rows out; without it, one refused row refuses the file. */
  readonly skipInvalid: boolean;
  /**
   * Writes also values that the file sets back to what they were before they were corrected over HTTP or by a
   * command; without it they are kept.
   */
  readonly overwritesCorrections?: boolean | undefined;
  /** Imports rows of members who were erased; without it they are refused. */
  readonly despiteErasure?: boolean | undefined;
  /** Of the bytes of the file, 64 hexadecimal digits: they may have been imported before. */
  readonly sha256?: string | undefined;
  /** How they were read, as the record of the import will have it (`map`): another sheet has other rows. */
  readonly readAs?: unknown;
  /**
   * The import of which this file is the newer version: what that one has created and the file no longer has
   * is removed. Members and cooperatives stay. Not together with `skipInvalid`.
   */
  readonly replaces?: number | undefined;
  /** In which faults show instants; UTC without it. */
  readonly zone?: TimeZone | undefined;
  /** It is one row that somebody has typed, who can be asked about more than whoever sends a file. */
  readonly isTyped?: boolean | undefined;
}

export type CheckedFile = RefusedFile | AcceptedFile;

interface FileCheck {
  /** All rows that were staged, the refused ones included. */
  readonly rows: number;
  /** Lines that have a fault. */
  readonly refusedRows: number;
  readonly faults: number;
  /** In order of line, and on one line in the order in which they were found. May be read several times. */
  listFaults(): Iterable<ImportFault>;
  /** What the sender of the file should look at in its rows without faults, those that stop first. */
  readonly warnings: readonly ImportWarning[];
}

export interface RefusedFile extends FileCheck {
  readonly isRefused: true;
  /** Whether a fault refuses the file by itself, as that of a header does, and not only its rows. */
  readonly isFileFaulty: boolean;
}

/** A file whose rows, but for the refused ones, may be applied. */
export interface AcceptedFile extends FileCheck {
  /** Whether values are kept that `overwritesCorrections` would import. */
  readonly canOverwriteKept: boolean;
  readonly isRefused: false;
  /**
   * What an apply would do to the registry as it was when the file was checked. Rows of files that were kept
   * for reference count as not stored.
   */
  readonly changes: ImportChanges;
  /** How many stored values of each column an apply would change; a column without any is missing. */
  readonly columns: ReadonlyMap<string, number>;
  /** Every stored value that an apply would change, in order of line. May be read until the apply. */
  listChanges(): Iterable<StagedChange>;
  /** Values that the file would change and that an apply keeps as they are stored, likewise. */
  listKept(): Iterable<StagedChange>;
  /** Undefined for a file that replaces none. */
  readonly missing: MissingRows | undefined;
  /** Lets the next files of this session refer to the rows of this one, which is not applied: a dry run. */
  keepForReference(): void;
  /**
   * Writes all accepted rows in one transaction, and none of them on an error. What was checked must hold
   * inside this transaction: an engine checks again there, unless it knows that nobody has written since. New
   * rows get ids in order of line. A row that equals the stored one is not written and keeps its `updatedAt`.
   * The import and each value that it changes are recorded in the same transaction.
   * @param nowSeconds epoch seconds, for the timestamps of written rows and for empty cells that mean "now"
   * @param options `onlyAsShown`: what somebody agreed to is not done if it would change anything else by now
   * @throws RegistryError `unavailable` when the registry has changed and no longer agrees with the file,
   * when other writers keep the lock, or when the disk is full
   */
  apply(nowSeconds: number, record: ImportRecord, options?: { readonly onlyAsShown: boolean }): ImportResult;
}
