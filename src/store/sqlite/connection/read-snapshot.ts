/** Reads of one iteration of the event loop share one transaction: taking and releasing SQLite's locks costs more than a read. */
import type { Connection } from './connection.ts';

export class ReadSnapshot {
  private readonly db: Connection;
  private readonly beginStatement: { run(): unknown };
  private readonly commitStatement: { run(): unknown };
  private readonly versionStatement: { get(): { data_version: number } | undefined };
  private isOpen = false;
  private seenVersion = -1;
  private readonly invalidators: (() => void)[] = [];

  constructor(db: Connection) {
    this.db = db;
    this.beginStatement = db.prepare<[]>('BEGIN');
    this.commitStatement = db.prepare<[]>('COMMIT');
    this.versionStatement = db.prepare<[], { data_version: number }>('PRAGMA data_version');
  }

  /** Invalidates cached rows after another connection has committed. */
  onOutsideCommit(invalidate: () => void): void {
    this.invalidators.push(invalidate);
  }

  /**
   * Called before each read outside a write. The first of an iteration takes a snapshot, which the entire iteration sees: it is
   * newer than whatever had reached this process when the iteration began.
   */
  begin(): void {
    if (this.isOpen || this.db.raw.inTransaction) return;
    this.beginStatement.run();
    this.isOpen = true;
    setImmediate(() => this.end());
    const version = this.versionStatement.get()?.data_version ?? -1;
    if (version === this.seenVersion) return;
    this.seenVersion = version;
    for (const invalidate of this.invalidators) invalidate();
  }

  /** Ends the snapshot: at the end of the iteration, and before a write. */
  end(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    if (this.db.raw.open && this.db.raw.inTransaction) this.commitStatement.run();
  }
}
