/** Keys that hash the national IDs in the ledger, one for each month, stored in the file of the API keys. */
import { hash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { WAIT_MS } from '../sqlite/connection.ts';
import { withDatabase } from '../sqlite/open-database.ts';
import { KEYS_SCHEMA } from '../sqlite/schemas.ts';
import type { HashPerson } from './ledger-entries.ts';

export interface MonthKey {
  readonly id: string;
  readonly month: string;
  readonly secret: Buffer;
}

const ROWS = 'SELECT id, month, secret FROM ledger_keys';
const KEY_BYTES = 32;
const ID_DIGITS = 16;

/** @returns the month in UTC, such as `2026-11` */
export const monthOf = (ms: number): string => new Date(ms).toISOString().slice(0, '2026-11'.length);

const idOf = (secret: Uint8Array): string => hash('sha256', secret).slice(0, ID_DIGITS);

const isIntact = ({ id, secret }: MonthKey): boolean => id === idOf(secret);

/** @param keysFile created if missing @throws StorageError, the driver's error */
const change = <T>(keysFile: string, work: Parameters<typeof withDatabase<T>>[2]): T =>
  withDatabase(keysFile, { schema: KEYS_SCHEMA, waitMs: WAIT_MS.command, create: true }, (db) =>
    db.transaction.immediate(() => work(db)),
  );

/** Creates a key if the month has no intact key. @returns the id of the month's key */
export const takeMonthKey = (keysFile: string, month: string): string =>
  change(keysFile, (db) => {
    const rows = db.rows<MonthKey>(`${ROWS} WHERE month = ?`, [month]);
    const intact = rows.find(isIntact);
    const secret = intact?.secret ?? randomBytes(KEY_BYTES);
    const id = idOf(secret);
    if (intact === undefined) db.run('INSERT INTO ledger_keys VALUES (?, ?, ?)', [id, month, secret]);
    return id;
  });

/** Returns the hash functions of the intact keys, by key id. */
export const readMonthKeys = (keysFile: string): ReadonlyMap<string, HashPerson> =>
  new Map(readIntact(keysFile).map(({ id, secret }) => [id, createPersonHash(secret)]));

/** A file from a release without the ledger lacks the table. */
function readIntact(keysFile: string): MonthKey[] {
  if (!existsSync(keysFile)) return [];
  return withDatabase(keysFile, { readOnly: true, waitMs: WAIT_MS.command }, (db) =>
    db.has("sqlite_schema WHERE name = 'ledger_keys'") ? db.rows<MonthKey>(ROWS).filter(isIntact) : [],
  );
}

/** National IDs that were hashed with these keys can then no longer be found in the ledger. */
export function destroyMonthKeys(keysFile: string, isDoomed: (key: MonthKey) => boolean): void {
  if (!existsSync(keysFile)) return;
  change(keysFile, (db) => {
    for (const { id } of db.rows<MonthKey>(ROWS).filter(isDoomed))
      db.run('DELETE FROM ledger_keys WHERE id = ?', [id]);
  });
}

/** Adds the intact keys of another file, because ledger files may need these keys. */
export function addMonthKeys(keysFile: string, otherFile: string): void {
  const rows = readIntact(otherFile);
  if (rows.length === 0) return;
  change(keysFile, (db) => {
    for (const { id, month, secret } of rows)
      db.run('INSERT OR IGNORE INTO ledger_keys VALUES (?, ?, ?)', [id, month, secret]);
  });
}

const DIGITS = 32;
const DIGITS_OF_CARD = 16;
const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;

/**
 * Computes the first 32 digits of HMAC-SHA256 (RFC 2104), in half the time of Node's `createHmac`.
 * @param secret at most 64 bytes
 */
function createPersonHash(secret: Uint8Array): HashPerson {
  const padded = (byte: number) => Buffer.alloc(BLOCK_BYTES).map((_, i) => (secret[i] ?? 0) ^ byte);
  const inner = Buffer.concat([padded(0x36), Buffer.alloc(DIGITS_OF_CARD)]);
  const outer = Buffer.concat([padded(0x5c), Buffer.alloc(DIGEST_BYTES)]);
  return (identityCard) => {
    const length = Buffer.byteLength(identityCard);
    const text =
      length === DIGITS_OF_CARD
        ? inner
        : Buffer.concat([inner.subarray(0, BLOCK_BYTES), Buffer.alloc(length)]);
    text.write(identityCard, BLOCK_BYTES);
    outer.write(hash('sha256', text, 'binary'), BLOCK_BYTES, 'binary');
    return hash('sha256', outer).slice(0, DIGITS);
  };
}
