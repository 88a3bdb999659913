/** Writes of one event-loop iteration share a transaction, and are acknowledged when it is on disk. */
import { RegistryError, type UnavailableReason } from '../../../domain/values/errors.ts';
import type { CommitMeasure, EndOfIteration } from '../../contract/storage.ts';
import type { Connection } from './connection.ts';
import { isBusy, isConstraint, isDiskFull } from './errors.ts';
import { MAX_WRITE_WAIT_MS } from './pragmas.ts';

const RETRY_MS = 10;
/** More waiting writes than this are refused: the server is overloaded. */
const MAX_PENDING = 5_000;

export interface GroupCommitOptions {
  readonly monotonicMs: () => number;
  readonly scheduler: EndOfIteration;
  /** Whether the disk has room for a write; asked before each transaction. It may throw. */
  readonly hasRoom: () => boolean;
  /** Whether the file is still where it was opened; asked before each transaction. */
  readonly isInPlace?: () => boolean;
  /** Ends the read snapshot of the same connection; called before each transaction. */
  readonly endReads?: () => void;
  /** Gets the number of writes of each transaction, and how long it took from BEGIN until it was on disk. */
  readonly measure?: CommitMeasure | undefined;
  /** Called after each COMMIT, when its promises are settled; it must not throw. */
  readonly onCommit?: () => void;
  /** Called once, with the error after which no write is accepted. */
  readonly onFailure?: (error: unknown) => void;
}

interface Job {
  readonly work: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly deadlineMs: number;
}

/** Settles the promise of a job, once the transaction is on disk. */
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

/** The file is not where it was opened any more. */
export class MovedError extends Error {}

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

  /** Whether writes are taken: not after a COMMIT has failed in a way that leaves the disk in doubt. */
  get isWorking(): boolean {
    return this.failure === undefined;
  }

  /** Whether writes are taken, after a look at where the file is. */
  lookAtFile(): boolean {
    if (this.failure === undefined && this.options.isInPlace?.() === false)
      this.fail([], new MovedError('The file was moved or replaced.'));
    return this.isWorking;
  }

  /**
   * Queues a synchronous change. The promise settles after the transaction's COMMIT; an error of the work
   * rolls back only its own changes, a failed COMMIT fails every write of the iteration.
   * @throws (as rejection) what the work throws; RegistryError `unavailable` when the database is busy for 2
   * s, the disk is nearly full or has failed, or too many writes wait
   */
  write<T>(work: () => T): Promise<T> {
    if (this.failure !== undefined) return Promise.reject(failed(this.failure.error));
    if (this.pending.length >= MAX_PENDING) return Promise.reject(tooMany());
    return new Promise<T>((resolve, reject) => {
      const deadlineMs = this.options.monotonicMs() + MAX_WRITE_WAIT_MS;
      this.pending.push({ work, resolve: resolve as Job['resolve'], reject, deadlineMs });
      if (this.timer !== undefined || this.isScheduled) return;
      this.isScheduled = true;
      this.options.scheduler.atEnd('storage', this.flush);
    });
  }

  /** Runs what is queued now, for the last time. */
  close(): void {
    clearTimeout(this.timer);
    this.flush();
    rejectAll(this.pending.splice(0), busy());
    clearTimeout(this.timer);
  }

  /** Never throws: it would end the process, with every promise unsettled. */
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
   * Runs the jobs in one transaction, at first without a savepoint for each, which would cost a tenth of a
   * write: nearly all succeed. When one fails, nobody knows which changes are its own, so that all are undone
   * and run again, each in a savepoint.
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
      // No change was kept.
      if (isBusy(error)) this.waitForLock(jobs, error);
      else if (isDiskFull(error)) rejectAll(jobs, diskFull(error));
      else if (progress.stage === 'commit' && !isConstraint(error)) this.fail(jobs, error);
      else rejectAll(jobs, error);
      return;
    }
    measure?.(jobs.length, monotonicMs() - startMs);
    for (const done of settle) done();
    this.options.onCommit?.();
  }

  /** After a failed fsync the state of the disk is unknown: further writes could build on lost ones. */
  private fail(jobs: readonly Job[], error: unknown): void {
    this.failure = { error };
    rejectAll(jobs, failed(error));
    this.options.onFailure?.(error);
  }

  private waitForLock(jobs: readonly Job[], error: unknown): void {
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
