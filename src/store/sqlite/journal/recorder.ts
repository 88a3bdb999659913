/**
 * Records the changes of one row, in the transaction that makes them: each value in the history, and one
 * event. Operations record theirs set by set (record-changes.ts).
 */
import type { ChangedEntity } from '../../contract/journal/corrections.ts';
import { type Actor, CREATED } from '../../contract/journal/history.ts';
import type { Connection } from '../engine/connection.ts';
import { type ChangedRow, openEventAppender } from '../events/append.ts';
import { announcedEntity, type OwnedEntity, type RecordedEntity, tableOf } from '../schema/tables.ts';

type Value = string | number | null;

export interface ChangeRecorder {
  /** The origin of a new row. */
  created(row: ChangedRow, nowSeconds: number, actor: Actor): void;
  /** Each field whose value differs; nothing when none does. @param fields in the order of the values */
  changed(
    row: ChangedRow,
    change: {
      readonly fields: readonly string[];
      readonly old: readonly Value[];
      readonly new: readonly Value[];
    },
    nowSeconds: number,
    actor: Actor,
  ): void;
}

const openInsert = (db: Connection, entity: ChangedEntity) =>
  db.prepare<[id: number, field: string, old: Value, new: Value, at: number, actor: string]>(
    `INSERT INTO changes (entity, row_id, field, old, new, at, actor) VALUES ('${entity}', ?, ?, ?, ?, ?, ?)`,
  );

/** @param entity one whose rows have events of their own */
export function openChangeRecorder(db: Connection, entity: RecordedEntity): ChangeRecorder {
  const insert = openInsert(db, entity);
  const append = openEventAppender(db, announcedEntity(entity));
  return {
    created(row, nowSeconds, actor) {
      insert.run(row.id, CREATED, null, null, nowSeconds, actor);
      append('created', row, [], nowSeconds, actor);
    },
    changed(row, { fields, old, new: values }, nowSeconds, actor) {
      const changed = fields.filter((_field, i) => old[i] !== values[i]);
      if (changed.length === 0) return;
      for (const [i, field] of fields.entries()) {
        const [before = null, after = null] = [old[i], values[i]];
        if (before !== after) insert.run(row.id, field, before, after, nowSeconds, actor);
      }
      append('updated', row, changed, nowSeconds, actor);
    },
  };
}

/** New rows of one member that are told in one event of it: the entry, and what was made for it. */
export interface EntryRecorder {
  /** The origin of each row. @param rows by entity, the id of the new row */
  created(
    rows: { readonly [entity in OwnedEntity]?: number },
    member: ChangedRow,
    nowSeconds: number,
    actor: Actor,
  ): void;
}

/** @param entities those of one part of a member: their rows have no events of their own */
export function openEntryRecorder(db: Connection, entities: readonly OwnedEntity[]): EntryRecorder {
  const inserts = entities.map((entity) => ({ entity, insert: openInsert(db, entity) }));
  const fields = new Set(
    entities.flatMap((entity) => {
      const { announced } = tableOf(entity);
      return 'memberField' in announced ? [announced.memberField] : [];
    }),
  );
  const append = openEventAppender(db, 'member');
  return {
    created(rows, member, nowSeconds, actor) {
      for (const { entity, insert } of inserts) {
        const id = rows[entity];
        if (id !== undefined) insert.run(id, CREATED, null, null, nowSeconds, actor);
      }
      append('updated', member, [...fields], nowSeconds, actor);
    },
  };
}
