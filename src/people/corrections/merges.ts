/**
 * Merges two cooperatives, or two members who are one person. Each field declares which of two values remains
 * (registry/members.ts).
 */

import type { Touched } from '../../journal/change-sets.ts';
import type { OperationScope } from '../../journal/command-transaction.ts';
import { type OwnedEntity, ownedIdsSql, TABLES } from '../../registry/changes/tables.ts';
import { MEMBER_FIELDS } from '../../registry/members.ts';
import { addRedirect, MERGED_MEMBERS, REPLACED_NUMBERS } from '../../registry/stored/former-ids.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { listFields } from '../../values/declared-fields.ts';
import { asMessage, type Message, say } from '../../values/message.ts';
import type { CorrectionRefused } from '../correction-result.ts';
import { contradictionsOf, type Described } from '../likeness.ts';
import { findCollisions, moveMembers, stageMoving, TOUCHED_BY_MOVE } from './members-move.ts';
import {
  type Correction,
  type CorrectionPlan,
  findCooperative,
  findMember,
  type MemberRow,
  refuse,
} from './run-correction.ts';

// Merge of all staged pairs at once: a member gets the entries of another member, who is then deleted. Three
// corrections merge pairs: `members merge`, `nid replace` and `cooperatives merge`. So a new reason to refuse
// a merge must be checked after every call of `stagePairs`.

/** Ids of two members: `from` is deleted, `into` remains. */
export interface MemberPair {
  readonly from: number;
  readonly into: number;
}

/** Tables whose rows name their member. The rows of other tables name a row of these tables. */
const ENTRIES = TABLES.filter(({ owner }) => owner?.entity === 'members');

export function stagePairs(db: Connection, pairs: readonly MemberPair[]): void {
  const insert = db.raw.prepare('INSERT INTO temp.pairs VALUES (?, ?)');
  for (const { from, into } of pairs) insert.run(from, into);
}

export const TOUCHED_BY_MERGE: Touched = {
  members: 'SELECT from_id FROM temp.pairs UNION SELECT into_id FROM temp.pairs',
  ...Object.fromEntries(
    ENTRIES.map(({ entity }) => [
      entity,
      ownedIdsSql(entity as OwnedEntity, 'SELECT from_id FROM temp.pairs'),
    ]),
  ),
};

