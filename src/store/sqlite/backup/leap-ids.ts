/**
 * Each restore lets every counter leap, so that no id is given twice within a registry: nobody has to know
 * which ids were given after the backup, here or by another copy (docs/decisions/0035-registry-identity.md).
 */
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { StorageError } from '../../contract/storage-error.ts';
import { COUNTED } from '../check/check.ts';
import type { Connection } from '../engine/connection.ts';
import { withDatabase } from '../engine/open-database.ts';
import { keepRemovedId } from '../journal/record-changes.ts';
import { KEYS_SCHEMA } from '../schema/migrations/keys.ts';

const LEAP = { from: 1_000_000, to: 1_000_000_000 };
/** Ids have 12 digits at most. */
const MAX_ID = 999_999_999_999;
/**
 * Codes of cooperatives are written into the index of names as two characters of the script that has most of
 * them: their ids leap less, as few of them are given.
 */
const COOPERATIVES = { from: 1_000_000, to: 2_000_000, max: 418_000_000 };

export interface CopiedFiles {
  readonly registry: string;
  readonly keys: string;
  readonly webhooks: string;
}

/**
 * @param copies of a registry, which nobody else has open
 * @param leap a random number of this range; given by tests
 * @throws StorageError `failed` when an id would have more than 12 digits: nothing is restored then
 */
export function leapIds(
  { registry, keys, webhooks }: CopiedFiles,
  leap: (from: number, to: number) => number = randomInt,
): void {
  const next = (table: string, last: number): number => {
    const { from, to, max } = table === 'cooperatives' ? COOPERATIVES : { ...LEAP, max: MAX_ID };
    const id = last + leap(from, to);
    if (id <= max) return id;
    throw new StorageError(
      'failed',
      `The ids of ${table} would be higher than ${max}. Nothing was restored.`,
    );
  };
  withDatabase(registry, { waitMs: 0 }, (db) =>
    db.transaction.immediate(() => {
      for (const table of COUNTED) keepRemovedId(db, table, next(table, lastId(db, table)));
      leapSequences(db, next);
    }),
  );
  if (existsSync(keys))
    withDatabase(keys, { waitMs: 0, schema: KEYS_SCHEMA }, (db) => {
      const last = db.value<number>(
        'SELECT max((SELECT coalesce(max(id), 0) FROM api_keys), (SELECT last_id FROM last_key_id))',
      );
      db.run('UPDATE last_key_id SET last_id = ?', [next('api_keys', last)]);
    });
  if (existsSync(webhooks))
    withDatabase(webhooks, { waitMs: 0 }, (db) => db.transaction.immediate(() => leapSequences(db, next)));
}

const lastId = (db: Connection, table: string): number =>
  db.value<number>(
    `SELECT max(coalesce((SELECT max(id) FROM ${table}), 0),
       coalesce((SELECT last_id FROM removed_ids WHERE table_name = '${table}'), 0))`,
  );

/** Tables whose ids SQLite counts; it has no row for one that never had a row. */
function leapSequences(db: Connection, next: (table: string, last: number) => number): void {
  const tables = db.values<string>(
    `SELECT name FROM sqlite_schema
     WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%' AND name NOT LIKE 'sqlite_%'`,
  );
  for (const table of tables) {
    const last = db.value<number | undefined>('SELECT seq FROM sqlite_sequence WHERE name = ?', [table]);
    const seq = next(table, last ?? 0);
    if (last === undefined) db.run('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)', [table, seq]);
    else db.run('UPDATE sqlite_sequence SET seq = ? WHERE name = ?', [seq, table]);
  }
}
