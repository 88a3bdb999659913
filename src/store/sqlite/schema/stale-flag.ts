/**
 * When a stored column of the read model is not served:
 *
 * - it has the stale flag, set by triggers in the transaction that changes the entries
 *   (migrations/registry-1.sql);
 * - it was stored under another version of the rules (`RULES_VERSION` of read-model/format.ts);
 * - it holds production, and a delivery has expired or happened since (domain/entries/production.ts).
 */

/** The stale flag. It is part of files in use and cannot change. */
const STALE = '';
/** The same, in a statement. */
export const STALE_SQL = `'${STALE}'`;

/** The columns of a member's row that hold the read model. */
export const READ_MODEL_COLUMNS = ['production', 'loans', 'savings'] as const;
export type ReadModelColumn = (typeof READ_MODEL_COLUMNS)[number];

/** A condition on members: a column is stale. Worded like the partial index `members_unsummarized`. */
export const IS_STALE = READ_MODEL_COLUMNS.map((column) => `${column} = ${STALE_SQL}`).join(' OR ');

/**
 * A statement that marks a column as stale.
 * @param members condition on the members whose entries have changed
 */
export const markStaleSql = (column: ReadModelColumn, members: string): string =>
  `UPDATE main.members SET ${column} = ${STALE_SQL} WHERE ${column} IS NOT ${STALE_SQL} AND ${members}`;
