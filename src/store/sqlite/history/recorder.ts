/** Records the changes of one row, in the transaction that makes them. Imports record theirs set by set. */
import { type Actor, CREATED } from '../../ports/history.ts';
import type { Connection } from '../connection/connection.ts';

type Value = string | number | null;

export interface HistoryRecorder {
  /** The origin of a new row. */
  created(id: number, nowSeconds: number, actor: Actor): void;
  /** Each field whose value differs. @param fields in the order of the values */
  changed(
    id: number,
    change: {
      readonly fields: readonly string[];
      readonly old: readonly Value[];
      readonly new: readonly Value[];
    },
    nowSeconds: number,
    actor: Actor,
  ): void;
}

export function openHistoryRecorder(db: Connection, entity: 'members' | 'cooperatives'): HistoryRecorder {
  const insert = db.prepare<[id: number, field: string, old: Value, new: Value, at: number, actor: string]>(
    `INSERT INTO changes (entity, row_id, field, old, new, at, actor) VALUES ('${entity}', ?, ?, ?, ?, ?, ?)`,
  );
  return {
    created: (id, nowSeconds, actor) => void insert.run(id, CREATED, null, null, nowSeconds, actor),
    changed(id, { fields, old, new: values }, nowSeconds, actor) {
      for (const [i, field] of fields.entries()) {
        const [before = null, after = null] = [old[i], values[i]];
        if (before !== after) insert.run(id, field, before, after, nowSeconds, actor);
      }
    },
  };
}
