/**
 * Schedules work for the end of the current event-loop iteration. Requests that arrive together then share
 * one read snapshot and one transaction, and their responses are sent together.
 *
 * 1. `storage`: closes the read snapshot and commits the writes.
 * 2. Microtasks: handlers that waited for a commit continue.
 * 3. `send`: sends responses.
 * 4. `log`: writes the log lines of the sent responses.
 *
 * Each registry has its own scheduler, so that two registries in a process share nothing.
 */
export type Step = 'storage' | 'send' | 'log';

type Work = () => void;

export class Scheduler {
  private works: { [step in Step]: Work[] } = { storage: [], send: [], log: [] };
  private isStorageDue = false;
  private isOutputDue = false;

  /**
   * Runs the work once at the end of this iteration, after work of the same step that was scheduled before. A
   * step may schedule work for the same step or an earlier step; that work runs in the next iteration.
   * @param work must not throw: an error ends the process, as in any event listener
   */
  atEnd(step: Step, work: Work): void {
    this.works[step].push(work);
    // Two immediates, because the event loop runs microtasks between them.
    if (!this.isOutputDue) {
      this.isStorageDue = true;
      this.isOutputDue = true;
      setImmediate(this.runStorage);
      setImmediate(this.runOutput);
    } else if (step === 'storage' && !this.isStorageDue) {
      this.isStorageDue = true;
      setImmediate(this.runStorage);
    }
  }

  private readonly runStorage = (): void => {
    this.isStorageDue = false;
    this.run('storage');
  };

  private readonly runOutput = (): void => {
    // The `send` step schedules log lines, which are written in the same iteration.
    this.run('send');
    this.isOutputDue = false;
    this.run('log');
    if (this.works.send.length > 0 && !this.isOutputDue) {
      this.isOutputDue = true;
      setImmediate(this.runOutput);
    }
  };

  private run(step: Step): void {
    const works = this.works[step];
    if (works.length === 0) return;
    this.works[step] = [];
    for (const work of works) work();
  }
}

export interface Clock {
  /** Returns the wall time in epoch milliseconds, which may step back. */
  now(): number;
  /** Returns the milliseconds since an arbitrary start, on a clock that never steps back. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** Returns the time in whole epoch seconds, the precision of instants in the registry. */
export const nowSeconds = (clock: Clock): number => Math.floor(clock.now() / 1000);
