/** Writes single rows of entities that have events, with conflict checks, history and event. */

import { isVisible, type Visible } from '../../access/api-keys.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { ERASED_STATUS } from '../../sqlite/counts.ts';
import type { Actor } from '../../sqlite/entity-store.ts';
import type { ReadSnapshot } from '../../sqlite/group-commit.ts';
import type { IdempotentWrites, ResponseToSave } from '../../sqlite/idempotent-writes.ts';
import {
  type Fields,
  findFixed,
  isGiven,
  isReplaced,
  listFields,
  type NamedField,
  type StagedValue,
} from '../../values/declared-fields.ts';
import {
  FieldErrorList,
  type FieldMessages,
  IS_MEMBER,
  NON_FIELD_ERRORS,
  notFound,
  refuseFields,
  unknownReference,
} from '../../values/errors.ts';
import { openChangeRecorder } from '../changes/record-changes.ts';
import { cooperativeSql, type RecordedEntity, referencesOf, tableOf } from '../changes/tables.ts';
import type { ReadModelFormat } from './read-model.ts';
import type { CooperativeSummaries } from './rows.ts';

export interface StoreDependencies {
  readonly snapshot: ReadSnapshot;
  readonly cooperativeSummaries: CooperativeSummaries;
  readonly writes: IdempotentWrites;
  readonly format: ReadModelFormat;
}

type ByProperty<T> = { readonly [property: string]: T };

interface Row {
  readonly id: number;
  /** Undefined for a cooperative. */
  readonly cooperativeId?: number;
}

interface RowDeclaration<Stored, Values> {
  readonly entity: RecordedEntity;
  readonly fields: Fields;
  /** Conflict other than an unknown reference or a duplicate in a unique column. */
  readonly otherConflict?: {
    /**
     * SELECT of a conflicting row. Parameters have the names of columns, such as `@identity_card`;
     * `@exceptId` is the id of the row to write, or null for a new row.
     */
    readonly sql: string;
    /** Reason why the SELECT reads few rows; unset if it uses indexes only. */
    readonly bound?: string;
    readonly field: string;
    readonly message: string;
  };
  /** Reads a row if it is visible. Called inside a write, or inside a read of the snapshot. */
  readonly find: (id: number, visible: Visible) => Stored | undefined;
  /** Returns those values of a new row that clients do not set. */
  readonly complete?: (values: Values) => object;
  /** @throws RegistryError `invalid` for a change that needs an operator */
  readonly refuseChange?: (stored: Stored, values: Values) => void;
  /** Called after a write of the row, in the same transaction. For a change, `row` has the old values. */
  readonly follow?: (row: Stored, nowSeconds: number) => void;
}

/**
 * @returns a function that lists unknown references, values in use that must be unique (of a member: national
 *   ID and code), and the `other` conflict of a write
 */
function openConflicts(
  db: Connection,
  entity: RecordedEntity,
  fields: Fields,
  other: RowDeclaration<unknown, unknown>['otherConflict'],
) {
  const { table, unique } = tableOf(entity);
  const declared = listFields(fields).filter(isGiven);
  const fieldOf = (name: string) => declared.find(({ column }) => column === name);
  const owner = referencesOf(tableOf(entity)).find(({ column }) => fieldOf(column) !== undefined);
  const ownerField = owner && fieldOf(owner.column);
  // A stored row may belong to an erased person, but a new row may not.
  const ownerCondition =
    owner?.entity === 'members' ? `(status <> '${ERASED_STATUS}' OR @exceptId IS NOT NULL)` : 'true';
  const selectOwner =
    owner &&
    db.prepare<[{ id: number; exceptId: number | null }], { cooperative: number }>(
      `SELECT ${cooperativeSql(owner.entity, 'o')} AS cooperative FROM ${tableOf(owner.entity).table} o
       WHERE o.id = @id AND ${ownerCondition}`,
    );
  const selectStored = db.prepare<[id: number], { cooperative: number }>(
    `SELECT ${cooperativeSql(entity, 'r')} AS cooperative FROM ${table} r WHERE r.id = ?`,
  );
  const selectOther =
    other && db.prepare<[{ readonly [column: string]: unknown }], object>(other.sql, other.bound);
  const inCooperative = owner === undefined ? '' : 'cooperative_id = @cooperative AND';
  const keys = unique
    .flatMap((columns) => fieldOf(columns.at(-1) as string) ?? [])
    .map((field) => ({
      ...field,
      select: db.prepare<[{ cooperative: number | null; value: unknown }], { id: number }>(
        `SELECT id FROM ${table} WHERE ${inCooperative} ${field.column} = @value`,
      ),
    }));

  /** @param exceptId id of the row to write; null for a new row */
  return (submitted: object, visible: Visible, exceptId: number | null = null): FieldMessages => {
    const values = submitted as ByProperty<unknown>;
    const faults = new FieldErrorList();
    const reference = ownerField && (values[ownerField.property] as number | undefined);
    const ofOwner =
      reference === undefined ? undefined : selectOwner?.get({ id: reference, exceptId })?.cooperative;
    if (ownerField !== undefined) {
      const isOwnerVisible = ofOwner !== undefined && isVisible(visible, ofOwner);
      if (reference !== undefined && !isOwnerVisible)
        faults.add(ownerField.name, unknownReference(reference));
      // Without its cooperative, a row cannot be compared. Conflicts could reveal rows that are not visible.
      if (reference === undefined ? owner?.entity === 'cooperatives' : !isOwnerVisible && visible !== null)
        return faults.fields;
    }
    const cooperative = ofOwner ?? (exceptId && selectStored.get(exceptId)?.cooperative) ?? null;
    for (const { name, column, property, select } of keys) {
      const id = select.get({ cooperative, value: values[property] ?? null })?.id;
      if (id === undefined || id === exceptId) continue;
      if (column === 'identity_card') faults.add(NON_FIELD_ERRORS, IS_MEMBER);
      else faults.add(name, 'This field must be unique.');
    }
    const columns = declared.map(({ column, property }) => [column, values[property] ?? null] as const);
    const written = { ...Object.fromEntries(columns), exceptId };
    if (other !== undefined && selectOther?.get(written) !== undefined)
      faults.add(other.field, other.message);
    return faults.fields;
  };
}

