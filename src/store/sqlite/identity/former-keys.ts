/**
 * What a former key leads to: a replaced national ID to the current one, a merged member to the one that has
 * its entries. A row in force leads to what is there now, in one step; one that a later correction has ended
 * stays, so that undoing that correction puts it in force again. Only this file knows of those: everybody
 * else reads the views of what is in force.
 */
import type { Connection } from '../engine/connection.ts';

export interface Redirects {
  readonly table: string;
  /** View of the rows in force. */
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

/** SELECT of what a former key leads to. @param key SQL of it: by default the only parameter */
export const redirectSql = ({ inForce, from, to }: Redirects, key = '?'): string =>
  `SELECT ${to} AS "to" FROM ${inForce} WHERE ${from} = ${key}`;

/** SQL of the current national ID for one that may be a former one. @param value SQL of the latter */
export const currentNumberSql = (value: string): string =>
  `coalesce((${redirectSql(REPLACED_NUMBERS, value)}), ${value})`;

/** @returns undefined for a key that is not a former one */
export const redirectOf = <To extends Key>(db: Connection, redirects: Redirects, from: To): To | undefined =>
  db.value<To | undefined>(redirectSql(redirects), [from]);

/** SQL of whether a national ID was ever replaced, also if it was released since. @param value SQL of it */
export const wasReplacedSql = (value: string): string =>
  `EXISTS (SELECT 1 FROM main.${REPLACED_NUMBERS.table} WHERE old = ${value})`;

/** Forgets national IDs of a person who is erased. @param numbers a list for SQL */
export const forgetNumbers = (db: Connection, numbers: string): void =>
  db.exec(`DELETE FROM main.${REPLACED_NUMBERS.table} WHERE old IN (${numbers}) OR new IN (${numbers})`);

/** Ends that a former key leads anywhere. @returns whether it did */
export const endRedirect = (
  db: Connection,
  { table, from }: Redirects,
  key: Key,
  correctionId: number,
): boolean =>
  db.run(`UPDATE main.${table} SET ended_by = ? WHERE ${from} = ? AND ended_by IS NULL`, [correctionId, key])
    .changes > 0;

/**
 * From now on a key, and what has led to it, leads to another one.
 * @param keepsKey whether the key itself is kept, or free for somebody else
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

/** Takes back what a correction has done to redirects. */
export function undoRedirects(db: Connection, correctionId: number): void {
  for (const { table } of [REPLACED_NUMBERS, MERGED_MEMBERS]) {
    db.run(`DELETE FROM main.${table} WHERE correction_id = ?`, [correctionId]);
    db.run(`UPDATE main.${table} SET ended_by = NULL WHERE ended_by = ?`, [correctionId]);
  }
}

/** SELECT of the members into whom those were merged that had a code. @param code SQL of it */
export const mergedByCodeSql = (code: string): string =>
  `SELECT ${MERGED_MEMBERS.to} FROM main.${MERGED_MEMBERS.inForce} f WHERE ${code} =
    (SELECT old FROM main.changes WHERE entity = 'members' AND row_id = f.${MERGED_MEMBERS.from}
       AND field = 'member_code' ORDER BY id DESC LIMIT 1)`;
