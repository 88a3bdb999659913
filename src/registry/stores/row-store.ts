/**
 * Single rows of an entity that has events: conflicts of a write, and the write itself with its history,
 * event and counts.
 */

import { isVisible, type Visible } from '../../access/api-keys.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { ERASED_STATUS } from '../../sqlite/counts.ts';
import type { Actor, ResponseKeeper } from '../../sqlite/entity-store.ts';
import type { GroupCommit, ReadSnapshot } from '../../sqlite/group-commit.ts';
import {
  type Fields,
  findFixed,
  isGiven,
  isReplaced,
  listFields,
  type NamedField,
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
import { newIdSql, openChangeRecorder } from '../changes/record-changes.ts';
import { cooperativeSql, type RecordedEntity, referencesOf, tableOf } from '../changes/tables.ts';
import type { CooperativeSummaries } from './rows.ts';

// Conflicts, derived from the description of the table: references and unique columns

/** An additional conflict of a value. */
export interface OtherConflict {
  /**
   * SELECT of a row that exists in a conflict, with values as parameters named after columns
   * (`@identity_card`).
   */
  readonly sql: string;
  readonly field: string;
  readonly message: string;
}

/** @param exceptId id of the row that is written; undefined for a new one */
type FindConflicts<Values> = (values: Partial<Values>, visible: Visible, exceptId?: number) => FieldMessages;

interface Cooperative {
  readonly cooperative: number;
}

function openConflicts<Values>(
  db: Connection,
  entity: RecordedEntity,
  fields: Fields,
  other?: OtherConflict,
): FindConflicts<Values> {
  const { table, unique } = tableOf(entity);
  const given = listFields(fields).filter(isGiven);
  const fieldOf = (wanted: string) => given.find(({ column }) => column === wanted);
  const owner = referencesOf(tableOf(entity)).find(({ column }) => fieldOf(column) !== undefined);
  const ownerField = owner && fieldOf(owner.column);
  // An erased person cannot get new rows; existing ones are kept.
  const isThere =
    owner?.entity === 'members' ? `(status <> '${ERASED_STATUS}' OR @exceptId IS NOT NULL)` : 'true';
  const selectOwner =
    owner &&
    db.prepare<[{ id: number; exceptId: number | null }], Cooperative>(
      `SELECT ${cooperativeSql(owner.entity, 'o')} AS cooperative FROM ${tableOf(owner.entity).table} o
       WHERE o.id = @id AND ${isThere}`,
    );
  const selectOwn = db.prepare<[id: number], Cooperative>(
    `SELECT ${cooperativeSql(entity, 'r')} AS cooperative FROM ${table} r WHERE r.id = ?`,
  );
  const selectOther = other && db.prepare<[{ readonly [column: string]: unknown }], object>(other.sql);
  const inCooperative = owner === undefined ? '' : 'cooperative_id = @cooperative AND';
  const keys = unique
    .flatMap((columns) => fieldOf(columns.at(-1) as string) ?? [])
    .map((field) => ({
      ...field,
      select: db.prepare<[{ cooperative: number | null; value: unknown }], { id: number }>(
        `SELECT id FROM ${table} WHERE ${inCooperative} ${field.column} = @value`,
      ),
    }));

  return (values, visible, exceptId) => {
    const faults = new FieldErrorList();
    const named = values as { readonly [property: string]: unknown };
    const reference = ownerField && (named[ownerField.property] as number | undefined);
    const ofOwner =
      reference === undefined
        ? undefined
        : selectOwner?.get({ id: reference, exceptId: exceptId ?? null })?.cooperative;
    if (ownerField !== undefined) {
      const isSeen = ofOwner !== undefined && isVisible(visible, ofOwner);
      if (reference !== undefined && !isSeen) faults.add(ownerField.name, unknownReference(reference));
      // Returns early so as not to reveal rows that are not visible.
      if (reference === undefined ? owner?.entity === 'cooperatives' : !isSeen && visible !== null)
        return faults.fields;
    }
    const cooperative =
      ofOwner ?? (exceptId === undefined ? undefined : selectOwn.get(exceptId)?.cooperative);
    for (const { name, column, property, select } of keys) {
      const id = select.get({ cooperative: cooperative ?? null, value: named[property] ?? null })?.id;
      if (id === undefined || id === exceptId) continue;
      if (column === 'identity_card') faults.add(NON_FIELD_ERRORS, IS_MEMBER);
      else faults.add(name, 'This field must be unique.');
    }
    const asked = given.map(({ column, property }) => [column, named[property] ?? null] as const);
    if (other !== undefined && selectOther?.get(Object.fromEntries(asked)) !== undefined)
      faults.add(other.field, other.message);
    return faults.fields;
  };
}

export interface StoreDependencies {
  readonly commits: GroupCommit;
  readonly snapshot: ReadSnapshot;
  readonly cooperativeSummaries: CooperativeSummaries;
  /** Creates rows that answer a request. */
  readonly responses: ResponseKeeper;
}

type Column = string | number | null;

/** Values by which a row is counted and recorded. */
interface Written {
  readonly status: string;
  /** Undefined for a cooperative. */
  readonly cooperativeId?: number;
}

interface RowDeclaration<Stored> {
  readonly entity: RecordedEntity;
  readonly fields: Fields;
  readonly otherConflict?: OtherConflict;
  /** Reads a visible row. */
  readonly find: (id: number, visible: Visible) => Stored | undefined;
}

interface Decided<Values> {
  readonly values: Values;
  /** Called after the values are written. */
  readonly follow?: () => void;
}

interface RowStore<Stored, Values> {
  readonly conflicts: FindConflicts<Values>;
  /**
   * @param values values of the fields, including those not set by clients
   * @returns the id of the new row
   */
  insert(values: Values & Written, nowSeconds: number, actor: Actor): number;
  /**
   * Writes the values that a request may change, then calls `follow`. If nothing differs, nothing is written,
   * not even `updated_at`.
   * @throws RegistryError `not_found`, `invalid`, and errors of `decide`
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
