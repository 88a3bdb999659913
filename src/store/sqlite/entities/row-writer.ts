/** Writes single rows of an entity, each with its history, its event and its place in the counts. */
import {
  type Field,
  isReplaced,
  listFields,
  type NamedField,
} from '../../../domain/values/declared-fields.ts';
import type { Actor } from '../../ports/journal/history.ts';
import type { Connection } from '../engine/connection.ts';
import { openChangeRecorder } from '../journal/recorder.ts';
import { newIdSql } from '../journal/removed-ids.ts';
import type { Counted, CountIndex } from '../lists/count-index.ts';

type Column = string | number | null;

/** What a row of an entity is counted and recorded by. */
interface Written {
  readonly status: string;
  /** Undefined for a cooperative. */
  readonly cooperativeId?: number;
}

export interface RowWriter<Values> {
  /**
   * Adds a row.
   * @param values of the fields that are not set by others
   * @returns its id
   */
  insert(values: Values & Written, nowSeconds: number, actor: Actor): number;
  /**
   * Writes what a request may change.
   * @returns false when nothing differs: nothing is written then, `updated_at` included
   */
  replace(
    stored: Values & Written & { readonly id: number },
    values: Values & Pick<Written, 'status'>,
    nowSeconds: number,
    actor: Actor,
  ): boolean;
}

const valuesOf = (fields: readonly NamedField[], values: object): Column[] =>
  fields.map(({ property }) => (values as { readonly [property: string]: Column })[property] ?? null);

const toCounted = (id: number, { cooperativeId = id, status }: Written): Counted => ({
  group: cooperativeId,
  value: status,
});

/** @param counts of its rows by status; undefined where they are not counted */
export function openRowWriter<Values>(
  db: Connection,
  table: Parameters<typeof openChangeRecorder>[1],
  declared: { readonly [property: string]: Field },
  counts?: Pick<CountIndex, 'change'>,
): RowWriter<Values> {
  const all = listFields(declared);
  const replaced = all.filter(isReplaced);
  const fields = replaced.map(({ name }) => name);
  const insert = db.prepare<Column[]>(
    `INSERT INTO ${table} (id, ${all.map(({ column }) => column).join(', ')}, created_at, updated_at)
     VALUES (${newIdSql(table)}, ${all.map(() => '?').join(', ')}, ?, ?)`,
  );
  const replace = db.prepare<Column[]>(
    `UPDATE ${table} SET ${replaced.map(({ column }) => `${column} = ?`).join(', ')}, updated_at = ?
     WHERE id = ?`,
  );
  const history = openChangeRecorder(db, table);
  return {
    insert(values, nowSeconds, actor) {
      const id = Number(insert.run(...valuesOf(all, values), nowSeconds, nowSeconds).lastInsertRowid);
      counts?.change(id, undefined, toCounted(id, values));
      history.created({ id, cooperativeId: values.cooperativeId ?? id }, nowSeconds, actor);
      return id;
    },
    replace(stored, values, nowSeconds, actor) {
      const [before, after] = [valuesOf(replaced, stored), valuesOf(replaced, values)];
      if (before.every((value, i) => value === after[i])) return false;
      const { id, cooperativeId = id } = stored;
      replace.run(...after, nowSeconds, id);
      history.changed({ id, cooperativeId }, { fields, old: before, new: after }, nowSeconds, actor);
      counts?.change(id, toCounted(id, stored), { group: cooperativeId, value: values.status });
      return true;
    },
  };
}
