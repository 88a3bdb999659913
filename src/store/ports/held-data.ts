/** What the registry holds, row by row and with every value: for the operator's commands. */
import type { Awaitable } from './awaitable.ts';
import type { StagedValue } from './import-session.ts';

/** Kinds of entries that can be listed and removed one by one. */
export const ENTRY_KINDS = ['production', 'savings', 'loans'] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** All entries of a member, or the one that has a reference in a cooperative. */
export type EntrySelection =
  | { readonly memberId: number }
  | { readonly cooperativeCode: string; readonly reference: string };

/**
 * The values of a row by the names of bodies and import files: as stored, so amounts in minor units, weights
 * in grams and instants in epoch seconds; ids and counts as text.
 */
export interface HeldRow {
  readonly [field: string]: StagedValue;
}

export interface HeldDataStore {
  /** In order of id; empty when nothing is selected. */
  listEntries(kind: EntryKind, selection: EntrySelection): Awaitable<readonly HeldRow[]>;
  close(): Awaitable<void>;
}
