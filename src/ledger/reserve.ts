/**
 * Reserves room in the open file for accesses while the disk is full (docs/ledger.md#a-full-disk). Accesses
 * only fill free pages that the file already has on disk, so that the write-ahead log can always be emptied
 * into the file. When free pages run short, the file grows; if it cannot, a step of the reserve is freed.
 */
import type { Connection } from '../sqlite/connection.ts';
import { RESERVED_BYTES, readFreeBytes } from '../sqlite/registry-files.ts';
import { isDiskFull } from '../sqlite/sqlite-errors.ts';

const STEP_BYTES = 1024 ** 2;
/** Number of steps in a complete reserve. */
export const STEPS = 16;
/** The file grows when it has fewer free pages. */
const LOW_PAGES = 64;
const PAGE_BYTES = 4096;
/** Larger closed files are not vacuumed, since that would take seconds. */
const MAX_VACUUM_PAGES = 32_768;
/** Approximate size of an entry. */
const ENTRY_BYTES = 330;
/** Row whose insertion grows the file; deleting it frees its pages. */
const GROWTH_ID = 0;
/** SQLite's maximum. */
const MAX_PAGES = 4_294_967_294;

/**
 * True if a file may grow. If committed pages lie beyond its end and the disk has no room for them at the
 * next checkpoint, neither can the log be emptied nor the reserve be used. With this much free space, no
 * program can fill the disk between the commit and the checkpoint.
 */
export const isRoomy = (path: string): boolean => readFreeBytes(path) >= RESERVED_BYTES;

/**
 * Makes SQLite report a full disk instead of growing the file, or lifts that limit. Call it inside the
 * transaction, as another process may have grown the file before.
 */
export function limitGrowth(db: Connection, isLimited: boolean): void {
  // SQLite raises a limit below the current size to that size.
  db.raw.pragma(`max_page_count = ${isLimited ? 1 : MAX_PAGES}`);
}

const pragma = (db: Connection, name: string): number => Number(db.raw.pragma(name, { simple: true }));

const countSteps = (db: Connection): number => db.count(`ledger_reserve WHERE id <> ${GROWTH_ID}`);

/** Returns the approximate number of accesses that still fit once the disk is full. */
export const reservedAccesses = (db: Connection): number =>
  Math.floor((countSteps(db) * STEP_BYTES + pragma(db, 'freelist_count') * PAGE_BYTES) / ENTRY_BYTES);

export class Reserve {
  /** True if the disk had room for the last step. */
  hasRoom = true;
  readonly db: Connection;
  /** Prepared once, as it runs with every batch. */
  private readonly freePages: { get(): unknown };
  private steps: number | undefined;

  constructor(db: Connection) {
    this.db = db;
    this.freePages = db.prepare('PRAGMA freelist_count');
  }

  /** Has the steps counted again: another process may have freed some. */
  lookAgain(): void {
    this.steps = undefined;
  }

  /** True if `take` has something to do. */
  isShort(): boolean {
    this.steps ??= countSteps(this.db);
    if (this.hasRoom && this.steps < STEPS) return true;
    const { freelist_count: pages } = this.freePages.get() as { readonly freelist_count: number };
    return pages < LOW_PAGES;
  }

  /** Adds one step or grows the file, in milliseconds. @throws the driver's error, except for a full disk */
  take(): void {
    const { db } = this;
    const steps = this.steps ?? countSteps(db);
    this.lookAgain();
    try {
      this.hasRoom = isRoomy(db.raw.name);
      if (!this.hasRoom) return;
      limitGrowth(db, false);
      if (steps < STEPS) addPages(db, steps + 1, STEP_BYTES);
      else grow(db);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      this.hasRoom = false;
    }
  }
}

function grow(db: Connection): void {
  if (!db.has(`ledger_reserve WHERE id = ${GROWTH_ID}`))
    addPages(db, GROWTH_ID, STEP_BYTES + pragma(db, 'freelist_count') * PAGE_BYTES);
  else db.raw.pragma('wal_checkpoint(PASSIVE)');
  write(db, () => db.run(`DELETE FROM ledger_reserve WHERE id = ${GROWTH_ID}`));
}

/** Adds a row and puts its pages on disk. If that fails, the row stays, and nothing else uses the pages. */
function addPages(db: Connection, id: number, bytes: number): void {
  write(db, () => db.run('INSERT INTO ledger_reserve VALUES (?, zeroblob(?))', [id, bytes]));
  db.raw.pragma('wal_checkpoint(PASSIVE)');
}

/** Frees one step of the reserve. @returns false if none is left */
export function freeReserve(db: Connection): boolean {
  let changes = 0;
  write(db, () => {
    ({ changes } = db.run('DELETE FROM ledger_reserve WHERE id = (SELECT max(id) FROM ledger_reserve)'));
  });
  return changes > 0;
}

/** Retries with an emptied write-ahead log if the disk has no room for the log to grow. */
function write(db: Connection, work: () => unknown): void {
  try {
    db.transaction.immediate(work);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    db.raw.pragma('wal_checkpoint(RESTART)');
    db.transaction.immediate(work);
  }
}

/** Shrinks a closed file to the size of its entries. */
export function giveBackReserve(db: Connection): void {
  try {
    db.transaction.immediate(() => db.run('DELETE FROM ledger_reserve'));
    const free = pragma(db, 'freelist_count');
    if (free > LOW_PAGES && pragma(db, 'page_count') <= MAX_VACUUM_PAGES) db.exec('VACUUM');
  } catch {
    // The file then stays larger than necessary.
  }
}
