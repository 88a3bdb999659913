/**
 * Merges two members who are one person. Which value wins, each field declares
 * (domain/membership/members.ts); merge.ts applies it.
 */
import { type Message, say } from '../../../domain/values/message.ts';
import type { CorrectionRefused } from '../../contract/journal/corrections.ts';
import type { Connection } from '../engine/connection.ts';
import { isErased } from '../identity/erased-rows.ts';
import { addRedirect, MERGED_MEMBERS, REPLACED_NUMBERS, redirectOf } from '../identity/former-keys.ts';
import { noteBirthAndGender, noteNames } from './differences.ts';
import { type MemberPair, mergePairs, notePairs, stagePairs, TOUCHED_BY_MERGE } from './merge.ts';
import { findCollisions, moveMembers, stageMoving, TOUCHED_BY_MOVE } from './move.ts';
import { type Correction, type CorrectionPlan, refuse } from './run.ts';

export interface MemberRow {
  readonly id: number;
  readonly cooperative_id: number;
  readonly identity_card: string;
}

/** @returns the member, or why there is none */
export function findMember(db: Connection, id: number): MemberRow | CorrectionRefused {
  const found = db.row<MemberRow & { status: string }>(
    'SELECT id, cooperative_id, identity_card, status FROM main.members WHERE id = ?',
    [id],
  );
  if (found !== undefined) return isErased(found) ? refuse(say('Member {id} was erased.', { id })) : found;
  const into = redirectOf(db, MERGED_MEMBERS, id);
  return into === undefined
    ? refuse(say('There is no member {id}.', { id }))
    : refuse(say('Member {id} was merged into member {into}.', { id, into }));
}

export const mergeMembers = (db: Connection, fromId: number, intoId: number): Correction => ({
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

/** Who is merged, and whether they may be two people. */
const showPair = (db: Connection, pair: MemberPair): Required<Pick<CorrectionPlan, 'members' | 'notes'>> => ({
  members: [
    { id: pair.from, fate: 'goes' },
    { id: pair.into, fate: 'stays' },
  ],
  notes: [...noteNames(db, pair), ...noteBirthAndGender(db, pair), ...notePairs(db)],
});

/** What finds the one number finds the other, unless the one belongs to further memberships. */
function mergeInside(db: Connection, from: MemberRow, into: MemberRow): CorrectionPlan {
  const pair = { from: from.id, into: into.id };
  stagePairs(db, [pair]);
  const others = db.count('main.members WHERE identity_card = ? AND id <> ?', [from.identity_card, from.id]);
  const { members, notes } = showPair(db, pair);
  return {
    touched: TOUCHED_BY_MERGE,
    members,
    notes: [...notes, ...(others > 0 ? [othersNote(from.id, others)] : [])],
    work(correctionId) {
      mergePairs(db, correctionId);
      const numbers = [from.identity_card, into.identity_card] as const;
      if (others === 0) addRedirect(db, REPLACED_NUMBERS, numbers, correctionId);
    },
  };
}

const othersNote = (id: number, n: number): Message =>
  say(
    'The national ID of member {id} is that of {n|# other membership too, which stays as it is|' +
      '# other memberships too, which stay as they are}: nid replace gives the person one number.',
    { id, n },
  );

/** Two memberships of one person, of which one is to be given up with all it has. */
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
  if (collisions.length > 0) return refuse('Some rows cannot be in one cooperative.', collisions);
  return {
    touched: { ...TOUCHED_BY_MOVE, members: TOUCHED_BY_MERGE.members as string },
    ...showPair(db, pair),
    work(correctionId) {
      moveMembers(db, into.cooperative_id);
      mergePairs(db, correctionId);
    },
  };
}
