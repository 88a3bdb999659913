/**
 * The single rows of an entity that has events: what a write is refused for, and the write itself, with its
 * history, its event and its place in the counts.
 */
import type { Visible } from '../../../domain/access/visible.ts';
import {
  type Fields,
  findFixed,
  isReplaced,
  listFields,
  type NamedField,
} from '../../../domain/values/declared-fields.ts';
import { notFound, refuseFields } from '../../../domain/values/errors.ts';
import type { Actor } from '../../contract/journal/history.ts';
import type { Connection } from '../engine/connection.ts';
import type { GroupCommit } from '../engine/group-commit.ts';
import type { ReadSnapshot } from '../engine/read-snapshot.ts';
import { newIdSql } from '../journal/record-changes.ts';
import { openChangeRecorder } from '../journal/recorder.ts';
import type { CooperativeSummaries } from '../rows/cooperative-summaries.ts';
import type { RecordedEntity } from '../schema/tables.ts';
import { type FindConflicts, type OtherConflict, openConflicts } from './conflicts.ts';
import type { ResponseKeeper } from './idempotent-responses.ts';

/** What the entities of a registry share. */
export interface StoreDependencies {
  readonly commits: GroupCommit;
  readonly snapshot: ReadSnapshot;
  readonly cooperativeSummaries: CooperativeSummaries;
  /** Creates rows that answer a request. */
  readonly responses: ResponseKeeper;
}

type Column = string | number | null;

/** What a row of an entity is counted and recorded by. */
interface Written {
  readonly status: string;
  /** Undefined for a cooperative. */
  readonly cooperativeId?: number;
}

interface RowDeclaration<Stored> {
  readonly entity: RecordedEntity;
  readonly fields: Fields;
  readonly otherConflict?: OtherConflict;
  /** Reads a row that is seen. */
  readonly find: (id: number, visible: Visible) => Stored | undefined;
}

interface Decided<Values> {
  readonly values: Values;
  /** What follows once they are written. */
  readonly follow?: () => void;
}

export interface RowStore<Stored, Values> {
  readonly conflicts: FindConflicts<Values>;
  /**
   * Adds a row.
   * @param values of the fields that are not set by others
   * @returns its id
   */
  insert(values: Values & Written, nowSeconds: number, actor: Actor): number;
  /**
   * Writes what a request may change, and follows it up. Where nothing differs nothing is written,
   * `updated_at` included.
   * @throws RegistryError `not_found`, `invalid`, and what `decide` throws
   */
  update(
    id: number,
    visible: Visible,
    decide: (stored: Stored) => Decided<Values>,
    nowSeconds: number,
    actor: Actor,
  ): Stored;
}

const valuesOf = (fields: readonly NamedField[], values: object): Column[] =>
  fields.map(({ property }) => (values as { readonly [property: string]: Column })[property] ?? null);

export function openRowStore<
  Stored extends Written & { readonly id: number },
  Values extends Pick<Written, 'status'>,
>(db: Connection, { entity, fields, otherConflict, find }: RowDeclaration<Stored>): RowStore<Stored, Values> {
  const all = listFields(fields);
  const replaced = all.filter(isReplaced);
  const names = replaced.map(({ name }) => name);
  const insert = db.prepare<Column[]>(
    `INSERT INTO ${entity} (id, ${all.map(({ column }) => column).join(', ')}, created_at, updated_at)
     VALUES (${newIdSql(entity)}, ${all.map(() => '?').join(', ')}, ?, ?)`,
  );
  const replace = db.prepare<Column[]>(
    `UPDATE ${entity} SET ${replaced.map(({ column }) => `${column} = ?`).join(', ')}, updated_at = ?
     WHERE id = ?`,
  );
  const history = openChangeRecorder(db, entity);
  const conflicts = openConflicts<Values>(db, entity, fields, otherConflict);
  return {
    conflicts,
    insert(values, nowSeconds, actor) {
      const id = Number(insert.run(...valuesOf(all, values), nowSeconds, nowSeconds).lastInsertRowid);
      history.created({ id, cooperativeId: values.cooperativeId ?? id }, nowSeconds, actor);
      return id;
    },
    update(id, visible, decide, nowSeconds, actor) {
      const stored = find(id, visible);
      if (stored === undefined) throw notFound();
      const { values, follow } = decide(stored);
      refuseFields(findFixed(all, stored, values));
      refuseFields(conflicts(values, visible, id));
      const [before, after] = [valuesOf(replaced, stored), valuesOf(replaced, values)];
      if (before.every((value, i) => value === after[i])) return stored;
      const { cooperativeId = id } = stored;
      replace.run(...after, nowSeconds, id);
      history.changed({ id, cooperativeId }, { fields: names, old: before, new: after }, nowSeconds, actor);
      follow?.();
      return find(id, visible) as Stored;
    },
  };
}
