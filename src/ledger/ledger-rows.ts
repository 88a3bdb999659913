/** Reads ledger files. Each file has one part of a chain; only a file of 1.0.0 may have several parts. */

import { type Connection, WAIT_MS } from '../sqlite/connection.ts';
import { openDatabase, readVersion } from '../sqlite/open-database.ts';
import { LEDGER_SCHEMA, OLD_LEDGER_ID } from '../sqlite/schemas.ts';
import { faultOf, StorageError } from '../sqlite/sqlite-errors.ts';

interface BatchRow {
  readonly id: number;
  readonly count: number;
  readonly last_time: number;
  readonly hash: string;
  readonly entries: string;
}

interface Period {
  /** Sequence of the first entry whose national IDs are hashed with this key. */
  readonly first: number;
  /** In UTC, such as `2026-11`. */
  readonly month: string;
  readonly keyId: string;
}

export interface PartRow {
  /** Identifies the chain: 32 random hexadecimal digits. */
  readonly origin: string;
  /** Id of the registry; empty if unknown. */
  readonly registry: string;
  readonly month: string;
  readonly keyId: string;
  /** Sequence of the first entry. */
  readonly first: number;
  /** Hash of the last batch of the previous file. */
  readonly previousHash: string;
  /** Name of the previous file; empty for the first file. */
  readonly follows: string;
  /** Sequence of the last entry. Null, like `lastHash`, until the file is closed. */
  readonly last: number | null;
  readonly lastHash: string | null;
}

export interface LedgerPart
  extends Pick<PartRow, 'origin' | 'registry' | 'first' | 'previousHash' | 'follows'> {
  /** From `ledger_part`; for an open file or a file of 1.0.0, from the last batch. So is `lastHash`. */
  readonly last: number;
  readonly lastHash: string;
  readonly isClosed: boolean;
  /** Time of the latest access in the last batch, in epoch milliseconds; null without batches. */
  readonly lastMs: number | null;
  readonly periods: readonly Period[];
  /** Row id of a batch minus the sequence of the first entry in the batch. */
  readonly offset: number;
}

/** @throws StorageError if the file has no row in `ledger_part` */
export function readPartRow(db: Connection): PartRow {
  const row = findPartRow(db);
  if (row === undefined)
    throw new StorageError(
      'failed',
      `${db.raw.name} contains no records of the ledger. Restore it from a backup.`,
    );
  return row;
}

const findPartRow = (db: Connection): PartRow | undefined =>
  db.has("sqlite_schema WHERE name = 'ledger_part'")
    ? db.row(
        `SELECT origin, registry, month, key_id AS keyId, first_sequence AS first,
           previous_hash AS previousHash, follows, last_sequence AS last, last_hash AS lastHash
         FROM ledger_part`,
      )
    : undefined;

export function insertPartRow(db: Connection, row: PartRow): void {
  db.run(
    `INSERT INTO ledger_part
     VALUES (1, @origin, @registry, @month, @keyId, @first, @previousHash, @follows, @last, @lastHash)
     ON CONFLICT (id) DO NOTHING`,
    { ...row },
  );
}

/** Distance between the first row ids of two chains in a file of 1.0.0. No chain has that many entries. */
const OLD_CHAIN_SIZE = 2 ** 40;

