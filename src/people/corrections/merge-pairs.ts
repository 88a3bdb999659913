/** Merges pairs of members in sets: the entries of one go to the other, and the first is deleted. */

import type { Touched } from '../../journal/track.ts';
import { type OwnedEntity, ownedIdsSql, TABLES } from '../../registry/changes/tables.ts';
import { MEMBER_FIELDS } from '../../registry/members.ts';
import { addRedirect, MERGED_MEMBERS } from '../../registry/stored/former-identifiers.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { listFields } from '../../values/declared-fields.ts';
import { type Message, say } from '../../values/message.ts';

export interface MemberPair {
  /** Deleted member. */
  readonly from: number;
  /** Remaining member. */
  readonly into: number;
}

/** Tables owned by members directly; other rows follow their owners. */
const OWNED = TABLES.filter(({ owner }) => owner?.entity === 'members');

/** Stages pairs for the statements of this file. */
export function stagePairs(db: Connection, pairs: readonly MemberPair[]): void {
  const insert = db.raw.prepare('INSERT INTO temp.pairs VALUES (?, ?)');
  for (const { from, into } of pairs) insert.run(from, into);
}

export const TOUCHED_BY_MERGE: Touched = {
  members: 'SELECT from_id FROM temp.pairs UNION SELECT into_id FROM temp.pairs',
  ...Object.fromEntries(
    OWNED.map(({ entity }) => [entity, ownedIdsSql(entity as OwnedEntity, 'SELECT from_id FROM temp.pairs')]),
  ),
};

/**
 * Merges the staged pairs. The conditions use IN because SQLite then finds the rows by index; with FROM it
 * scans the table.
 */
export function mergePairs(db: Connection, correctionId: number): void {
  for (const { table } of OWNED) {
    db.exec(`UPDATE main.${table} AS e
      SET member_id = (SELECT into_id FROM temp.pairs p WHERE p.from_id = e.member_id)
      WHERE e.member_id IN (SELECT from_id FROM temp.pairs)`);
  }
  takeOverValues(db);
  db.exec('DELETE FROM main.members WHERE id IN (SELECT from_id FROM temp.pairs)');
  const pairs = db.raw.prepare('SELECT from_id, into_id FROM temp.pairs').raw().all() as [number, number][];
  for (const pair of pairs) addRedirect(db, MERGED_MEMBERS, pair, correctionId);
}

const columnsTo = (what: 'fill' | 'fill together'): string[] =>
  listFields(MEMBER_FIELDS).flatMap(({ column, merge }) => (merge === what ? [column] : []));

const HAS_NO_PARTS = 'm.first_name IS NULL AND m.last_name IS NULL';

/**
 * Fills values that the remaining members lack from the deleted ones, as `merge` of each field declares
 * (registry/members.ts).
 */
function takeOverValues(db: Connection): void {
  const gaps = columnsTo('fill').map((column) => `${column} = coalesce(m.${column}, f.${column})`);
  const names = columnsTo('fill together').map(
    (column) => `${column} = iif(${HAS_NO_PARTS}, f.${column}, m.${column})`,
  );
  db.exec(`UPDATE main.members AS m SET ${[...gaps, ...names].join(', ')}
    FROM temp.pairs p, main.members f WHERE m.id IN (SELECT into_id FROM temp.pairs)
      AND p.into_id = m.id AND f.id = p.from_id`);
}

/** Notes about the staged pairs for the operator to check. */
export function notePairs(db: Connection): Message[] {
  return NOTED.flatMap(({ sql, note }) => {
    const n = db.count(`(${sql})`);
    return n === 0 ? [] : [note(n)];
  });
}

const ENDED_BY_MERGE = `SELECT 1 FROM temp.pairs p CROSS JOIN main.members f ON f.id = p.from_id
  CROSS JOIN main.members i ON i.id = p.into_id WHERE f.status = 'active' AND i.status <> 'active'`;
const ofPairs = (table: string, equal: string): string =>
  `SELECT DISTINCT a.id FROM temp.pairs p CROSS JOIN main.${table} a ON a.member_id = p.from_id
   CROSS JOIN main.${table} b ON b.member_id = p.into_id AND ${equal}`;
const NOTED: readonly { readonly sql: string; readonly note: (n: number) => Message }[] = [
  {
    sql: ofPairs(
      'production_entries',
      'b.delivered_at = a.delivered_at AND b.grams = a.grams AND b.product IS a.product',
    ),
    note: (n) =>
      say(
        '{n|# delivery is|# deliveries are} equal on both sides, with different references: recorded twice?',
        { n },
      ),
  },
  {
    sql: ofPairs('loans', 'b.amount_minor = a.amount_minor AND b.loan_start_date IS a.loan_start_date'),
    note: (n) =>
      say(
        '{n|# loan|# loans} of the same amount and start on both sides, with different references: ' +
          'recorded twice?',
        { n },
      ),
  },
  {
    sql: ENDED_BY_MERGE,
    note: (n) =>
      say(
        '{n|# active member is merged into one who is not, and so is active no more|' +
          '# active members are merged into others who are not, and so are active no more}.',
        { n },
      ),
  },
];
