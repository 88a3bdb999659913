/** What the sequence of changes must say, computed from all rows before and after a step. */
import assert from 'node:assert/strict';
import {
  actorOfCode,
  EVENT_FIELDS,
  type EventEntity,
  entityOfType,
  fieldsOfBits,
  typeOfCode,
} from '../../src/domain/events.ts';
import type { Connection } from './sqlite.ts';

interface Row {
  readonly cooperativeId: number;
  readonly values: { readonly [field: string]: unknown };
}
/** All cooperatives, members, loans and payments, by `entity id`; entries are values of their member. */
export type Snapshot = ReadonlyMap<string, Row>;

/** Stored columns whose fields have other names. */
const COLUMN_OF: { readonly [field: string]: string } = {
  amount: 'amount_minor',
  interest_rate: 'interest_rate_hundredths',
  paid_amount: 'paid_amount_minor',
  production_summary: `(SELECT json_group_array(
      json_array(p.id, p.delivered_at, p.grams, p.product) ORDER BY p.id)
    FROM production_entries p WHERE p.member_id = t.id)`,
  savings_summary: `(SELECT json_group_array(
      json_array(s.id, a.account_number, s.kind, s.amount_minor, s.transacted_at) ORDER BY s.id)
    FROM savings_accounts a JOIN savings_transactions s ON s.account_id = a.id WHERE a.member_id = t.id)`,
};
const TABLES = {
  cooperative: 'cooperatives',
  member: 'members',
  loan: 'loans',
  payment: 'payments',
} as const satisfies { readonly [entity in EventEntity]: string };

export function takeSnapshot(db: Connection): Snapshot {
  const rows = Object.entries(TABLES).flatMap(([entity, table]) => {
    const fields = EVENT_FIELDS[entity as EventEntity];
    const columns = fields.map((field) => `${COLUMN_OF[field] ?? `t.${field}`} AS "${field}"`);
    const cooperative = entity === 'cooperative' ? 't.id' : 't.cooperative_id';
    const found = db.raw
      .prepare(
        `SELECT t.id AS "#id", ${cooperative} AS "#cooperative", ${columns.join(', ')} FROM ${table} t`,
      )
      .all() as { '#id': number; '#cooperative': number; [field: string]: unknown }[];
    return found.map(({ '#id': id, '#cooperative': cooperativeId, ...values }): [string, Row] => [
      `${entity} ${id}`,
      { cooperativeId, values },
    ]);
  });
  return new Map(rows);
}

/** The events between two snapshots, as texts in no order. */
export function changesBetween(before: Snapshot, after: Snapshot, actor: string): string[] {
  const texts: string[] = [];
  const add = (key: string, action: string, row: Row, fields: readonly string[] = []) => {
    const [entity, id] = key.split(' ');
    texts.push(`${entity}.${action} ${id} of ${row.cooperativeId} [${fields}] by ${actor}`);
  };
  for (const [key, row] of after) {
    const former = before.get(key);
    if (former === undefined) {
      add(key, 'created', row);
      const entries = ['production_summary', 'savings_summary'];
      assert.ok(entries.every((field) => ['[]', undefined].includes(row.values[field] as string)));
      continue;
    }
    const changed = Object.keys(row.values).filter((field) => row.values[field] !== former.values[field]);
    if (changed.length > 0) add(key, 'updated', row, changed);
  }
  for (const [key, row] of before) if (!after.has(key)) add(key, 'deleted', row);
  return texts;
}

interface StoredEvent {
  readonly sequence: number;
  readonly type: number;
  readonly row_id: number;
  readonly cooperative_id: number;
  readonly fields: number;
  readonly at: number;
  readonly actor: number;
}

/** Reads the events after one, and sees that no number is missing. */
export function readEvents(db: Connection, after: number): string[] {
  const events = db.raw.prepare('SELECT * FROM events WHERE sequence > ? ORDER BY sequence').all(after);
  return (events as StoredEvent[]).map((event, i) => {
    assert.equal(event.sequence, after + 1 + i);
    const fields = fieldsOfBits(entityOfType(event.type), event.fields);
    const where = `${event.row_id} of ${event.cooperative_id}`;
    return `${typeOfCode(event.type)} ${where} [${fields}] by ${actorOfCode(event.actor)}`;
  });
}

export const lastSequence = (db: Connection): number =>
  db.raw.prepare('SELECT coalesce(max(sequence), 0) FROM events').pluck().get() as number;
