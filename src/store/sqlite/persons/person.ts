/** Everything that is held about a person: every column of every row, and what has changed in them. */
import { CHANGED_ENTITIES, type ChangedEntity } from '../../contract/journal/corrections.ts';
import type { HeldChange, HeldMembership, HeldPerson, HeldRow } from '../../contract/journal/held-data.ts';
import { CREATED } from '../../contract/journal/history.ts';
import type { Connection } from '../engine/connection.ts';
import { labelSql, SHOWN_CHANGE } from '../journal/labels.ts';
import { userOf } from '../journal/operations.ts';
import { openOrigins } from '../journal/origin.ts';
import { ERASED_STATUS } from '../schema/counts.ts';
import { ownedIdsSql, recordedColumns, tableOf } from '../schema/tables.ts';
import { readEntries } from './entry-rows.ts';
import { formerNumbers, identifyPerson, keptResponsesSql } from './identify.ts';

type Held = Exclude<ChangedEntity, 'cooperatives'>;
const HELD = CHANGED_ENTITIES.filter((entity): entity is Held => entity !== 'cooperatives');

/** SELECT of the ids of rows of members, and of what belongs to them. */
const heldIds = (entity: Held, members: readonly number[]): string =>
  entity === 'members'
    ? `SELECT id FROM main.members WHERE id IN (${members.join(', ')})`
    : ownedIdsSql(entity, members.join(', '));

export function findPerson(db: Connection, given: string): HeldPerson | undefined {
  const person = identifyPerson(db, given);
  if (person === undefined) return undefined;
  const { identityCard, members, rows } = person;
  const kept = db.raw.prepare(`SELECT count(*) FROM ${keptResponsesSql(person)}`).pluck();
  return {
    identityCard,
    formerIdentityCards: formerNumbers(db, identityCard),
    memberships: members.flatMap((id) => findMembership(db, id) ?? []),
    history: readHistory(db, members, rows),
    keptResponses: kept.get() as number,
  };
}

/** Rows with every column but computed ones. */
function readRows(db: Connection, entity: Held, member: number): HeldRow[] {
  const table = tableOf(entity);
  const columns = recordedColumns(db, table).filter(({ column }) => column !== 'cooperative_id');
  const fields = columns.map(({ column, field }) => `e.${column} AS ${field}`);
  return db.rows<HeldRow>(`SELECT CAST(e.id AS TEXT) AS id,
       (SELECT code FROM main.cooperatives WHERE id = e.cooperative_id) AS cooperative,
       ${fields.join(', ')}${table.hasTimestamps ? ', e.updated_at' : ''}
     FROM main.${table.table} e WHERE e.id IN (${heldIds(entity, [member])}) ORDER BY e.id`);
}

export function findMembership(db: Connection, id: number): HeldMembership | undefined {
  const member = readRows(db, 'members', id)[0];
  if (member === undefined || member.status === ERASED_STATUS) return undefined;
  return {
    member,
    deliveries: readEntries(db, 'production', { memberId: id }),
    loans: readEntries(db, 'loans', { memberId: id }),
    payments: readRows(db, 'payments', id),
    savingsAccounts: readRows(db, 'accounts', id),
    savingsTransactions: readEntries(db, 'savings', { memberId: id }),
  };
}

/** @param rows the members, and those that were merged into them */
function readHistory(db: Connection, members: readonly number[], rows: readonly number[]): HeldChange[] {
  const originOf = openOrigins(db);
  const origins = HELD.flatMap((entity): HeldChange[] => {
    const { table, label } = tableOf(entity);
    const held = db.rows<{ id: number; row: string }>(
      `SELECT id, ${label} AS row FROM main.${table} WHERE id IN (${heldIds(entity, members)}) ORDER BY id`,
    );
    return held.flatMap(({ id, row }) => {
      const origin = originOf(entity, id);
      return origin === undefined ? [] : [{ entity, row, field: CREATED, old: null, new: null, ...origin }];
    });
  });
  const changes = HELD.map((entity) => {
    const own = entity === 'members' ? rows.join(', ') : heldIds(entity, members);
    const row = labelSql(entity, 'c.row_id');
    return `SELECT c.id, c.entity, ${row} AS row, ${SHOWN_CHANGE.field} AS field,
        ${SHOWN_CHANGE.values}, c.at, c.actor, ${userOf('c.actor')} AS user
      FROM main.changes c WHERE c.entity = '${entity}' AND c.row_id IN (${own}) AND c.field <> '${CREATED}'`;
  });
  const found = db.rows<HeldChange & { id: number }>(`${changes.join(' UNION ALL ')} ORDER BY 1`);
  return [...origins, ...found.map(({ id: _, ...change }) => change)];
}