/** @throws StorageError when the file cannot be read, or is not a ledger file */
export function openLedgerFile(path: string): Connection {
  const db = openDatabase(path, { readOnly: true, waitMs: WAIT_MS.command });
  try {
    if (!isOld(db)) readVersion(db, LEDGER_SCHEMA);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

export interface FileContent {
  readonly parts: readonly LedgerPart[];
  /** Files that retention removed while this file was open for writing. */
  readonly removed: readonly RemovedRow[];
}

/** @returns the fault if the file cannot be read @throws errors that are not caused by the file */
export function readLedgerFile(path: string): FileContent | StorageError {
  try {
    const db = openLedgerFile(path);
    try {
      return { parts: readParts(db), removed: readRemoved(db) };
    } finally {
      db.close();
    }
  } catch (error) {
    return faultOf(error);
  }
}

export const isOld = (db: Connection): boolean =>
  db.raw.pragma('application_id', { simple: true }) === OLD_LEDGER_ID;

/** @throws StorageError for a file without a part; the driver's error for a damaged file */
export function readParts(db: Connection): LedgerPart[] {
  if (isOld(db)) return readOldParts(db);
  const row = readPartRow(db);
  const { first, month, keyId } = row;
  const end = endOf(db, 0, row);
  return [
    {
      ...row,
      last: row.last ?? end.last,
      lastHash: row.lastHash ?? end.lastHash,
      isClosed: row.last !== null,
      lastMs: end.lastMs,
      periods: [{ first, month, keyId }],
      offset: 0,
    },
  ];
}

export interface RemovedRow {
  readonly name: string;
  /** Number of entries of the removed file, and of earlier removals that the removed file had recorded. */
  readonly entries: number;
  readonly removed_at: number;
}

const readRemoved = (db: Connection): RemovedRow[] =>
  db.has("sqlite_schema WHERE name = 'ledger_removed'")
    ? db.rows<RemovedRow>('SELECT name, entries, removed_at FROM ledger_removed')
    : [];

function readOldParts(db: Connection): LedgerPart[] {
  const registry = findPartRow(db)?.registry ?? '';
  const chains = db.rows<{ id: number; origin: string; removed_through: number; removed_hash: string }>(
    'SELECT id, origin, removed_through, removed_hash FROM ledger_chains ORDER BY id',
  );
  return chains.map(({ id, origin, removed_through, removed_hash }) => {
    const offset = id * OLD_CHAIN_SIZE;
    const start = { first: removed_through + 1, previousHash: removed_hash };
    return {
      origin,
      registry,
      ...start,
      follows: '',
      ...endOf(db, offset, start),
      isClosed: true,
      periods: db.rows<Period>(
        'SELECT first, month, key_id AS keyId FROM ledger_periods WHERE chain_id = ? ORDER BY first',
        [id],
      ),
      offset,
    };
  });
}

const BATCH = 'id, count, last_time, hash';
const OF_PART = 'FROM ledger_batches WHERE id > ? AND id < ?';

/** Finds a part's last batch with a row id below `id`. Does not read the entries, which may be damaged. */
const lastBefore = (db: Connection, offset: number, id: number): Omit<BatchRow, 'entries'> | undefined =>
  db.row(`SELECT ${BATCH} ${OF_PART} ORDER BY id DESC LIMIT 1`, [offset, id]);

export function endOf(
  db: Connection,
  offset: number,
  { first, previousHash }: Pick<LedgerPart, 'first' | 'previousHash'>,
): Pick<LedgerPart, 'last' | 'lastHash' | 'lastMs'> {
  const batch = lastBefore(db, offset, offset + OLD_CHAIN_SIZE);
  if (batch === undefined) return { last: first - 1, lastHash: previousHash, lastMs: null };
  return { last: batch.id - offset + batch.count - 1, lastHash: batch.hash, lastMs: batch.last_time };
}

/** True if the part has this batch. Then all earlier entries are equal too, because each hash covers them. */
export function hasBatch(db: Connection, { offset }: LedgerPart, last: number, hash: string): boolean {
  const row = lastBefore(db, offset, offset + last + 1);
  return row !== undefined && row.hash === hash && row.id - offset + row.count - 1 === last;
}

/** Maximum rows of a query. Short read snapshots let a writing process reuse its write-ahead log. */
const PAGE_ROWS = 256;

/**
 * Yields batches, with the sequence of the first entry as `id`.
 * @throws the driver's error at a damaged row, after the earlier rows have been yielded
 */
export function* readRows(db: Connection, { offset }: LedgerPart): Generator<BatchRow, void> {
  const page = db.prepareOnce<BatchRow>(`SELECT ${BATCH}, entries ${OF_PART} ORDER BY id LIMIT ?`);
  let after = offset;
  for (let limit = PAGE_ROWS; ; ) {
    let rows: BatchRow[];
    try {
      rows = page([after, offset + OLD_CHAIN_SIZE, limit]);
    } catch (error) {
      if (limit === 1) throw error;
      // Single reads still return the rows before the damaged row.
      limit = 1;
      continue;
    }
    for (const row of rows) yield offset === 0 ? row : { ...row, id: row.id - offset };
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

export const keyIdAt = ({ periods }: LedgerPart, sequence: number): string =>
  periods.findLast(({ first }) => first <= sequence)?.keyId ?? '';
