/**
 * Redirects from replaced national IDs to current ones, and from merged members to the members that have
 * their entries now. A redirect in force leads directly to the current target. If a later correction ends a
 * redirect, its row stays, so that an undo of the correction can put the redirect back in force.
 */
import type { Connection } from '../../sqlite/connection.ts';

interface Redirects {
  readonly table: string;
  /** View of the redirects in force. */
  readonly inForce: string;
  readonly from: string;
  readonly to: string;
}

export const REPLACED_NUMBERS: Redirects = {
  table: 'replaced_identity_cards',
  inForce: 'former_identity_cards',
  from: 'old',
  to: 'new',
};
export const MERGED_MEMBERS: Redirects = {
  table: 'merged_members',
  inForce: 'former_members',
  from: 'id',
  to: 'into_id',
};

type Key = string | number;

/**
 * SELECT of the target of a former identifier.
 * @param key SQL of the identifier; by default the only parameter
 */
export const redirectSql = ({ inForce, from, to }: Redirects, key = '?'): string =>
  `SELECT ${to} AS "to" FROM ${inForce} WHERE ${from} = ${key}`;

const currentSql = (redirects: Redirects, key: string): string =>
  `coalesce((${redirectSql(redirects, key)}), ${key})`;
/** @param value SQL of a national ID, current or former */
export const currentNumberSql = (value: string): string => currentSql(REPLACED_NUMBERS, value);
/** @param id SQL of a member id, current or merged */
export const currentMemberSql = (id: string): string => currentSql(MERGED_MEMBERS, id);

/** @returns undefined if no redirect from this identifier is in force */
export const redirectOf = <To extends Key>(db: Connection, redirects: Redirects, from: To): To | undefined =>
  db.value<To | undefined>(redirectSql(redirects), [from]);

/** SQL that is true for a replaced national ID, even if a later correction has ended its redirect. */
export const wasReplacedSql = (value: string): string =>
  `EXISTS (SELECT 1 FROM main.${REPLACED_NUMBERS.table} WHERE old = ${value})`;

/** @param numbers SQL list of national IDs */
export const forgetNumbers = (db: Connection, numbers: string): void =>
  db.exec(`DELETE FROM main.${REPLACED_NUMBERS.table} WHERE old IN (${numbers}) OR new IN (${numbers})`);

/** @returns true if a redirect was in force */
export const endRedirect = (
  db: Connection,
  { table, from }: Redirects,
  key: Key,
  correctionId: number,
): boolean =>
  db.run(`UPDATE main.${table} SET ended_by = ? WHERE ${from} = ? AND ended_by IS NULL`, [correctionId, key])
    .changes > 0;

/**
 * Redirects to `target` the identifier `key` and all identifiers that were redirected to `key`.
 * @param keepsKey false to add no redirect from `key`, which another person or row may then use
 */
export function addRedirect(
  db: Connection,
  { table, from, to }: Redirects,
  [key, target]: readonly [key: Key, target: Key],
  correctionId: number,
  keepsKey = true,
): void {
  const run = (sql: string) => db.run(sql, { key, target, correctionId });
  db.run(`UPDATE main.${table} SET ended_by = ? WHERE ${to} = ? AND ended_by IS NULL`, [correctionId, key]);
  run(`INSERT INTO main.${table} (${from}, ${to}, correction_id)
    SELECT ${from}, @target, @correctionId FROM main.${table}
    WHERE ${to} = @key AND ended_by = @correctionId AND ${from} <> @target`);
  if (keepsKey)
    run(`INSERT INTO main.${table} (${from}, ${to}, correction_id) VALUES (@key, @target, @correctionId)`);
}

export function undoRedirects(db: Connection, correctionId: number): void {
  for (const { table } of [REPLACED_NUMBERS, MERGED_MEMBERS]) {
    db.run(`DELETE FROM main.${table} WHERE correction_id = ?`, [correctionId]);
    db.run(`UPDATE main.${table} SET ended_by = NULL WHERE ended_by = ?`, [correctionId]);
  }
}

/** @param code SQL of the member code that a merged member had before the merge */
export const mergedByCodeSql = (code: string): string =>
  `SELECT ${MERGED_MEMBERS.to} FROM main.${MERGED_MEMBERS.inForce} f WHERE ${code} =
    (SELECT old FROM main.changes WHERE entity = 'members' AND row_id = f.${MERGED_MEMBERS.from}
       AND field = 'member_code' ORDER BY id DESC LIMIT 1)`;
