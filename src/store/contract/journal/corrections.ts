/** Corrections of who is who: one method is one transaction, recorded like an import and undone by its id. */
import type { EntryKind, EntrySelection } from '../../../domain/entries/entries.ts';
import type { Text } from '../../../domain/values/message.ts';

/** What a correction changes rows of, by the names that the history uses; parents before children. */
export const CHANGED_ENTITIES = [
  ...(['cooperatives', 'members', 'production', 'loans'] as const),
  ...(['payments', 'accounts', 'savings'] as const),
] as const;
export type ChangedEntity = (typeof CHANGED_ENTITIES)[number];

export interface CorrectionOptions {
  /** Why, for the history: 1 to 500 characters, without national IDs. */
  readonly reason: string;
  /** Who, as the operating system or the embedding program names them. */
  readonly systemUser: string;
  /** Epoch seconds. */
  readonly nowSeconds: number;
  /** Does everything and takes it back: the result is what would have happened. */
  readonly isDryRun?: boolean | undefined;
  /** The fingerprint of a dry run: a correction that would do anything else is a dry run, too. */
  readonly agreed?: string | undefined;
}

/** How many rows of an entity a correction creates, changes and removes. */
export interface ChangedRows {
  readonly created: number;
  readonly changed: number;
  readonly removed: number;
}

/** Two rows that cannot both be where the correction would put them. @typeParam Said a sentence */
export interface Collision<Said = Text> {
  readonly entity: ChangedEntity;
  /** What people call the row that would move: a member code, reference or account number. */
  readonly row: string;
  readonly message: Said;
}

/** Who changes from one cooperative to another. */
export interface Transfer {
  readonly memberId: number;
  /** Code of the other cooperative. */
  readonly to: string;
  /** Of the member there. */
  readonly memberCode: string;
  /** `YYYY-MM-DD`, not in the future. */
  readonly on: string;
  /** When that day begins in the registry's zone, in epoch seconds. */
  readonly startsAt: number;
}

/** A member that a correction is about, as it was before; one that is new, as it is. */
export interface NamedMember {
  readonly id: number;
  readonly cooperativeCode: string;
  readonly memberCode: string;
  readonly fullName: string;
  /**
   * Of two that are merged one goes and the other stays; of a transfer one ends and the other begins; a
   * member whose entries are removed stays.
   */
  readonly fate: 'changes' | 'goes' | 'stays' | 'ends' | 'begins';
}

/**
 * The person whose number is replaced, and whoever the new number is of, or was: two people of whom it makes
 * one. Without personal data.
 */
export interface ComparedPeople {
  /** Of the memberships of each. */
  readonly memberIds: readonly [replaced: readonly number[], holding: readonly number[]];
  /** What contradicts that they are one person, in words; empty when nothing does. */
  readonly contradictions: readonly string[];
}

export interface CorrectionDone<Said = Text> {
  readonly outcome: 'done';
  /** Under which it is recorded and can be undone; null after a dry run. */
  readonly correctionId: number | null;
  /** Of a dry run: the same only for the same values of the same rows. */
  readonly fingerprint?: string;
  /** Entities of which a row was created, changed or removed. */
  readonly rows: { readonly [entity in ChangedEntity]?: ChangedRows };
  /**
   * Who is meant, when it is about a person, a member or entries: personal data. Empty for other corrections,
   * and once a person has been erased.
   */
  readonly members: readonly NamedMember[];
  /** What the operator should look at; without personal data. */
  readonly notes: readonly Said[];
  /** Whom a new national ID was of before. */
  readonly compared?: ComparedPeople;
  /** It cannot be undone. */
  readonly isFinal?: boolean;
  /** Nothing was done now: this correction has done it before. */
  readonly isRepeated?: boolean;
  /** Milliseconds for which other writers were locked out. */
  readonly lockMs: number;
  /** What went wrong after the commit, while the read model was refreshed. */
  readonly errorAfterCommit?: unknown;
}

/** Nothing was done. */
export interface CorrectionRefused<Said = Text> {
  readonly outcome: 'refused';
  /** Why, without personal data. */
  readonly message: Said;
  /** All of them; empty when something else is the reason. */
  readonly collisions: readonly Collision<Said>[];
  /** It would make these people one, and somebody has to say that they are: `samePerson`. */
  readonly compared?: ComparedPeople;
}

export type CorrectionResult<Said = Text> = CorrectionDone<Said> | CorrectionRefused<Said>;

/** What may be agreed to when a national ID is replaced. */
export interface ReplacementOptions {
  /**
   * A former number of somebody else may be taken as the new one; where it is not one, the number that is
   * replaced is not kept.
   */
  readonly releases?: boolean | undefined;
  /** Whoever has the new number, or had it, is the same person. */
  readonly samePerson?: boolean | undefined;
  /** Only this membership gets the new number; the others keep theirs. */
  readonly memberId?: number | undefined;
}

/**
 * Every method throws a RegistryError: `invalid` for a reason or national ID that cannot be one,
 * `unavailable` when other writers keep the lock or the disk is full.
 */
export interface CorrectionStore {
  /**
   * Gives every membership of `old` the number `current`; `old` keeps finding the person. If `current` is
   * somebody's, it is refused without `samePerson`; with it, both become one person, and two memberships in
   * one cooperative are merged.
   */
  replaceIdentityCard(
    old: string,
    current: string,
    options: CorrectionOptions & ReplacementOptions,
  ): CorrectionResult;
  /** Lets a former number be given to somebody else: it finds nobody any more. */
  releaseIdentityCard(former: string, options: CorrectionOptions): CorrectionResult;
  /**
   * Gives everything of one member to the other, who keeps its own values and gets those it has not. Both are
   * of one cooperative, or have one national ID.
   */
  mergeMembers(fromId: number, intoId: number, options: CorrectionOptions): CorrectionResult;
  /**
   * Ends a membership, which keeps everything, and begins one of the same person in another cooperative. An
   * import refuses entries of the old one that are dated later.
   */
  transferMember(transfer: Transfer, options: CorrectionOptions): CorrectionResult;
  /**
   * Sets aside that two members may be one person. Repeated, it gives the correction that has done so.
   */
  dismissDuplicate(oneId: number, otherId: number, options: CorrectionOptions): CorrectionResult;
  /**
   * Records that the memberships of a person contradict each other, and yet are of one person. Repeated, it
   * gives the correction that has done so.
   */
  acceptContradictions(identityCard: string, options: CorrectionOptions): CorrectionResult;
  /** Moves a member with everything to the cooperative with this code. */
  moveMember(memberId: number, code: string, options: CorrectionOptions): CorrectionResult;
  /**
   * Moves all members, merging those who are in both cooperatives; the one without members is dissolved then.
   */
  mergeCooperatives(fromCode: string, intoCode: string, options: CorrectionOptions): CorrectionResult;
  /**
   * Every membership gets the status `deceased` and the date of death.
   * @param date `YYYY-MM-DD`, not in the future
   */
  recordDeath(identityCard: string, date: string, options: CorrectionOptions): CorrectionResult;
  /**
   * Removes what says who somebody is, in every membership and its history, and keeps a hash of the numbers,
   * so that an import does not bring the person back. It cannot be undone.
   */
  erasePerson(identityCard: string, options: CorrectionOptions): CorrectionResult;
  /** Removes all entries of a kind that are selected; loans only when they have no payments. */
  removeEntries(kind: EntryKind, selection: EntrySelection, options: CorrectionOptions): CorrectionResult;
  close(): void;
}
