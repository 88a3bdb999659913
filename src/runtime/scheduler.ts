/**
 * Work at the end of the current event-loop iteration. Requests that arrive together share one read snapshot,
 * one transaction and one wake-up of the clients, instead of each setting a timer.
 *
 * 1. `storage`: closes the read snapshot and commits the writes.
 * 2. Microtasks: handlers that waited for a commit continue.
 * 3. `send`: sends responses.
 * 4. `log`: writes the log lines of the sent responses.
 *
 * Each registry has its own scheduler: two registries in a process share nothing.
 */
export type Step = 'storage' | 'send' | 'log';

type Work = () => void;

export class Scheduler {
  private works: { [step in Step]: Work[] } = { storage: [], send: [], log: [] };
  private isStorageDue = false;
  private isOutputDue = false;

  /**
   * Runs the work once, at the end of this iteration, in the order in which work of a step was scheduled.
   * Work that a step schedules for itself or for an earlier step runs at the end of the next iteration.
   * @param work must not throw: an error ends the process, as in any event listener
   */
  atEnd(step: Step, work: Work): void {
    this.works[step].push(work);
    // Both immediates are set together: the event loop runs microtasks between them.
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
    // A send schedules its log line, which still belongs to this iteration.
    this.run('send');
    this.isOutputDue = false;
    this.run('log');
    if (this.works.send.length > 0 && !this.isOutputDue) this.reschedule();
  };

  private reschedule(): void {
    this.isOutputDue = true;
    setImmediate(this.runOutput);
  }

  private run(step: Step): void {
    const works = this.works[step];
    if (works.length === 0) return;
    this.works[step] = [];
    for (const work of works) work();
  }
}

// Time, passed in as a dependency so that tests can set it.

export interface Clock {
  /** Wall time in epoch milliseconds; it may step back. */
  now(): number;
  /** Milliseconds of a clock that never steps back, from an arbitrary start. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** Current time in whole epoch seconds, the precision in which the registry stores instants. */
export const nowSeconds = (clock: Clock): number => Math.floor(clock.now() / 1000);
