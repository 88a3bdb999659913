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
import { ERASED_STATUS } from '../identity/erased-rows.ts';
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

type Found = readonly [cooperative: number | null, other: unknown, ...same: (number | null)[]];

/** One statement for all: each takes longer to call than to run. */
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
  const keys = unique.flatMap((columns) => fieldOf(columns.at(-1) as string) ?? []);
  // Nothing new begins for an erased person; what is there already stays.
  const isThere =
    owner?.entity === 'members' ? `(status <> '${ERASED_STATUS}' OR @exceptId IS NOT NULL)` : 'true';
  const ofOwner = owner
    ? `(SELECT ${cooperativeSql(owner.entity, 'o')} FROM ${tableOf(owner.entity).table} o
       WHERE o.id = @${owner.column} AND ${isThere})`
    : 'NULL';
  const cooperative = `coalesce(${ofOwner}, (SELECT ${cooperativeSql(entity, 'r')} FROM ${table} r
    WHERE r.id = @exceptId))`;
  const inCooperative = owner === undefined ? '' : `cooperative_id = ${cooperative} AND`;
  const same = keys.map(
    ({ column }) => `(SELECT id FROM ${table} WHERE ${inCooperative} ${column} = @${column})`,
  );
  const select = db.prepareTuples<[{ readonly [name: string]: unknown }], Found>(
    `SELECT ${[ofOwner, other === undefined ? 'NULL' : `(${other.sql})`, ...same].join(', ')}`,
  );

  return (values, visible, exceptId) => {
    const faults = new FieldErrorList();
    const named = values as { readonly [property: string]: unknown };
    const asked = given.map(({ column, property }) => [column, named[property] ?? null] as const);
    const [ofGiven, isOther, ...others] = select.get({
      ...Object.fromEntries(asked),
      exceptId: exceptId ?? null,
    }) as Found;
    if (ownerField !== undefined) {
      const reference = named[ownerField.property] as number | undefined;
      const isSeen = ofGiven !== null && isVisible(visible, ofGiven);
      if (reference !== undefined && !isSeen) faults.add(ownerField.name, unknownReference(reference));
      // Nothing is said of what is there.
      if (reference === undefined ? owner?.entity === 'cooperatives' : !isSeen && visible !== null)
        return faults.fields;
    }
    for (const [i, { name, column }] of keys.entries()) {
      const id = others[i] ?? null;
      if (id === null || id === exceptId) continue;
      if (column === 'identity_card') faults.add(NON_FIELD_ERRORS, IS_MEMBER);
      else faults.add(name, 'This field must be unique.');
    }
    if (other !== undefined && isOther !== null) faults.add(other.field, other.message);
    return faults.fields;
  };
}
