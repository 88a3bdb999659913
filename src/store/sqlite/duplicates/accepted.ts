/**
 * Memberships that contradict each other, and of which somebody has said that they are of one person: known
 * from the corrections that stand, as dismissed pairs are, for as long as nothing that is compared changes.
 */
import type { Connection } from '../engine/connection.ts';

export const ACCEPTANCE_KIND = 'duplicates_same_person';

/** What is kept of one: the ids of all memberships that were seen. */
export interface AcceptanceOptions {
  readonly members: readonly number[];
}

interface Acceptance {
  readonly id: number;
  /** The last change that was there. */
  readonly seen: number;
  readonly members: ReadonlySet<number>;
}

/** Fields of the history that change who somebody seems to be. */
const COMPARED = "'identity_card', 'full_name', 'gender', 'date_of_birth', 'mobile'";

/** @returns what finds the correction by which memberships were accepted as those of one person */
export function openAccepted(db: Connection): (ids: readonly number[]) => number | undefined {
  const byMember = new Map<number, Acceptance>();
  const corrections = db.rows<{ id: number; seen: number; options: string }>(
    `SELECT id, last_change AS seen, options FROM main.operations
     WHERE kind = '${ACCEPTANCE_KIND}' AND undone_at IS NULL ORDER BY id`,
  );
  for (const { id, seen, options } of corrections) {
    const { members } = JSON.parse(options) as AcceptanceOptions;
    for (const member of members) byMember.set(member, { id, seen, members: new Set(members) });
  }
  const changed = db.raw
    .prepare<[number, number]>(
      `SELECT 1 FROM main.changes c INDEXED BY changes_row WHERE c.entity = 'members' AND c.row_id = ?
         AND c.id > ? AND c.field IN (${COMPARED}) LIMIT 1`,
    )
    .pluck();
  return (ids) => {
    const accepted = byMember.get(ids[0] ?? 0);
    if (accepted === undefined) return undefined;
    const { id, seen, members } = accepted;
    return ids.every((each) => members.has(each) && changed.get(each, seen) === undefined) ? id : undefined;
  };
}
