/** What keeps values from being written, by the description of the table: references, and what is unique. */
import { isVisible, type Visible } from '../../../domain/access/visible.ts';
import { type Fields, isGiven, listFields } from '../../../domain/values/declared-fields.ts';
import {
  FieldErrorList,
  type FieldMessages,
  IS_MEMBER,
  NON_FIELD_ERRORS,
  unknownReference,
} from '../../../domain/values/errors.ts';
import type { Connection } from '../engine/connection.ts';
import { ERASED_STATUS } from '../schema/counts.ts';
import { cooperativeSql, type RecordedEntity, referencesOf, tableOf } from '../schema/tables.ts';

/** What else may be in the way of a value. */
export interface OtherConflict {
  /** SELECT of one row, from a value by the name of its column: `@identity_card`. */
  readonly sql: string;
  readonly field: string;
  readonly message: string;
}

/** @param exceptId of the row that is written; undefined for a new one */
export type FindConflicts<Values> = (
  values: Partial<Values>,
  visible: Visible,
  exceptId?: number,
) => FieldMessages;

interface Cooperative {
  readonly cooperative: number;
}

export function openConflicts<Values>(
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
  // Nothing new begins for an erased person; what is there already stays.
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
      // Nothing is said of what is there.
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
