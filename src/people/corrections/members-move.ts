/** Moves members with all their entries to another cooperative. */

import type { Touched } from '../../journal/change-sets.ts';
import type { OperationScope } from '../../journal/command-transaction.ts';
import { OWNED_ENTITIES, type OwnedEntity, ownedIdsSql, tableOf } from '../../registry/changes/tables.ts';
import { typedCommand } from '../../runtime/typed-command.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { say } from '../../values/message.ts';
import type { Collision } from '../correction-result.ts';
import { type Correction, findCooperative, findMember, refuse } from './run-correction.ts';

export function stageMoving(db: Connection, ids: readonly number[]): void {
  const insert = db.raw.prepare('INSERT INTO temp.moving VALUES (?)');
  for (const id of ids) insert.run(id);
}

const OWNED = OWNED_ENTITIES.map((entity) => ({
  entity,
  ids: ownedIdsSql(entity, 'SELECT id FROM temp.moving'),
}));

export const TOUCHED_BY_MOVE: Touched = {
  members: 'SELECT id FROM temp.moving',
  ...Object.fromEntries(OWNED.map(({ entity, ids }) => [entity, ids])),
};

/** Members in `temp.pairs` stay, because a merge deletes them afterwards. Only their rows are moved. */
export function moveMembers(db: Connection, cooperativeId: number): void {
  for (const { entity, ids } of OWNED) {
    const { table } = tableOf(entity);
    db.run(`UPDATE main.${table} SET cooperative_id = ? WHERE id IN (${ids})`, [cooperativeId]);
  }
  db.run(
    `UPDATE main.members SET cooperative_id = ? WHERE id IN (SELECT id FROM temp.moving)
       AND id NOT IN (SELECT from_id FROM temp.pairs)`,
    [cooperativeId],
  );
}

const MESSAGES = {
  production: say('A delivery of the other cooperative has this reference.'),
  loans: say('A loan of the other cooperative has this reference.'),
  payments: say('A payment of the other cooperative has this reference.'),
  accounts: say('An account of the other cooperative has this number.'),
  savings: say('A transaction of the other cooperative has this reference.'),
} as const satisfies { readonly [entity in OwnedEntity]: Collision['message'] };

/** For members that change cooperative. Pairs to be merged too must already be staged. */
export function findCollisions(db: Connection, cooperativeId: number): Collision[] {
  const ofMembers = db
    .rows<{ id: number; other: number; row: string; isSame: 0 | 1 }>(
      `SELECT m.id, o.id AS other, m.member_code AS row, o.identity_card = m.identity_card AS isSame
       FROM temp.moving i CROSS JOIN main.members m ON m.id = i.id
       CROSS JOIN main.members o ON o.cooperative_id = @to
         AND (o.identity_card = m.identity_card OR o.member_code = m.member_code)
       WHERE m.id NOT IN (SELECT from_id FROM temp.pairs) ORDER BY m.id`,
      { to: cooperativeId },
    )
    .map(({ id, other, row, isSame }): Collision => {
      const message =
        isSame === 1
          ? say('The person is already member {other} there. To merge member {id} into it: {command}', {
              other,
              id,
              command: typedCommand(`members merge ${id} ${other} --reason "Registered twice"`, db.raw.name),
            })
          : say('Another member of the other cooperative has this code.');
      return { entity: 'members', row, message };
    });
  const ofEntries = OWNED.flatMap(({ entity, ids }) => {
    const { table, label } = tableOf(entity);
    const rows = db.values<string>(
      `SELECT e.${label} FROM main.${table} e CROSS JOIN main.${table} o
         ON o.cooperative_id = ? AND o.${label} = e.${label} AND o.id <> e.id
       WHERE e.id IN (${ids}) ORDER BY e.id`,
      [cooperativeId],
    );
    return rows.map((row) => ({ entity, row, message: MESSAGES[entity] }));
  });
  return [...ofMembers, ...ofEntries];
}

export const moveMember = (
  { db }: OperationScope,
  { memberId, code }: { readonly memberId: number; readonly code: string },
): Correction => ({
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
