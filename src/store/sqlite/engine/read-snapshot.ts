/** Reads of one event-loop iteration share a transaction: SQLite's locks cost more than a read. */
import type { EndOfIteration } from '../../contract/storage.ts';
import type { Connection } from './connection.ts';

export class ReadSnapshot {
  private readonly db: Connection;
  private readonly scheduler: EndOfIteration;
  private readonly versionStatement: { get(): { data_version: number } | undefined };
  private isOpen = false;
  private seenVersion = -1;
  private readonly invalidators: (() => void)[] = [];
  private readonly endReads = (): void => this.end();

  constructor(db: Connection, scheduler: EndOfIteration) {
    this.db = db;
    this.scheduler = scheduler;
    this.versionStatement = db.prepare<[], { data_version: number }>('PRAGMA data_version');
  }

  /** Registers a callback that invalidates cached rows after another connection commits. */
  onOutsideCommit(invalidate: () => void): void {
    this.invalidators.push(invalidate);
  }

  /**
   * Runs reads. Outside a write, the first of an iteration takes a snapshot, which all reads of the iteration
   * see: it is newer than whatever had reached this process when the iteration began.
   */
  read<T>(work: () => T): T {
    if (!this.isOpen && !this.db.raw.inTransaction) this.begin();
    return work();
  }

  private begin(): void {
    this.db.transaction.beginRead();
    this.isOpen = true;
    this.scheduler.atEnd('storage', this.endReads);
    const version = this.versionStatement.get()?.data_version ?? -1;
    if (version === this.seenVersion) return;
    this.seenVersion = version;
    for (const invalidate of this.invalidators) invalidate();
  }

  /** Ends the snapshot: at the end of the iteration, and before a write. */
  end(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.db.transaction.endRead();
  }
}
