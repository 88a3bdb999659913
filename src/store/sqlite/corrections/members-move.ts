/** Moves a member with everything to another cooperative. */
import { say } from '../../../domain/values/message.ts';
import type { CorrectionRefused } from '../../contract/journal/corrections.ts';
import type { Connection } from '../engine/connection.ts';
import { findMember } from './members-merge.ts';
import { findCollisions, moveMembers, stageMoving, TOUCHED_BY_MOVE } from './move.ts';
import { type Correction, refuse } from './run.ts';

/** @returns the id of the cooperative, or that there is none */
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
