/**
 * Transactions of one connection, the only ones there are; writes over HTTP share one (group-commit.ts).
 * Their work is synchronous: while it awaited, another request's write on the same connection would become
 * part of the transaction.
 */
import type Database from 'better-sqlite3';
import { LateStatement } from './late-statement.ts';

type Run = () => void;

/** Changes that are collected first, as many rows of a transaction change the same few others. */
export interface CollectedChanges {
  /** Writes them, and forgets them. */
  write(): void;
  /** Forgets them: what they belong to is undone. */
  discard(): void;
}

export class Transactions {
  private readonly raw: Database.Database;
  private readonly run: { readonly [statement in keyof typeof SQL]: Run };
  /** Why nothing of the transaction may be kept: changes that should have been undone may still be in it. */
  private fault: unknown;
  private isRunning = false;
  private collected: CollectedChanges[] = [];

  constructor(raw: Database.Database) {
    this.raw = raw;
    const prepared = Object.entries(SQL).map(([name, sql]) => {
      const statement = new LateStatement(() => raw.prepare(sql));
      return [name, () => void statement.run()];
    });
    this.run = Object.fromEntries(prepared) as typeof this.run;
  }

  /**
   * Runs the work in a transaction that takes the write lock first: a deferred one that reads first may fail
   * when it writes.
   * @throws what the work throws, and what COMMIT does; nothing of the work is kept then
   */
  immediate<T>(work: () => T): T {
    this.run.beginImmediate();
    return this.finish(work);
  }

  /** Runs reads of one snapshot, or writes to a private attached file, without locking the database. */
  deferred<T>(work: () => T): T {
    this.run.begin();
    return this.finish(work);
  }

  /** Runs a part of a transaction. @throws what the work throws: everything must be undone then */
  part<T>(work: () => T): T {
    return refusePromise(work());
  }

  /** Runs a part of a transaction: when it throws, its own changes are undone and the transaction goes on. */
  savepoint<T>(work: () => T): T {
    // When this part is undone, the changes that were collected before it are not.
    this.writeCollected();
    this.run.savepoint();
    try {
      const value = refusePromise(work());
      this.writeAll();
      this.run.release();
      return value;
    } catch (error) {
      this.discardCollected();
      // SQLite itself ends the transaction after some errors, a full disk among them.
      if (this.raw.inTransaction) this.undo();
      throw error;
    }
  }

  /**
   * Has collected changes written, once, before the transaction ends, and discarded when it or the savepoint
   * that made them is undone. Outside a transaction they are written at once.
   */
  collect(changes: CollectedChanges): void {
    if (!this.isRunning) changes.write();
    else if (!this.collected.includes(changes)) this.collected.push(changes);
  }

  /**
   * Writes what was collected so far, for whoever reads it inside the transaction.
   * @throws what a write throws; nothing of the transaction is kept then
   */
  writeCollected(): void {
    try {
      this.writeAll();
    } catch (error) {
      this.fault ??= error;
      throw error;
    }
  }

  /** When a write throws, some may be written and some not: what they belong to must be undone. */
  private writeAll(): void {
    for (const changes of this.collected) changes.write();
    this.collected = [];
  }

  private discardCollected(): void {
    for (const changes of this.collected.splice(0)) changes.discard();
  }

  private undo(): void {
    try {
      this.run.undo();
      this.run.release();
    } catch (error) {
      this.fault ??= new Error('A part of the transaction could not be undone.', { cause: error });
    }
  }

  /** Begins a snapshot that outlasts the call; `endRead` must follow. */
  beginRead(): void {
    this.run.begin();
  }

  /** Never throws: a read has nothing to lose. */
  endRead(): void {
    if (!this.raw.open || !this.raw.inTransaction) return;
    try {
      this.run.endRead();
    } catch {
      this.rollBack();
    }
  }

  private finish<T>(work: () => T): T {
    this.fault = undefined;
    this.isRunning = true;
    try {
      const value = refusePromise(work());
      this.writeCollected();
      if (this.fault !== undefined) throw this.fault;
      this.run.commit();
      return value;
    } catch (error) {
      this.discardCollected();
      this.rollBack();
      throw error;
    } finally {
      this.isRunning = false;
    }
  }

  private rollBack(): void {
    if (!this.raw.inTransaction) return;
    try {
      this.run.rollback();
    } catch {
      // The error that led here matters more, and no transaction begins until this one has ended.
    }
  }
}

const SQL = {
  begin: 'BEGIN',
  beginImmediate: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  endRead: 'COMMIT',
  rollback: 'ROLLBACK',
  savepoint: 'SAVEPOINT part',
  release: 'RELEASE part',
  undo: 'ROLLBACK TO part',
} as const;

function refusePromise<T>(value: T): T {
  if (typeof (value as { then?: unknown } | null | undefined)?.then === 'function')
    throw new TypeError('The work of a transaction must not return a promise.');
  return value;
}
