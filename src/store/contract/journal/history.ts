/** What has changed in the registry, by whom and when. It holds personal data, former values too. */
import type { EventActor } from '../../../domain/events.ts';
import type { StagedValue } from '../import/import-session.ts';

/** Who made a change: an API key, an import, a correction by a command, or the undo of one of these. */
export type Actor = EventActor;

/** The field of the entry that tells where a row comes from. */
export const CREATED = 'created';

export interface HistoryEntry {
  /** A field of the API or a column of an import file; `created` for the origin of the row. */
  readonly field: string;
  /** As stored: amounts in minor units, weights in grams, instants in epoch seconds. */
  readonly old: StagedValue;
  readonly new: StagedValue;
  /** Epoch seconds. */
  readonly at: number;
  /** Null for a row that is older than the history. */
  readonly actor: Actor | null;
  /** Of an import, a correction or an undo: who made it; null for a key, and where it was not recorded. */
  readonly user: string | null;
}

export interface RowHistory {
  /** The id of the member or cooperative. */
  readonly id: number;
  /** What people call it: a member code with the code of its cooperative, or the code of a cooperative. */
  readonly name: string;
  /** Its origin, then each change, the newest last. */
  readonly entries: readonly HistoryEntry[];
}

export interface HistoryStore {
  ofMember(id: number): RowHistory | undefined;
  /** Of each membership of a person, in order of id; none when nobody has this national ID now. */
  ofPerson(identityCard: string): readonly RowHistory[];
  ofCooperative(code: string): RowHistory | undefined;
  close(): void;
}
