/** Read snapshot, and group commit: the writes of an event-loop iteration share a transaction and a sync. */
import type { Scheduler } from '../runtime/scheduler.ts';
import { RegistryError, type UnavailableReason } from '../values/errors.ts';
import type { Connection } from './connection.ts';
import { isBusy, isConstraint, isDiskFull, MovedError } from './sqlite-errors.ts';

/** Time for which a write waits for the lock before it is refused (docs/api.md#writing). */
const MAX_WAIT_MS = 2_000;
const RETRY_MS = 10;
const MAX_PENDING = 5_000;

interface GroupCommitOptions {
  readonly monotonicMs: () => number;
  readonly scheduler: Scheduler;
  /** Called before each transaction. May throw if the disk cannot be examined. */
  readonly hasRoom: () => boolean;
  readonly isInPlace?: () => boolean;
  readonly endReads?: () => void;
  readonly measure?: CommitMeasure | undefined;
  /** Called after each COMMIT, when the promises of its writes are settled. Must not throw. */
  readonly onCommit?: () => void;
  /** Called once, with the error after which no more writes are accepted. */
  readonly onFailure?: (error: unknown) => void;
}

interface Job {
  readonly work: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly deadlineMs: number;
}

/** Settles the promise of a job. Called when its transaction is on disk. */
type Settle = () => void;

const unavailable =
  (reason: UnavailableReason, retryAfterSeconds: number, detail: string) =>
  (cause?: unknown): RegistryError =>
    new RegistryError('unavailable', detail, { reason, retryAfterSeconds, cause });
const busy = unavailable('database_busy', 1, 'The database is busy. Try again.');
const tooMany = unavailable('too_many_writes', 1, 'The database is busy. Try again.');
const diskFull = unavailable(
  'disk_full',
  60,
  'The disk of the registry is nearly full. Nothing was written.',
);
const diskUnknown = unavailable(
  'disk_unreadable',
  60,
  'The disk of the registry cannot be examined. Nothing was written.',
);
const failed = unavailable(
  'writing_failed',
  60,
  'Writing to the registry has failed. It takes no writes any more.',
);

export class GroupCommit {
  private pending: Job[] = [];
  private timer: NodeJS.Timeout | undefined;
  private isScheduled = false;
  private failure: { readonly error: unknown } | undefined;
  private readonly db: Connection;
  private readonly options: GroupCommitOptions;

  constructor(db: Connection, options: GroupCommitOptions) {
    this.db = db;
    this.options = options;
  }

  /** @returns true if writes are accepted: the file is in place, and no COMMIT has failed */
  lookAtFile(): boolean {
    if (this.failure === undefined && this.options.isInPlace?.() === false)
      this.fail([], new MovedError('The file was moved or replaced.'));
    return this.failure === undefined;
  }

  /**
   * Queues a synchronous change. The promise settles after the COMMIT of the shared transaction. If the work
   * throws, only its own changes are rolled back. If the COMMIT fails, every write of the iteration fails.
   * @throws (as rejection) errors of the work; RegistryError `unavailable` if the database is busy for 2 s,
   *   the disk is nearly full or has failed, or too many writes are waiting
   */
  write<T>(work: () => T): Promise<T> {
    if (this.failure !== undefined) return Promise.reject(failed(this.failure.error));
    if (this.pending.length >= MAX_PENDING) return Promise.reject(tooMany());
    return new Promise<T>((resolve, reject) => {
      const deadlineMs = this.options.monotonicMs() + MAX_WAIT_MS;
      this.pending.push({ work, resolve: resolve as Job['resolve'], reject, deadlineMs });
      if (this.timer !== undefined || this.isScheduled) return;
      this.isScheduled = true;
      this.options.scheduler.atEnd('storage', this.flush);
    });
  }

  /** Runs the queued writes, and refuses the writes that would have to wait for a lock. */
  close(): void {
    clearTimeout(this.timer);
    this.flush();
    rejectAll(this.pending.splice(0), busy());
    clearTimeout(this.timer);
  }

  /** Never throws, because an error would end the process before promises settle. */
  private readonly flush = (): void => {
    this.isScheduled = false;
    this.timer = undefined;
    const jobs = this.pending;
    this.pending = [];
    if (jobs.length === 0) return;
    try {
      if (!this.lookAtFile()) rejectAll(jobs, failed(this.failure?.error));
      else if (this.hasRoom()) this.commit(jobs);
      else rejectAll(jobs, diskFull());
    } catch (error) {
      rejectAll(jobs, error);
    }
  };

