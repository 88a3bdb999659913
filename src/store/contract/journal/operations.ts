/** The imports and corrections that were applied: what is recorded of each, and how one is undone. */
import type { CorrectionKind } from '../../../domain/corrections.ts';
import type { ImportKind, ImportRecord, StagedChange } from '../import/import-session.ts';
import type { ChangedEntity, CorrectionOptions } from './corrections.ts';
import type { HeldRow } from './held-data.ts';
import type { Actor } from './history.ts';

export interface RecordedImport extends ImportRecord {
  readonly id: number;
  readonly kind: ImportKind | CorrectionKind;
  /** Epoch seconds. */
  readonly importedAt: number;
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly kept: number;
  readonly refusedRows: number;
  /** Rows of the import that it replaced, which its file no longer had. */
  readonly removed: number;
  /** The import of which its file was the newer version. */
  readonly replaces: number | null;
  /** The import that has replaced it and was not undone. */
  readonly replacedBy: number | null;
  /** Epoch seconds; null while it stands. */
  readonly undoneAt: number | null;
  /** Null while it stands, and where that was not recorded. */
  readonly undoneBy: string | null;
  /** Of a correction, which has no file: the name and the hash are empty then. */
  readonly reason: string | null;
}

/** A stored value that an import or a correction has changed. */
export interface RecordedChange extends Omit<StagedChange, 'line'> {
  /** Of a correction null. */
  readonly line: number | null;
}

/** A row that an operation has created or changed. */
export interface OperatedRow {
  readonly entity: ChangedEntity;
  /** What people call the row: never a national ID. */
  readonly row: string;
  /** To whom it belongs; null for a cooperative. */
  readonly memberId: number | null;
  /** What it has now, with the number of its account or the reference of its loan. */
  readonly values: HeldRow;
}

/** Why an import cannot be undone: one row that builds on it. */
export interface UndoBlocker {
  readonly kind: ImportKind | ChangedEntity;
  /** What people call the row: never a national ID. */
  readonly row: string;
  /**
   * `changed`: it was changed since; `refers`: it belongs to a row that was created; `taken`: it has
   * the member code, national ID, reference or number that another row would get back; `erased`: it is a
   * person who was erased since, or an entry of one; `replaced`: it is the import itself, of which there is
   * a newer version; `overpaid`: payments that would count again take what is paid on the loan beyond the
   * largest amount.
   */
  readonly reason: 'changed' | 'refers' | 'taken' | 'erased' | 'overpaid' | 'replaced';
  /** Who changed or created it; null for a row that is older than the history. */
  readonly actor: Actor | null;
}

export type UndoResult =
  | {
      readonly outcome: 'undone';
      /** Rows that the import had created. */
      readonly removed: number;
      /** Stored rows that have their former values again. */
      readonly restored: number;
      /** Of a dry run, and of what is not what was agreed to: nothing was undone. */
      readonly fingerprint?: string;
      /** Milliseconds for which other writers were locked out. */
      readonly lockMs: number;
      /** What went wrong after the commit, while the read model was refreshed. */
      readonly errorAfterCommit?: unknown;
    }
  | { readonly outcome: 'unknown' }
  /** What an erasure has removed is nowhere any more. */
  | { readonly outcome: 'irreversible' }
  | { readonly outcome: 'undone_before'; readonly undoneAt: number }
  | {
      readonly outcome: 'refused';
      readonly count: number;
      /** The first of them, as many as were asked for. */
      readonly blockers: readonly UndoBlocker[];
      /** Imports and corrections to undo first, with those that build on them in turn; the newest first. */
      readonly first: readonly number[];
      /** What no undo takes away: an erasure, or rows that no import has written. */
      readonly obstacle: 'erased' | 'other' | null;
    };

export interface Journal {
  /** The newest last: all, or so many before one of them. */
  list(part?: { readonly limit: number; readonly before?: number }): readonly RecordedImport[];
  find(id: number): RecordedImport | undefined;
  /**
   * Every stored value that an import has changed, in order of line; of one that was undone too. Rows that
   * were removed since are left out.
   */
  listChanges(id: number): Iterable<RecordedChange>;
  /**
   * The rows that it created or changed and that are there: for operations of few rows. Savings accounts are
   * left out: they come with their transactions.
   */
  listRows(id: number): readonly OperatedRow[];
  /**
   * Removes what an import created and puts back what it changed, in one transaction, unless something builds
   * on its rows: then nothing is done. Rows that are put back get `nowSeconds` as their time of change.
   * @param listed how many blockers are listed at most
   * @throws RegistryError `unavailable` when other writers keep the lock or the disk is full
   */
  undo(id: number, listed: number, options: Omit<CorrectionOptions, 'reason'>): UndoResult;
  close(): void;
}
