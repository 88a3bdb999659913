/**
 * Merges two members who are one person. Each field declares which value wins (registry/members.ts);
 * merge-pairs.ts
 * applies it.
 */

import { differ } from '../../registry/likeness.ts';
import { haveCommonWord } from '../../registry/members.ts';
import { isErased } from '../../registry/stored/erasures.ts';
import {
  addRedirect,
  MERGED_MEMBERS,
  REPLACED_NUMBERS,
  redirectOf,
} from '../../registry/stored/former-identifiers.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { asMessage, type Message, say } from '../../values/message.ts';
import type { CorrectionRefused } from '../correction-types.ts';
import { type MemberPair, mergePairs, notePairs, stagePairs, TOUCHED_BY_MERGE } from './merge-pairs.ts';
import { findCollisions, moveMembers, stageMoving, TOUCHED_BY_MOVE } from './move.ts';
import { type Correction, type CorrectionPlan, refuse } from './run-correction.ts';

// Warnings that two members to be merged may be different people

interface Described {
  readonly full_name: string;
  readonly gender: string | null;
  readonly date_of_birth: string | null;
}

const describe = (db: Connection, id: number): Described =>
  db.row<Described>('SELECT full_name, gender, date_of_birth FROM main.members WHERE id = ?', [
    id,
  ]) as Described;

const noteOf = ({ from, into }: MemberPair, what: string): Message =>
  say('Members {from} and {into} have {what}. Same person?', { from, into, what: asMessage(what) });

/** @returns notes without the values */
function noteNames(db: Connection, pair: MemberPair): Message[] {
  const [from, into] = [describe(db, pair.from), describe(db, pair.into)];
  return haveCommonWord(from.full_name, into.full_name) ? [] : [noteOf(pair, 'names without a common word')];
}

/** @returns notes without the values; unknown values are not compared */
function noteBirthAndGender(db: Connection, pair: MemberPair): Message[] {
  const [from, into] = [describe(db, pair.from), describe(db, pair.into)];
  return [
    ...(differ(from.date_of_birth, into.date_of_birth) ? [noteOf(pair, 'different dates of birth')] : []),
    ...(differ(from.gender, into.gender) ? [noteOf(pair, 'different genders')] : []),
  ];
}

export interface MemberRow {
  readonly id: number;
  readonly cooperative_id: number;
  readonly identity_card: string;
}

/** @returns the member, or a refusal */
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

/** Members of the plan, with warnings that they may be two people. */
const showPair = (db: Connection, pair: MemberPair): Required<Pick<CorrectionPlan, 'members' | 'notes'>> => ({
  members: [
    { id: pair.from, fate: 'goes' },
    { id: pair.into, fate: 'stays' },
  ],
  notes: [...noteNames(db, pair), ...noteBirthAndGender(db, pair), ...notePairs(db)],
});

/** The number of `from` is redirected to that of `into`, unless further memberships have it. */
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

/** Merges two memberships of one person in different cooperatives, moving all rows of `from`. */
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

// Moving a member with everything to another cooperative

/** @returns the id of the cooperative, or a refusal */
export const findCooperative = (db: Connection, code: string): { id: number } | CorrectionRefused =>
  db.row<{ id: number }>('SELECT id FROM main.cooperatives WHERE code = ?', [code]) ??
  refuse(say('There is no cooperative {code}.', { code }));

export const moveMember = (db: Connection, memberId: number, code: string): Correction => ({
  kind: 'members_move',
  options: { member: memberId, to: code },
  decide() {
    const member = findMember(db, memberId);
    if ('outcome' in member) return member;
    const to = findCooperative(db, code);
    if ('outcome' in to) return to;
    if (member.cooperative_id === to.id)
      return refuse(say('Member {id} belongs to {code} already.', { id: memberId, code }));
    stageMoving(db, [memberId]);
    const collisions = findCollisions(db, to.id);
    if (collisions.length > 0) return refuse(say('Some rows cannot be in {code}.', { code }), collisions);
    return {
      touched: TOUCHED_BY_MOVE,
      members: [{ id: memberId, fate: 'changes' }],
      work: () => moveMembers(db, to.id),
    };
  },
});