  private hasRoom(): boolean {
    try {
      return this.options.hasRoom();
    } catch (error) {
      throw diskUnknown(error);
    }
  }

  /**
   * First runs the jobs in one transaction without savepoints: a savepoint costs a tenth of a write, and
   * nearly all jobs succeed. If a job fails, undoes all jobs, and runs them again with a savepoint for each.
   */
  private commit(jobs: Job[]): void {
    const progress: { stage: 'begin' | 'work' | 'commit' } = { stage: 'begin' };
    const { transaction } = this.db;
    const run = (runOne: (job: Job) => Settle): Settle[] => {
      progress.stage = 'begin';
      return transaction.immediate(() => {
        progress.stage = 'work';
        const settle = jobs.map(runOne);
        progress.stage = 'commit';
        return settle;
      });
    };
    let settle: Settle[];
    const { measure, monotonicMs } = this.options;
    const startMs = measure === undefined ? 0 : monotonicMs();
    try {
      this.options.endReads?.();
      try {
        settle = run((job) => settled(job, transaction.part(job.work)));
      } catch (error) {
        if (progress.stage !== 'work') throw error;
        settle = run((job) => this.runInSavepoint(job));
      }
    } catch (error) {
      // If the database is busy or the disk is full, nothing was committed. After any other error of COMMIT
      // but a constraint, it is unclear what is on disk.
      if (isBusy(error)) this.retryLater(jobs, error);
      else if (isDiskFull(error)) rejectAll(jobs, diskFull(error));
      else if (progress.stage === 'commit' && !isConstraint(error)) this.fail(jobs, error);
      else rejectAll(jobs, error);
      return;
    }
    measure?.(jobs.length, monotonicMs() - startMs);
    for (const done of settle) done();
    this.options.onCommit?.();
  }

  /** Stops accepting writes. After a failed fsync, a further write could depend on a lost write. */
  private fail(jobs: readonly Job[], error: unknown): void {
    this.failure = { error };
    rejectAll(jobs, failed(error));
    this.options.onFailure?.(error);
  }

  private retryLater(jobs: readonly Job[], error: unknown): void {
    const nowMs = this.options.monotonicMs();
    rejectAll(
      jobs.filter((job) => job.deadlineMs <= nowMs),
      busy(error),
    );
    this.pending = jobs.filter((job) => job.deadlineMs > nowMs);
    if (this.pending.length > 0) this.timer = setTimeout(this.flush, RETRY_MS);
  }

  private runInSavepoint(job: Job): Settle {
    try {
      return settled(job, this.db.transaction.savepoint(job.work));
    } catch (error) {
      if (!this.db.raw.inTransaction) throw error;
      return () => job.reject(isDiskFull(error) ? diskFull(error) : error);
    }
  }
}

const settled =
  (job: Job, value: unknown): Settle =>
  () =>
    job.resolve(value as never);

function rejectAll(jobs: readonly Job[], error: unknown): void {
  for (const job of jobs) job.reject(error);
}

/** Receives each group commit. Must not throw. @param durationMs time from BEGIN until the data is on disk */
export type CommitMeasure = (writes: number, durationMs: number) => void;

// Reads of one event-loop iteration share a transaction, because SQLite's locks cost more than a read.

export class ReadSnapshot {
  private readonly db: Connection;
  private readonly scheduler: Scheduler;
  private readonly versionStatement: { get(): { data_version: number } | undefined };
  private isOpen = false;
  private seenVersion = -1;
  private readonly invalidators: (() => void)[] = [];
  private readonly endReads = (): void => this.end();

  constructor(db: Connection, scheduler: Scheduler) {
    this.db = db;
    this.scheduler = scheduler;
    this.versionStatement = db.prepare<[], { data_version: number }>('PRAGMA data_version');
  }

  /** @param invalidate drops cached rows after a commit of another connection */
  onOutsideCommit(invalidate: () => void): void {
    this.invalidators.push(invalidate);
  }

  /**
   * The first read of an iteration takes a snapshot for all reads of the iteration, unless a write is
   * running. The snapshot contains every commit made before the first read.
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

  /** Called at the end of the iteration, and before a write. */
  end(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.db.transaction.endRead();
  }
}
