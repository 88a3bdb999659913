/** Merges a cooperative into another: all its members move, and a person who is in both is merged. */
import { type Message, say } from '../../../domain/values/message.ts';
import type { Connection } from '../engine/connection.ts';
import { findCooperative } from './members-move.ts';
import { type MemberPair, mergePairs, notePairs, stagePairs, TOUCHED_BY_MERGE } from './merge.ts';
import { findCollisions, moveMembers, stageMoving, TOUCHED_BY_MOVE } from './move.ts';
import { type Correction, refuse } from './run.ts';

export const mergeCooperatives = (db: Connection, fromCode: string, intoCode: string): Correction => ({
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
    const members = db.raw.prepare('SELECT id FROM main.members WHERE cooperative_id = ?').pluck();
    stageMoving(db, members.all(from.id) as number[]);
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
