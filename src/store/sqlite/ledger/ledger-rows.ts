/** The rows of a ledger file. A file has one part of one chain; that of 1.0.0 has several. */
import { StorageError } from '../../contract/storage-error.ts';
import type { Connection } from '../engine/connection.ts';
import { faultOf } from '../engine/errors.ts';
import { readVersion } from '../engine/migrate.ts';
import { openDatabase } from '../engine/open-database.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import { LEDGER_SCHEMA, OLD_LEDGER_ID } from '../schema/migrations/ledger.ts';

/** As `ledger_batches` has it. */
export interface BatchRow {
  readonly id: number;
  readonly count: number;
  readonly last_time: number;
  readonly hash: string;
  readonly entries: string;
}

export interface Period {
  /** The first sequence whose national IDs are hashed with this key. */
  readonly first: number;
  /** In UTC, as `2026-11`. */
  readonly month: string;
  readonly keyId: string;
}

/** Consecutive batches of one chain in one file. */
export interface LedgerPart {
  /** 32 random hexadecimal digits: the chain. */
  readonly origin: string;
  /** The id of the registry; empty where it is not known. */
  readonly registry: string;
  /** The first sequence, and the hash before it. */
  readonly first: number;
  readonly previousHash: string;
  readonly follows: string;
  /** The last sequence and its hash: as the rows say, or once it is closed as the file says. */
  readonly last: number;
  readonly lastHash: string;
  readonly isClosed: boolean;
  /** The latest instant of the last batch, in epoch milliseconds; null without batches. */
  readonly lastMs: number | null;
  readonly periods: readonly Period[];
  /** Ids of rows are sequences plus this. */
  readonly offset: number;
}

interface PartRow {
  readonly origin: string;
  readonly registry: string;
  readonly month: string;
  readonly key_id: string;
  readonly first_sequence: number;
  readonly previous_hash: string;
  readonly follows: string;
  readonly last_sequence: number | null;
  readonly last_hash: string | null;
}

/** More sequences than a chain will ever have. */
const OLD_CHAIN_SIZE = 2 ** 40;

/** @throws StorageError when it cannot be read, or is not a file of the ledger */
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

/** What a file has, and which ones retention has removed while it was open. */
export interface FileContent {
  readonly parts: readonly LedgerPart[];
  readonly removed: readonly RemovedRow[];
}

/** @returns the fault of one that cannot be read @throws what is not about the file */
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

/** @throws StorageError for a file without a part; the driver's error where it is damaged */
export function readParts(db: Connection): LedgerPart[] {
  if (isOld(db)) return readOldParts(db);
  const row = db.has("sqlite_schema WHERE name = 'ledger_part'") ? readPartRow(db) : undefined;
  if (row === undefined)
    throw new StorageError(
      'failed',
      `${db.raw.name} has no part of the ledger in it. Restore it from a backup.`,
    );
  const { origin, registry, month, key_id: keyId, follows } = row;
  const [first, previousHash] = [row.first_sequence, row.previous_hash];
  const last = lastBatch(db, 0);
  return [
    {
      origin,
      registry,
      first,
      previousHash,
      follows,
      last: row.last_sequence ?? (last === undefined ? first - 1 : last.id + last.count - 1),
      lastHash: row.last_hash ?? last?.hash ?? previousHash,
      isClosed: row.last_sequence !== null,
      lastMs: last?.last_time ?? null,
      periods: [{ first, month, keyId }],
      offset: 0,
    },
  ];
}

export const readPartRow = (db: Connection): PartRow | undefined =>
  db.row<PartRow>('SELECT * FROM ledger_part');

export interface RemovedRow {
  readonly name: string;
  /** Its entries, and those that it counted itself as removed. */
  readonly entries: number;
  readonly removed_at: number;
}

const readRemoved = (db: Connection): RemovedRow[] =>
  db.has("sqlite_schema WHERE name = 'ledger_removed'")
    ? db.rows<RemovedRow>('SELECT name, entries, removed_at FROM ledger_removed')
    : [];

function readOldParts(db: Connection): LedgerPart[] {
  const stamp = db.has("sqlite_schema WHERE name = 'ledger_part'") ? readPartRow(db) : undefined;
  const chains = db.rows<{ id: number; origin: string; removed_through: number; removed_hash: string }>(
    'SELECT id, origin, removed_through, removed_hash FROM ledger_chains ORDER BY id',
  );
  return chains.map(({ id, origin, removed_through, removed_hash }) => {
    const offset = id * OLD_CHAIN_SIZE;
    const last = lastBatch(db, offset);
    return {
      origin,
      registry: stamp?.registry ?? '',
      first: removed_through + 1,
      previousHash: removed_hash,
      follows: '',
      last: last === undefined ? removed_through : last.id - offset + last.count - 1,
      lastHash: last?.hash ?? removed_hash,
      isClosed: true,
      lastMs: last?.last_time ?? null,
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

/** The last batch. Its entries are left out: they may be the only thing that is damaged. */
export const lastBatch = (db: Connection, offset: number): Omit<BatchRow, 'entries'> | undefined =>
  db.row(`SELECT ${BATCH} ${OF_PART} ORDER BY id DESC LIMIT 1`, [offset, offset + OLD_CHAIN_SIZE]);

/** Whether a file has the batch that ends with a sequence and has a hash, and so everything before it. */
export function hasBatch(db: Connection, { offset }: LedgerPart, last: number, hash: string): boolean {
  const row = db.row<{ id: number; count: number; hash: string }>(
    `SELECT id, count, hash ${OF_PART} ORDER BY id DESC LIMIT 1`,
    [offset, offset + last + 1],
  );
  return row !== undefined && row.hash === hash && row.id - offset + row.count - 1 === last;
}

/** Rows that are read at a time: the file may be written meanwhile, and no snapshot is held for long. */
const PAGE_ROWS = 256;

/** The batches of a part, with sequences for ids. @throws the driver's error at one that is damaged */
export function* readRows(db: Connection, { offset }: LedgerPart): Generator<BatchRow, void> {
  const page = db.prepareOnce<BatchRow>(`SELECT ${BATCH}, entries ${OF_PART} ORDER BY id LIMIT ?`);
  let after = offset;
  for (let limit = PAGE_ROWS; ; ) {
    let rows: BatchRow[];
    try {
      rows = page([after, offset + OLD_CHAIN_SIZE, limit]);
    } catch (error) {
      if (limit === 1) throw error;
      // What comes before the damage can be read.
      limit = 1;
      continue;
    }
    for (const row of rows) yield offset === 0 ? row : { ...row, id: row.id - offset };
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

/** The key that has hashed the national IDs of a batch. */
export const keyIdAt = ({ periods }: LedgerPart, sequence: number): string =>
  periods.findLast(({ first }) => first <= sequence)?.keyId ?? '';
