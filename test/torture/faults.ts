/** The faults that are planted, each to see that it is caught. */
import { fileURLToPath } from 'node:url';

export interface Fault {
  /** What the program would be like. */
  readonly name: string;
  /** The module, from the project's folder. */
  readonly file: string;
  /** What stands there, exactly once. */
  readonly old: string;
  readonly planted: string;
}

const PLANT = new URL('./plant.mjs', import.meta.url).href;
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What a process is started with, so that it has the faults. */
export const withFaults = (faults: readonly Fault[]): NodeJS.ProcessEnv =>
  faults.length === 0 ? {} : { NODE_OPTIONS: `--import=${PLANT}`, PLANTED_FAULTS: JSON.stringify(faults) };

/** What a command records so is lost when it closes its file. */
const answersBeforeCommit = (ms: number) => ({
  name: `responses leave ${ms} ms before the ledger is committed`,
  file: 'src/ledger/ledger-writer.ts',
  old: 'return db.transaction.immediate(() => {',
  planted: `const begin = () => {
      this.isBegun = true;
      db.raw.exec('BEGIN IMMEDIATE');
      setTimeout(() => {
        this.isBegun = false;
        try { db.raw.exec('COMMIT'); } catch {}
      }, ${ms});
    };
    if (!this.isBegun) begin();
    return ((work) => work())(() => {`,
});

export const FAULTS = {
  syncsSeldom: {
    name: 'SQLite syncs only at checkpoints (synchronous=NORMAL)',
    file: 'src/sqlite/connection.ts',
    old: "pragma('synchronous', 'FULL', 2)",
    planted: "pragma('synchronous', 'NORMAL', 1)",
  },
  acknowledgesEarly: {
    name: 'writes are acknowledged 30 ms before they are committed',
    file: 'src/sqlite/group-commit.ts',
    old: 'else if (this.hasRoom()) this.commit(jobs);',
    planted: `else if (this.hasRoom()) {
        this.options.endReads?.();
        try {
          this.db.transaction.immediate(() => {
            for (const job of jobs) job.resolve(job.work() as never);
            throw new Error('planted');
          });
        } catch {}
        setTimeout(() => this.commit(jobs), 30);
      }`,
  },
  forgetsFailure: {
    name: 'writes go on after a failed commit',
    file: 'src/sqlite/group-commit.ts',
    old: `this.failure = { error };
    rejectAll(jobs, failed(error));
    this.options.onFailure?.(error);`,
    planted: 'rejectAll(jobs, failed(error));',
  },
  failsWhenFull: {
    name: 'after a full disk, no write is ever accepted again',
    file: 'src/sqlite/group-commit.ts',
    old: 'else rejectAll(jobs, diskFull());',
    planted: "else this.fail(jobs, new Error('planted'));",
  },
  answersUnrecorded: {
    name: 'responses leave although the ledger cannot be written',
    file: 'src/ledger/service-ledger.ts',
    old: 'reject(unrecorded(new Error(result)));',
    planted: "resolve(toReceipts({ first: 1, hash: '0'.repeat(64) }, count));",
  },
  noReserve: {
    name: 'no room is kept for readings on a full disk',
    file: 'src/ledger/ledger-thread.ts',
    old: 'if (isScheduled || !current.isShort()) return;',
    planted: 'if (!isScheduled || !current.isShort()) return;',
  },
  answersUnwritten: answersBeforeCommit(100),
  answersUnsynced: answersBeforeCommit(50),
  ignoresSync: {
    name: 'a failed sync of the ledger is ignored',
    file: 'src/ledger/ledger-writer.ts',
    old: 'else if (isReplaced || isPassing(error, file)) throw error;',
    planted: "else if (!isDiskFull(error)) return { first: 1, hash: '0'.repeat(64) };",
  },
  limitsByWallClock: {
    name: 'limits of keys are counted by the wall clock',
    file: 'src/access/rate-limiter.ts',
    old: 'Math.floor(this.clock.monotonicMs())',
    planted: 'Math.floor(this.clock.now())',
  },
  retriesByWallClock: {
    name: 'webhooks are retried by the wall clock',
    file: 'src/webhooks/deliver-and-retry.ts',
    old: 'this.context.clock.monotonicMs() < this.dueMs',
    planted: 'this.context.clock.now() < this.progress.nextAttemptAtMs',
  },
  forgetsMoving: {
    name: 'a restore of an older backup than the newest',
    file: 'src/backup/numbered-backups.ts',
    old: 'numberOf(b.name) - numberOf(a.name) ||',
    planted: 'numberOf(a.name) - numberOf(b.name) ||',
  },
  forgetsReadings: {
    name: 'a restore that adds no access records',
    file: 'src/ledger/ledger-copy.ts',
    old: 'if (files.length === 0) {',
    planted: 'if (files.length > 0) {',
  },
} as const satisfies { readonly [name: string]: Fault };

/** No fault of the program: its wall clock is moved by the milliseconds in a file. */
export const steppedClock = (file: string): Fault => ({
  name: 'the wall clock steps',
  file: 'src/runtime/scheduler.ts',
  old: 'now: () => Date.now(),',
  planted: `now: () =>
    Date.now() + Number(process.getBuiltinModule('node:fs').readFileSync(${JSON.stringify(file)}, 'utf8')),`,
});
