/** Corrections of people and their rows: kinds, options, and the effects on rows and members. */

const CORRECTION_KINDS = [
  'nid_replace',
  'nid_release',
  'members_merge',
  'members_move',
  'members_transfer',
  'cooperatives_merge',
  'persons_deceased',
  'duplicates_dismiss',
  'duplicates_same_person',
  'entries_remove',
  'persons_erase',
  'row_enter',
] as const;
export type CorrectionKind = (typeof CORRECTION_KINDS)[number];

export interface CorrectionOptions {
  /** Reason for the history: 1 to 500 characters, without national IDs. */
  readonly reason: string;
  /** Name of the operating system's user. */
  readonly systemUser: string;
  /** Epoch seconds. */
  readonly nowSeconds: number;
  /** True to roll the correction back, so that its result is a preview. */
  readonly isDryRun?: boolean | undefined;
  /** Fingerprint of the confirmed preview. If the correction makes different changes, it is rolled back. */
  readonly agreed?: string | undefined;
}

export interface ChangedRows {
  readonly created: number;
  readonly changed: number;
  readonly removed: number;
}

/** Member affected by a correction. The values are those before the correction, except for a new member. */
export interface NamedMember {
  readonly id: number;
  readonly cooperativeCode: string;
  readonly memberCode: string;
  readonly fullName: string;
  /**
   * `goes`, `stays`: the two members of a merge. `ends`, `begins`: the two memberships of a transfer. A
   * member whose entries are removed also `stays`.
   */
  readonly fate: 'changes' | 'goes' | 'stays' | 'ends' | 'begins';
}
