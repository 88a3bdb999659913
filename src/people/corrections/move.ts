/** Moves members with everything they own to another cooperative, in sets. */

import type { Touched } from '../../journal/track.ts';
import { OWNED_ENTITIES, type OwnedEntity, ownedIdsSql, tableOf } from '../../registry/changes/tables.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { say } from '../../values/message.ts';
import type { Collision } from '../correction-types.ts';

/** Stages members for the statements of this file. */
export function stageMoving(db: Connection, ids: readonly number[]): void {
  const insert = db.raw.prepare('INSERT INTO temp.moving VALUES (?)');
  for (const id of ids) insert.run(id);
}

/** Rows owned by the staged members, by entity. */
const OWNED = OWNED_ENTITIES.map((entity) => ({
  entity,
  ids: ownedIdsSql(entity, 'SELECT id FROM temp.moving'),
}));

export const TOUCHED_BY_MOVE: Touched = {
  members: 'SELECT id FROM temp.moving',
  ...Object.fromEntries(OWNED.map(({ entity, ids }) => [entity, ids])),
};

/**
 * Moves the staged members and their rows to a cooperative. Deleted members of staged pairs are left to the
 * merge that follows, and only their rows move.
 */
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

/** Rows of the staged members that collide with rows of the target cooperative. */
export function findCollisions(db: Connection, cooperativeId: number): Collision[] {
  const ofMembers = db.rows<MemberThere>(
    `SELECT m.id, o.id AS other, m.member_code AS row, o.identity_card = m.identity_card AS isSame
     FROM temp.moving i CROSS JOIN main.members m ON m.id = i.id
     CROSS JOIN main.members o ON o.cooperative_id = @to
       AND (o.identity_card = m.identity_card OR o.member_code = m.member_code)
     WHERE m.id NOT IN (SELECT from_id FROM temp.pairs) ORDER BY m.id`,
    { to: cooperativeId },
  );
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
  return [...ofMembers.map(collisionOf), ...ofEntries];
}

interface MemberThere {
  readonly id: number;
  readonly row: string;
  /** Colliding member of the target cooperative; `isSame` is 1 if it is the same person. */
  readonly other: number;
  readonly isSame: 0 | 1;
}

const collisionOf = ({ id, row, other, isSame }: MemberThere): Collision => ({
  entity: 'members',
  row,
  message:
    isSame === 1
      ? say('The person is member {other} there: merge member {id} into it (members merge).', { other, id })
      : say('Another member of the other cooperative has this code.'),
});
