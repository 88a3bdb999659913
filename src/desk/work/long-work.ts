/** What takes longer than a page may: it goes on when the page is closed; its result waits. */
import { setTimeout } from 'node:timers/promises';
import { moduleBeside, TaskThread } from '../../runtime/task-thread.ts';
import type { WorkSetup, WorkTasks } from './work-thread.ts';

type Name = keyof WorkTasks;
type Input<N extends Name> = Parameters<WorkTasks[N]>[0];
type Result<N extends Name> = Awaited<ReturnType<WorkTasks[N]>>;

/** One piece of work, under way or done. */
export interface Work<N extends Name> {
  readonly input: Input<N>;
  /** Epoch seconds. */
  readonly startedAt: number;
  result?: Result<N>;
  /** What it ended with instead of a result. */
  error?: unknown;
  /** Resolves when it has ended, in either way. */
  readonly ended: Promise<void>;
}

export const isUnderWay = (work: Work<Name>): boolean =>
  work.result === undefined && work.error === undefined;

/** How long a page waits for what it has started: most registries are small. */
const PATIENCE_MS = 1_000;

export class LongWork {
  private readonly thread: TaskThread<WorkTasks>;
  private readonly last: { [N in Name]?: Work<N> } = {};

  constructor({ storage, zone }: WorkSetup) {
    const module = moduleBeside(import.meta.url, 'work-thread');
    this.thread = new TaskThread({ module, setup: { storage, zone }, maxWaiting: 3 });
  }

  /** The last piece of work of this name, whoever has started it. */
  find<N extends Name>(name: N): Work<N> | undefined {
    return this.last[name];
  }

  /** What has failed is told once: the page then offers to start it again. */
  takeError(name: Name): unknown {
    const error = this.last[name]?.error;
    if (error !== undefined) delete this.last[name];
    return error;
  }

  /** Starts it, unless it is under way; resolves when it has ended, at the latest after a second. */
  async start<N extends Name>(name: N, input: Input<N>, now: number): Promise<Work<N>> {
    const last = this.find(name);
    const work = last !== undefined && isUnderWay(last) ? last : this.begin(name, input, now);
    await Promise.race([work.ended, setTimeout(PATIENCE_MS, undefined, { ref: false })]);
    return work;
  }

  /** Ends the thread, and with it what is under way. */
  close(): Promise<void> {
    return this.thread.close();
  }

  private begin<N extends Name>(name: N, input: Input<N>, startedAt: number): Work<N> {
    const ended = this.thread.run(name, input).then(
      (result) => {
        work.result = result;
      },
      (error) => {
        work.error = error;
      },
    );
    const work: Work<N> = { input, startedAt, ended };
    (this.last as { [name in N]?: Work<N> })[name] = work;
    return work;
  }
}