export const columnsOf = (fields: readonly NamedField[], values: object): StagedValue[] =>
  fields.map(({ property }) => (values as ByProperty<StagedValue>)[property] ?? null);

/** @returns a function that adds a row and returns its id, which no removed row has had */
export function openInsert(db: Connection, table: string, columns: readonly string[]) {
  // If the row with the highest id was removed, SQLite would reuse this id. NULL lets SQLite choose the id.
  const newId = `(SELECT last_id + 1 FROM removed_ids
    WHERE table_name = '${table}' AND last_id >= (SELECT coalesce(max(id), 0) FROM ${table}))`;
  const insert = db.prepare<StagedValue[]>(
    `INSERT INTO ${table} (id, ${columns.join(', ')}) VALUES (${newId}${', ?'.repeat(columns.length)})`,
  );
  return (...values: StagedValue[]): number => Number(insert.run(...values).lastInsertRowid);
}

export const ifVisible = <Stored extends { readonly cooperativeId: number }>(
  row: Stored | undefined,
  visible: Visible,
): Stored | undefined => (row !== undefined && isVisible(visible, row.cooperativeId) ? row : undefined);

export function openRowStore<Stored extends Row, Values extends object>(
  db: Connection,
  { snapshot, writes }: StoreDependencies,
  declaration: RowDeclaration<Stored, Values>,
) {
  const { entity, fields, otherConflict, find, complete, refuseChange, follow } = declaration;
  const declared = listFields(fields);
  const replaced = declared.filter(isReplaced);
  const names = replaced.map(({ name }) => name);
  const columns = declared.map(({ column }) => column);
  const insertRow = openInsert(db, entity, [...columns, 'created_at', 'updated_at']);
  const replaceRow = db.prepare<StagedValue[]>(
    `UPDATE ${entity} SET ${replaced.map(({ column }) => `${column} = ?`).join(', ')}, updated_at = ?
     WHERE id = ?`,
  );
  const history = openChangeRecorder(db, entity);
  const conflicts = openConflicts(db, entity, fields, otherConflict);

  /**
   * Does not check for conflicts.
   * @param values by property, without the id, created_at and updated_at; missing values become null
   */
  function insert(values: object, nowSeconds: number, actor: Actor): Stored {
    const id = insertRow(...columnsOf(declared, values), nowSeconds, nowSeconds);
    const row = find(id, null) as Stored;
    const { cooperativeId = id } = row;
    history.created({ id, cooperativeId }, nowSeconds, actor);
    follow?.(row, nowSeconds);
    return row;
  }

  /**
   * Writes nothing if no value differs.
   * @throws RegistryError `not_found`, `invalid`, and errors of `decide`
   */
  function update(
    id: number,
    visible: Visible,
    decide: (stored: Stored) => Values,
    nowSeconds: number,
    actor: Actor,
  ): Stored {
    const stored = find(id, visible);
    if (stored === undefined) throw notFound();
    const values = decide(stored);
    refuseChange?.(stored, values);
    refuseFields(findFixed(declared, stored, values));
    refuseFields(conflicts(values, visible, id));
    const [before, after] = [columnsOf(replaced, stored), columnsOf(replaced, values)];
    if (before.every((value, i) => value === after[i])) return stored;
    const { cooperativeId = id } = stored;
    replaceRow.run(...after, nowSeconds, id);
    history.changed({ id, cooperativeId }, { fields: names, old: before, new: after }, nowSeconds, actor);
    follow?.(stored, nowSeconds);
    return find(id, visible) as Stored;
  }

  return {
    insert,
    update,
    narrowedTo: (visible: Visible) => ({
      find: (id: number) => snapshot.read(() => find(id, visible)),
      conflicts: (values: Partial<Values>, exceptId?: number) =>
        snapshot.read(() => conflicts(values, visible, exceptId)),
      create: (values: Values, nowSeconds: number, actor: Actor, keep?: ResponseToSave<Stored> | undefined) =>
        writes.create(keep, nowSeconds, () => {
          refuseFields(conflicts(values, visible));
          return insert({ ...values, ...complete?.(values) }, nowSeconds, actor);
        }),
      update: (id: number, decide: (stored: Stored) => Values, nowSeconds: number, actor: Actor) =>
        writes.update(nowSeconds, () => update(id, visible, decide, nowSeconds, actor)),
    }),
  };
}
