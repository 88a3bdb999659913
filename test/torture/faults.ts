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

/** What a process is started with, so that it has the fault. */
export const withFault = (fault: Fault | undefined): NodeJS.ProcessEnv =>
  fault === undefined ? {} : { NODE_OPTIONS: `--import=${PLANT}`, PLANTED_FAULT: JSON.stringify(fault) };

export const FAULTS = {
  syncsSeldom: {
    name: 'SQLite syncs only at checkpoints (synchronous=NORMAL)',
    file: 'src/store/sqlite/engine/pragmas.ts',
    old: "pragma('synchronous', 'FULL', 2)",
    planted: "pragma('synchronous', 'NORMAL', 1)",
  },
  acknowledgesEarly: {
    name: 'writes are acknowledged 30 ms before they are committed',
    file: 'src/store/sqlite/engine/group-commit.ts',
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
    name: 'writes go on after a commit that failed',
    file: 'src/store/sqlite/engine/group-commit.ts',
    old: `this.failure = { error };
    rejectAll(jobs, failed(error));
    this.options.onFailure?.(error);`,
    planted: 'rejectAll(jobs, failed(error));',
  },
} as const satisfies { readonly [name: string]: Fault };
