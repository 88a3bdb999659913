/** The rows of the ledger's file, as everything that reads or writes it sees them. */
import type { LedgerBatch, LedgerChain } from '../../contract/access-ledger.ts';
import type { Connection } from '../engine/connection.ts';
import { toStorageError } from '../engine/errors.ts';
import { NO_HASH } from './batch-hash.ts';

/** More sequences than a chain will ever have: ids of its batches are between two multiples of it. */
const CHAIN_SIZE = 2 ** 40;

export const idOf = (chain: number, first: number): number => chain * CHAIN_SIZE + first;

/** As `ledger_batches` has it. */
export interface BatchRow {
  readonly id: number;
  readonly count: number;
  readonly first_time: number;
  readonly last_time: number;
  readonly hash: string;
  readonly entries: string;
}

export interface PeriodRow {
  readonly first: number;
  readonly month: string;
  readonly key_id: string;
}

interface ChainRow {
  readonly id: number;
  readonly origin: string;
  readonly is_open: number;
  readonly removed_through: number;
  readonly removed_hash: string;
  readonly removed_at: number | null;
}

const toChain = (row: ChainRow): LedgerChain => ({
  chain: row.id,
  origin: row.origin,
  isOpen: row.is_open === 1,
  removedThrough: row.removed_through,
  removedHash: row.removed_hash,
  removedAtMs: row.removed_at,
});

export const listChains = (db: Connection): LedgerChain[] =>
  db.rows<ChainRow>('SELECT * FROM ledger_chains ORDER BY id').map(toChain);

export const findOpenChain = (db: Connection): LedgerChain | undefined => {
  const row = db.row<ChainRow>('SELECT * FROM ledger_chains WHERE is_open = 1');
  return row && toChain(row);
};

/** @returns the number of the chain */
export function addChain(db: Connection, origin: string, isOpen: boolean, begins?: LedgerChain): number {
  const { lastInsertRowid } = db.run(
    `INSERT INTO ledger_chains (origin, is_open, removed_through, removed_hash, removed_at)
     VALUES (?, ?, ?, ?, ?)`,
    [
      origin,
      Number(isOpen),
      begins?.removedThrough ?? 0,
      begins?.removedHash ?? NO_HASH,
      begins?.removedAtMs ?? null,
    ],
  );
  return Number(lastInsertRowid);
}

export const listPeriods = (db: Connection, chain: number): PeriodRow[] =>
  db.rows<PeriodRow>('SELECT first, month, key_id FROM ledger_periods WHERE chain_id = ? ORDER BY first', [
    chain,
  ]);

export const addPeriod = (db: Connection, chain: number, { first, month, key_id }: PeriodRow): void =>
  void db.run('INSERT OR IGNORE INTO ledger_periods (chain_id, first, month, key_id) VALUES (?, ?, ?, ?)', [
    chain,
    first,
    month,
    key_id,
  ]);

const BATCH = 'id, count, first_time, last_time, hash';
const OF_CHAIN = `FROM ledger_batches WHERE id > ? AND id < ?`;

/** The last batch of a chain. Its entries are left out: they may be the only thing that is damaged. */
export const lastBatch = (db: Connection, chain: number): Omit<BatchRow, 'entries'> | undefined =>
  db.row(`SELECT ${BATCH} ${OF_CHAIN} ORDER BY id DESC LIMIT 1`, [idOf(chain, 0), idOf(chain + 1, 0)]);

/** Where a chain ends. */
export interface ChainEnd {
  /** The sequence that comes next. */
  readonly next: number;
  readonly hash: string;
  /** The latest instant of its last batch, in epoch milliseconds; null for a chain without batches. */
  readonly lastMs: number | null;
}

export function endOf(db: Connection, { chain, removedThrough, removedHash }: LedgerChain): ChainEnd {
  const last = lastBatch(db, chain);
  return last === undefined
    ? { next: removedThrough + 1, hash: removedHash, lastMs: null }
    : { next: last.id - idOf(chain, 0) + last.count, hash: last.hash, lastMs: last.last_time };
}

/** So many rows are read at a time: what is read may be written on, and no snapshot is held for long. */
const PAGE_ROWS = 256;

/** A row with the key that has hashed its national IDs. */
export interface KeyedRow extends BatchRow {
  readonly key_id: string;
}

/** Rows of a chain from a sequence on. @throws the driver's error at a page that is damaged */
export function* readRows(
  db: Connection,
  chain: number,
  first = 0,
  pageRows = PAGE_ROWS,
): Generator<KeyedRow, void> {
  const [begin, end] = [idOf(chain, 0), idOf(chain + 1, 0)];
  const page = db.prepareOnce<KeyedRow>(
    `SELECT ${BATCH}, entries,
       coalesce((SELECT key_id FROM ledger_periods
         WHERE chain_id = ${chain} AND first <= id - ${begin} ORDER BY first DESC LIMIT 1), '') AS key_id
     ${OF_CHAIN} ORDER BY id LIMIT ${pageRows}`,
  );
  for (let after = begin + first - 1; ; ) {
    const rows = page([after, end]);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

export const toBatch = (
  chain: number,
  origin: string,
  { id, count, hash, key_id: keyId, entries: lines }: KeyedRow,
): LedgerBatch => ({ chain, origin, first: id - idOf(chain, 0), count, hash, keyId, lines });

export const insertRow = (db: Connection): ((row: BatchRow) => void) => {
  const insert = db.prepare<unknown[]>(
    `INSERT INTO ledger_batches (${BATCH}, entries) VALUES (?, ?, ?, ?, ?, ?)`,
  );
  return ({ id, count, first_time, last_time, hash, entries }) =>
    void insert.run(id, count, first_time, last_time, hash, entries);
};

/** @throws the error as one of storage, if it is */
export const storageFault = (error: unknown): unknown => toStorageError(error) ?? error;