/** Merges the staged pairs. With UPDATE … FROM instead of IN, SQLite would scan the table. */
export function mergePairs(db: Connection, correctionId: number): void {
  for (const { table } of ENTRIES) {
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

/** Fills missing values of the remaining members, as `merge` of each field declares (registry/members.ts). */
function takeOverValues(db: Connection): void {
  const gaps = columnsTo('fill').map((column) => `${column} = coalesce(m.${column}, f.${column})`);
  const together = columnsTo('fill together');
  const isEmpty = together.map((column) => `m.${column} IS NULL`).join(' AND ');
  const names = together.map((column) => `${column} = iif(${isEmpty}, f.${column}, m.${column})`);
  db.exec(`UPDATE main.members AS m SET ${[...gaps, ...names].join(', ')}
    FROM temp.pairs p, main.members f WHERE m.id IN (SELECT into_id FROM temp.pairs)
      AND p.into_id = m.id AND f.id = p.from_id`);
}

/** SELECT of entries of the deleted members that are equal to an entry of the remaining member. */
const equalEntries = (table: string, equal: string): string =>
  `SELECT DISTINCT a.id FROM temp.pairs p CROSS JOIN main.${table} a ON a.member_id = p.from_id
   CROSS JOIN main.${table} b ON b.member_id = p.into_id AND ${equal}`;
const ENDED_BY_MERGE = `SELECT 1 FROM temp.pairs p CROSS JOIN main.members f ON f.id = p.from_id
  CROSS JOIN main.members i ON i.id = p.into_id WHERE f.status = 'active' AND i.status <> 'active'`;

export function notePairs(db: Connection): Message[] {
  const deliveries = equalEntries(
    'production_entries',
    'b.delivered_at = a.delivered_at AND b.grams = a.grams AND b.product IS a.product',
  );
  const loans = equalEntries(
    'loans',
    'b.amount_minor = a.amount_minor AND b.loan_start_date IS a.loan_start_date',
  );
  const note = (sql: string, format: (n: number) => Message): Message[] => {
    const n = db.count(`(${sql})`);
    return n === 0 ? [] : [format(n)];
  };
  return [
    ...note(deliveries, (n) =>
      say(
        '{n|# delivery is|# deliveries are} equal on both sides, with different references: recorded twice?',
        { n },
      ),
    ),
    ...note(loans, (n) =>
      say(
        '{n|# loan|# loans} of the same amount and start on both sides, with different references: ' +
          'recorded twice?',
        { n },
      ),
    ),
    ...note(ENDED_BY_MERGE, (n) =>
      say(
        '{n|# active member is merged into a member who is not active, and will no longer be active|' +
          '# active members are merged into members who are not active, and will no longer be active}.',
        { n },
      ),
    ),
  ];
}

/** Returns notes, without personal data, that two members may be different people. */
function noteDifferences(db: Connection, { from, into }: MemberPair): Message[] {
  const [one, other] = [from, into].map((id) =>
    db.row<Described>(
      `SELECT full_name AS fullName, gender, date_of_birth AS dateOfBirth, mobile
       FROM main.members WHERE id = ?`,
      [id],
    ),
  ) as [Described, Described];
  return contradictionsOf(one, other).map((words) =>
    say('Members {from} and {into} have {what}. Same person?', { from, into, what: asMessage(words) }),
  );
}

/** The two members must belong to one cooperative or have the same national ID. */
export const mergeMembers = (
  { db }: OperationScope,
  { fromId, intoId }: { readonly fromId: number; readonly intoId: number },
): Correction => ({
  kind: 'members_merge',
  options: { from: fromId, into: intoId },
  decide() {
    if (fromId === intoId) return refuse('A member cannot be merged into itself.');
    const [from, into] = [findMember(db, fromId), findMember(db, intoId)];
    if ('outcome' in from) return from;
    if ('outcome' in into) return into;
    return from.cooperative_id === into.cooperative_id
      ? mergeInside(db, from, into)
      : mergeAcross(db, from, into);
  },
});

const planPair = (db: Connection, pair: MemberPair) => ({
  members: [
    { id: pair.from, fate: 'goes' },
    { id: pair.into, fate: 'stays' },
  ] as const,
  notes: [...noteDifferences(db, pair), ...notePairs(db)],
});

/** A lookup of the number of `from` then finds `into`, unless another membership has this number. */
function mergeInside(db: Connection, from: MemberRow, into: MemberRow): CorrectionPlan {
  const pair = { from: from.id, into: into.id };
  stagePairs(db, [pair]);
  const memberships = db.count('main.members WHERE identity_card = ? AND id <> ?', [
    from.identity_card,
    from.id,
  ]);
  const { members, notes } = planPair(db, pair);
  return {
    touched: TOUCHED_BY_MERGE,
    members,
    notes: [...notes, ...(memberships > 0 ? [sharedNumberNote(from.id, memberships)] : [])],
    work(correctionId) {
      mergePairs(db, correctionId);
      const numbers = [from.identity_card, into.identity_card] as const;
      if (memberships === 0) addRedirect(db, REPLACED_NUMBERS, numbers, correctionId);
    },
  };
}

const sharedNumberNote = (id: number, n: number): Message =>
  say(
    'The national ID of member {id} is that of {n|# other membership too, which stays as it is|' +
      '# other memberships too, which stay as they are}: nid replace gives the person one number.',
    { id, n },
  );

/** Merges two memberships of one person in different cooperatives. */
function mergeAcross(db: Connection, from: MemberRow, into: MemberRow): CorrectionPlan | CorrectionRefused {
  if (from.identity_card !== into.identity_card) {
    return refuse(
      say('Members {from} and {into} belong to different cooperatives. Move one first: members move.', {
        from: from.id,
        into: into.id,
      }),
    );
  }
  const pair = { from: from.id, into: into.id };
  stagePairs(db, [pair]);
  stageMoving(db, [from.id]);
  const collisions = findCollisions(db, into.cooperative_id);
  if (collisions.length > 0) return refuse('Some rows cannot be together in one cooperative.', collisions);
  return {
    touched: { ...TOUCHED_BY_MOVE, members: TOUCHED_BY_MERGE.members as string },
    ...planPair(db, pair),
    work(correctionId) {
      moveMembers(db, into.cooperative_id);
      mergePairs(db, correctionId);
    },
  };
}

/** Moves all members of `from` to `into`, merges the memberships of persons in both, and dissolves `from`. */
export const mergeCooperatives = (
  { db }: OperationScope,
  { fromCode, intoCode }: { readonly fromCode: string; readonly intoCode: string },
): Correction => ({
  kind: 'cooperatives_merge',
  options: { from: fromCode, into: intoCode },
  decide() {
    if (fromCode === intoCode) return refuse('A cooperative cannot be merged into itself.');
    const [from, into] = [findCooperative(db, fromCode), findCooperative(db, intoCode)];
    if ('outcome' in from) return from;
    if ('outcome' in into) return into;
    const pairs = db.rows<MemberPair>(
      `SELECT f.id AS "from", i.id AS "into" FROM main.members f
       CROSS JOIN main.members i ON i.identity_card = f.identity_card AND i.cooperative_id = ?
       WHERE f.cooperative_id = ?`,
      [into.id, from.id],
    );
    stagePairs(db, pairs);
    stageMoving(db, db.values<number>('SELECT id FROM main.members WHERE cooperative_id = ?', [from.id]));
    const collisions = findCollisions(db, into.id);
    if (collisions.length > 0)
      return refuse(say('Some rows cannot be in {code}.', { code: intoCode }), collisions);
    return {
      touched: {
        ...TOUCHED_BY_MOVE,
        cooperatives: `SELECT ${from.id}`,
        members: `${TOUCHED_BY_MOVE.members} UNION ${TOUCHED_BY_MERGE.members}`,
      },
      notes: [...(pairs.length === 0 ? [] : [bothNote(pairs.length)]), ...notePairs(db)],
      work(correctionId) {
        moveMembers(db, into.id);
        mergePairs(db, correctionId);
        db.run("UPDATE main.cooperatives SET status = 'dissolved' WHERE id = ?", [from.id]);
      },
    };
  },
});

const bothNote = (n: number): Message =>
  say(
    '{n|# person is a member of both: the two|# people are members of both: their} memberships are merged.',
    { n },
  );
