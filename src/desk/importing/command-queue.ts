/** The commands of a desk: a few at a time, the others in their turn. */
import { type CommandOptions, CommandRun, type RunAs } from './command-run.ts';

/** What is the same for all commands of a desk. */
export type QueueOptions = Omit<CommandOptions, keyof RunAs>;

/** Commands at once: each is a process with a registry open. Those that ask hold what they have checked. */
const [MOST_AT_WORK, MOST_ASKING] = [2, 3];

/** Commands that take longer than a page may, and print one JSON document. */
const WORKS = {
  backup: ['backup'],
  check: ['check'],
  duplicates: ['duplicates'],
  contradictions: ['duplicates', '--contradictions'],
} as const;
export type Work = keyof typeof WORKS;

export class CommandQueue {
  private readonly options: QueueOptions;
  /** Those that have not ended, in the order in which they begin. */
  private readonly runs = new Set<CommandRun>();
  private readonly undos = new Map<number, CommandRun>();
  private readonly works = new Map<Work, CommandRun>();

  constructor(options: QueueOptions) {
    this.options = options;
  }

  /** @param onRest called when it is at work no more */
  start(args: readonly string[], as: RunAs, onRest: () => void = () => {}): CommandRun {
    const run = new CommandRun(args, { ...this.options, ...as }, () => {
      onRest();
      this.goOn();
    });
    this.runs.add(run);
    this.goOn();
    return run;
  }

  /** Begins what waits as far as there is room, and lets the oldest of too many that ask go. */
  private goOn(): void {
    for (const run of this.runs) if (run.status !== undefined) this.runs.delete(run);
    const runs = [...this.runs];
    for (const run of runs.filter(({ hasBegun }) => !hasBegun))
      if (runs.filter(({ hasBegun, isAtWork }) => hasBegun && isAtWork).length < MOST_AT_WORK) run.begin();
    for (const run of runs.filter(({ isAsking }) => isAsking).slice(0, -MOST_ASKING)) run.letGo();
  }

  /** The undo of an import that was asked for last: it shows what it would do, and asks. */
  undoOf(importId: number): CommandRun | undefined {
    return this.undos.get(importId);
  }

  startUndo(importId: number, as: RunAs): void {
    this.undos.get(importId)?.stop();
    this.undos.set(importId, this.start(['imports', 'undo', String(importId)], as));
  }

  /** The last run of a command, whoever has started it: it goes on when the page is closed. */
  workOf(work: Work): CommandRun | undefined {
    return this.works.get(work);
  }

  /** Starts it, unless it is at work. */
  startWork(work: Work, args: readonly string[], as: RunAs): CommandRun {
    const last = this.works.get(work);
    const run = last?.isAtWork ? last : this.start([...WORKS[work], ...args, '--json'], as);
    this.works.set(work, run);
    return run;
  }

  /** Ends every command. */
  async close(): Promise<void> {
    for (const run of this.runs) {
      // What it has found stays, and can be checked again.
      if (run.isAsking) run.letGo();
      else run.stop();
    }
    while (this.runs.size > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
