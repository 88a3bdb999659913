/** The groups of a list: all, one, or some, as those of a key that sees some cooperatives. */

/** Ids of the groups of a list; undefined for all. */
export type Groups = readonly number[] | undefined;

/** The groups as a parameter of SQL: a JSON array; null for all. */
export const toGroupsParameter = (groups: Groups): string | null =>
  groups === undefined ? null : JSON.stringify(groups);

/** SQL of whether a row is in one of the groups of `@cooperatives`. */
export const isInGroupsSql = (column: string): string =>
  `(@cooperatives IS NULL OR ${column} IN (SELECT value FROM json_each(@cooperatives)))`;
