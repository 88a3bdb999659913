/** Writes of one iteration of the event loop share one transaction, and are acknowledged when it is on disk. */
import { RegistryError } from '../../../domain/errors.ts';
import type { Connection } from './connection.ts';
import { isBusy, isDiskFull } from './connection.ts';

/** How long a write waits for another process's lock before it is refused (docs/operating.md#while-the-service-runs). */
const MAX_WAIT_MS = 2_000;
const RETRY_MS = 10;
/** More waiting writes than this are refused: the server is overloaded. */
const MAX_PENDING = 5_000;

export interface GroupCommitOptions {
  readonly monotonicMs: () => number;
  /** Whether the disk has room for a write; asked before each transaction. */
  readonly hasRoom: () => boolean;
  /** Ends what was begun for reading on the same connection; asked before each transaction. */
  readonly endReads?: () => void;
}

interface Job {
  readonly work: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly deadlineMs: number;
}

const busy = () =>
  new RegistryError('unavailable', 'The database is busy. Try again.', { retryAfterSeconds: 1 });
const diskFull = () =>
  new RegistryError('unavailable', 'The disk of the registry is nearly full. Nothing was written.', {
    retryAfterSeconds: 60,
  });

export class GroupCommit {
  private pending: Job[] = [];
  private timer: NodeJS.Timeout | undefined;
  private immediate: NodeJS.Immediate | undefined;
  private readonly statements: Record<
    'begin' | 'commit' | 'rollback' | 'savepoint' | 'release' | 'undo',
    () => void
  >;
  private readonly db: Connection;
  private readonly options: GroupCommitOptions;

  constructor(db: Connection, options: GroupCommitOptions) {
    this.db = db;
    this.options = options;
    const runner = (sql: string) => {
      const statement = db.prepare<[]>(sql);
      return () => void statement.run();
    };
    this.statements = {
      begin: runner('BEGIN IMMEDIATE'),
      commit: runner('COMMIT'),
      rollback: runner('ROLLBACK'),
      savepoint: runner('SAVEPOINT one_write'),
      release: runner('RELEASE one_write'),
      undo: runner('ROLLBACK TO one_write'),
    };
  }

  /**
   * Queues a synchronous change. The promise settles after the transaction's COMMIT; a fault of the work rolls
   * back its own changes alone, a failed COMMIT fails every write of the iteration.
   * @throws (as rejection) what the work throws; RegistryError `unavailable` when the database is busy for 2 s, the disk
   * is nearly full or too many writes wait
   */
  write<T>(work: () => T): Promise<T> {
    if (this.pending.length >= MAX_PENDING) return Promise.reject(busy());
    return new Promise<T>((resolve, reject) => {
      const deadlineMs = this.options.monotonicMs() + MAX_WAIT_MS;
      this.pending.push({ work, resolve: resolve as Job['resolve'], reject, deadlineMs });
      if (this.timer === undefined) this.immediate ??= setImmediate(() => this.flush());
    });
  }

  /** Runs what is queued now, for the last time. */
  close(): void {
    clearTimeout(this.timer);
    this.flush();
    for (const job of this.pending.splice(0)) job.reject(busy());
    clearTimeout(this.timer);
  }

  private flush(): void {
    clearImmediate(this.immediate);
    this.immediate = undefined;
    this.timer = undefined;
    const jobs = this.pending;
    this.pending = [];
    if (jobs.length === 0) return;
    if (!this.options.hasRoom()) {
      rejectAll(jobs, diskFull());
      return;
    }
    this.options.endReads?.();
    try {
      this.statements.begin();
    } catch (error) {
      if (isBusy(error)) this.waitForLock(jobs);
      else rejectAll(jobs, isDiskFull(error) ? diskFull() : error);
      return;
    }
    this.runInTransaction(jobs);
  }

  private waitForLock(jobs: Job[]): void {
    const nowMs = this.options.monotonicMs();
    rejectAll(
      jobs.filter((job) => job.deadlineMs <= nowMs),
      busy(),
    );
    this.pending = jobs.filter((job) => job.deadlineMs > nowMs);
    if (this.pending.length > 0) this.timer = setTimeout(() => this.flush(), RETRY_MS);
  }

  private runInTransaction(jobs: Job[]): void {
    try {
      const settle = jobs.map((job) => this.runOne(job));
      this.statements.commit();
      for (const done of settle) done();
    } catch (error) {
      // SQLite itself ends the transaction after some faults, a full disk among them.
      if (this.db.raw.inTransaction) this.statements.rollback();
      rejectAll(jobs, isDiskFull(error) ? diskFull() : error);
    }
  }

  /** @returns what to do once the transaction is on disk */
  private runOne(job: Job): () => void {
    this.statements.savepoint();
    try {
      const value = job.work();
      this.statements.release();
      return () => job.resolve(value as never);
    } catch (error) {
      if (!this.db.raw.inTransaction) throw error;
      this.statements.undo();
      this.statements.release();
      return () => job.reject(isDiskFull(error) ? diskFull() : error);
    }
  }
}

function rejectAll(jobs: readonly Job[], error: unknown): void {
  for (const job of jobs) job.reject(error);
}
