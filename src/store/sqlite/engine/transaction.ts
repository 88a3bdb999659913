/**
 * Transactions of one connection, the only ones there are; writes over HTTP share one (group-commit.ts).
 * Their work is synchronous: while it awaited, another request's write on the same connection would become
 * part of the transaction.
 */
import type Database from 'better-sqlite3';
import { LateStatement } from './late-statement.ts';

type Run = () => void;

export class Transactions {
  private readonly raw: Database.Database;
  private readonly run: { readonly [statement in keyof typeof SQL]: Run };
  /** Why nothing of the transaction may be kept: changes that should have been undone may still be in it. */
  private fault: unknown;

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
    this.run.savepoint();
    try {
      const value = refusePromise(work());
      this.run.release();
      return value;
    } catch (error) {
      // SQLite itself ends the transaction after some errors, a full disk among them.
      if (this.raw.inTransaction) this.undo();
      throw error;
    }
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
    try {
      const value = refusePromise(work());
      if (this.fault !== undefined) throw this.fault;
      this.run.commit();
      return value;
    } catch (error) {
      this.rollBack();
      throw error;
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
