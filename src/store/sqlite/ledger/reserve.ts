/**
 * Room in the open file for readings while the disk is full (docs/ledger.md#a-full-disk). Readings only ever
 * fill free pages that the file has on the disk already, so that the write-ahead log can always be emptied
 * into it. When these run short the file grows; when it cannot, a part of the reserve becomes free.
 */
import type { Connection } from '../engine/connection.ts';
import { isDiskFull } from '../engine/errors.ts';
import { RESERVED_BYTES, readFreeBytes } from '../files/registry-files.ts';

const STEP_BYTES = 1024 ** 2;
/** The reserve has so many steps. */
export const STEPS = 16;
/** With fewer free pages the file grows. */
const LOW_PAGES = 64;
const PAGE_BYTES = 4096;
/** A closed file of more is not made smaller, as that would take seconds. */
const MAX_VACUUM_PAGES = 32_768;
/** An entry takes about so much. */
const READING_BYTES = 330;
/** Grows the file: its pages are free once it is removed. */
const GROWTH_ID = 0;
/** The most that SQLite allows. */
const MAX_PAGES = 4_294_967_294;

/**
 * Whether a file may grow. Pages beyond its end that are committed and find no room at the next checkpoint
 * keep the log from being emptied, and then nothing of the reserve can be used. With this much free, no
 * program is fast enough to fill the disk between the two.
 */
export const isRoomy = (path: string): boolean => readFreeBytes(path) >= RESERVED_BYTES;

/**
 * Makes SQLite say that the disk is full rather than let the file grow, or no longer.
 * Call it inside the transaction: another process may have made the file larger before.
 */
export function limitGrowth(db: Connection, isLimited: boolean): void {
  // SQLite raises a limit below the present size to that size.
  db.raw.pragma(`max_page_count = ${isLimited ? 1 : MAX_PAGES}`);
}

const pragma = (db: Connection, name: string): number => Number(db.raw.pragma(name, { simple: true }));

const countSteps = (db: Connection): number => db.count(`ledger_reserve WHERE id <> ${GROWTH_ID}`);

/** How many readings fit when the disk is full, about. */
export const reservedReadings = (db: Connection): number =>
  Math.floor((countSteps(db) * STEP_BYTES + pragma(db, 'freelist_count') * PAGE_BYTES) / READING_BYTES);

export class Reserve {
  /** Whether the disk took the last step. */
  goesOn = true;
  private steps: number | undefined;

  /** Another process, or a full disk, may have used some of it. */
  lookAgain(): void {
    this.steps = undefined;
  }

  /** Whether `take` has something to do. */
  isShort(db: Connection): boolean {
    this.steps ??= countSteps(db);
    return (this.goesOn && this.steps < STEPS) || pragma(db, 'freelist_count') < LOW_PAGES;
  }

  /** One step, which takes a few milliseconds. @throws the driver's error, but for a full disk */
  take(db: Connection): void {
    this.steps ??= countSteps(db);
    try {
      this.goesOn = isRoomy(db.raw.name);
      if (!this.goesOn) return;
      limitGrowth(db, false);
      if (this.steps < STEPS) this.add(db, this.steps);
      else this.grow(db);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      this.goesOn = false;
    }
  }

  private add(db: Connection, steps: number): void {
    write(db, () => db.run('INSERT INTO ledger_reserve VALUES (?, zeroblob(?))', [steps + 1, STEP_BYTES]));
    this.steps = steps + 1;
    db.raw.pragma('wal_checkpoint(PASSIVE)');
  }

  private grow(db: Connection): void {
    if (!db.has(`ledger_reserve WHERE id = ${GROWTH_ID}`)) {
      const bytes = STEP_BYTES + pragma(db, 'freelist_count') * PAGE_BYTES;
      write(db, () => db.run(`INSERT INTO ledger_reserve VALUES (${GROWTH_ID}, zeroblob(?))`, [bytes]));
    }
    // Its pages are on the disk when this succeeds; until then they are not used.
    db.raw.pragma('wal_checkpoint(PASSIVE)');
    write(db, () => db.run(`DELETE FROM ledger_reserve WHERE id = ${GROWTH_ID}`));
  }
}

/** Frees a step of the reserve. @returns false when nothing of it is left */
export function freeReserve(db: Connection): boolean {
  let changes = 0;
  write(db, () => {
    ({ changes } = db.run('DELETE FROM ledger_reserve WHERE id = (SELECT max(id) FROM ledger_reserve)'));
  });
  return changes > 0;
}

/** Empties the write-ahead log first where the disk has no room for more of it. */
function write(db: Connection, work: () => unknown): void {
  try {
    db.transaction.immediate(work);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    db.raw.pragma('wal_checkpoint(RESTART)');
    db.transaction.immediate(work);
  }
}

/** Makes a file that is closed as small as its entries. */
export function giveBackReserve(db: Connection): void {
  try {
    db.transaction.immediate(() => db.run('DELETE FROM ledger_reserve'));
    const free = pragma(db, 'freelist_count');
    if (free > LOW_PAGES && pragma(db, 'page_count') <= MAX_VACUUM_PAGES) db.exec('VACUUM');
  } catch {
    // It stays larger than it need be.
  }
}
