/** The columns of declared fields, in SQL. */
import type { NamedField } from '../../../domain/values/declared-fields.ts';

/** Columns as the properties of an entity, so that no row is converted. @param table its alias */
export const selected = (table: string, fields: readonly NamedField[]): string =>
  fields.map(({ column, property }) => `${table}.${column} AS ${property}`).join(', ');
