/**
 * Work for the end of the current event-loop iteration. What arrives together shares one read snapshot, one
 * transaction and one wake-up of the clients, and each of them would otherwise set a timer of its own.
 *
 * 1. `storage`: the read snapshot is closed, and the writes are committed.
 * 2. Microtasks run: handlers that waited for a commit go on.
 * 3. `send`: responses are sent.
 * 4. `log`: the log lines of what was sent are written.
 *
 * One scheduler belongs to one registry: two registries in a process share nothing.
 */
export type Step = 'storage' | 'send' | 'log';

type Work = () => void;

export class Scheduler {
  private works: { [step in Step]: Work[] } = { storage: [], send: [], log: [] };
  private isStorageDue = false;
  private isOutputDue = false;

  /**
   * Runs the work once, at the end of this iteration, in the order in which work of a step was scheduled.
   * What a step schedules for itself or for an earlier one runs at the end of the next iteration.
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
