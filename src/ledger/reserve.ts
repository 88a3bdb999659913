/**
 * Reserves room in the open file for accesses while the disk is full (docs/ledger.md#a-full-disk). Accesses
 * use only free pages that the file already has on disk, so that the write-ahead log can always be moved into
 * the file. When few free pages are left, the file grows. If the disk has no room for new pages, a part of
 * the reserve is freed instead. The reserve consists of large rows, which are called steps.
 */
import type { Connection } from '../sqlite/connection.ts';
import { RESERVED_BYTES, readFreeBytes } from '../sqlite/registry-files.ts';
import { isDiskFull } from '../sqlite/sqlite-errors.ts';
import { copyLog, restartLog } from '../sqlite/write-ahead-log.ts';

const STEP_BYTES = 1024 ** 2;
/** Steps of a complete reserve. */
export const STEPS = 16;
/** The file grows when it has fewer free pages than this. */
const LOW_PAGES = 64;
const PAGE_BYTES = 4096;
/** A larger file is not vacuumed when it is closed, because the vacuum would take seconds. */
const MAX_VACUUM_PAGES = 32_768;
const ENTRY_BYTES = 330;
/** Id of a temporary row: its insertion makes the file grow, and its deletion frees the new pages. */
const GROWTH_ID = 0;
/** SQLite's maximum. */
const MAX_PAGES = 4_294_967_294;

/**
 * True if the disk has enough room to let the file grow. With less room, another program could fill the disk
 * between a commit and the checkpoint. SQLite could then not move the log into the file.
 */
export const isRoomy = (path: string): boolean => readFreeBytes(path) >= RESERVED_BYTES;

/**
 * Makes SQLite report a full disk instead of growing the file, or removes this limit. Must be called in the
 * transaction of the write, since another process may have grown the file before.
 */
export function limitGrowth(db: Connection, isLimited: boolean): void {
  // SQLite replaces a limit below the current size with the current size.
  db.raw.pragma(`max_page_count = ${isLimited ? 1 : MAX_PAGES}`);
}

const pragma = (db: Connection, name: string): number => Number(db.raw.pragma(name, { simple: true }));

const countSteps = (db: Connection): number => db.count(`ledger_reserve WHERE id <> ${GROWTH_ID}`);

/** Approximate number of accesses that still fit once the disk is full. */
export const reservedAccesses = (db: Connection): number =>
  Math.floor((countSteps(db) * STEP_BYTES + pragma(db, 'freelist_count') * PAGE_BYTES) / ENTRY_BYTES);

export class Reserve {
  /** True if the disk had room for the last step. */
  hasRoom = true;
  readonly db: Connection;
  private readonly freePages: { get(): unknown };
  private steps: number | undefined;

  constructor(db: Connection) {
    this.db = db;
    this.freePages = db.prepare('PRAGMA freelist_count');
  }

  /** Forgets the number of steps, since another process may have freed some. */
  lookAgain(): void {
    this.steps = undefined;
  }

  /** True if `take` should add a step or grow the file. */
  isShort(): boolean {
    this.steps ??= countSteps(this.db);
    if (this.hasRoom && this.steps < STEPS) return true;
    const { freelist_count: pages } = this.freePages.get() as { readonly freelist_count: number };
    return pages < LOW_PAGES;
  }

  /** Adds a step or grows the file, within milliseconds. Does not throw for a full disk. */
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
  else copyLog(db);
  write(db, () => db.run(`DELETE FROM ledger_reserve WHERE id = ${GROWTH_ID}`));
}

/** If `copyLog` throws, the pages are not on disk. The row then stays, so that no entry uses the pages. */
function addPages(db: Connection, id: number, bytes: number): void {
  write(db, () => db.run('INSERT INTO ledger_reserve VALUES (?, zeroblob(?))', [id, bytes]));
  copyLog(db);
}

/** Frees one step. @returns false if the reserve is empty */
export function freeReserve(db: Connection): boolean {
  let changes = 0;
  write(db, () => {
    ({ changes } = db.run('DELETE FROM ledger_reserve WHERE id = (SELECT max(id) FROM ledger_reserve)'));
  });
  return changes > 0;
}

/** If the disk has no room for the write-ahead log, empties the log and tries again. */
function write(db: Connection, work: () => unknown): void {
  try {
    db.transaction.immediate(work);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    restartLog(db);
    db.transaction.immediate(work);
  }
}

/** Frees the reserve of a closed file, and shrinks the file unless it is large. */
export function giveBackReserve(db: Connection): void {
  try {
    db.transaction.immediate(() => db.run('DELETE FROM ledger_reserve'));
    const free = pragma(db, 'freelist_count');
    if (free > LOW_PAGES && pragma(db, 'page_count') <= MAX_VACUUM_PAGES) db.exec('VACUUM');
  } catch {
    // The file then stays larger than necessary.
  }
}
