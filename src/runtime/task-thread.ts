/**
 * Work in a thread of its own: what takes so long that the event loop must not do it. A module serves tasks
 * by name there, one at a time, and keeps what it needs open between them.
 */
import { getPriority, setPriority } from 'node:os';
import { extname } from 'node:path';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { RegistryError, type UnavailableReason } from '../domain/values/errors.ts';

/** By name. What they take and give is copied between the threads. */
export interface Tasks {
  // biome-ignore lint/suspicious/noExplicitAny: each takes what its caller gives it
  readonly [name: string]: (input: any) => unknown;
}

interface Asked {
  readonly id: number;
  readonly name: string;
  readonly input: unknown;
}

interface Answered {
  readonly id: number;
  readonly result?: unknown;
  /** As it was thrown; a class does not survive the way between threads. */
  readonly error?: unknown;
  /** When it was a RegistryError. */
  readonly refused?: Pick<RegistryError, 'code' | 'retryAfterSeconds' | 'reason'>;
}

interface Waiting {
  resolve(result: never): void;
  reject(error: unknown): void;
}

export interface TaskThreadOptions {
  /** Of the module that calls `serveTasks`, as `moduleBeside` gives it. */
  readonly module: URL;
  /** What it gets when it starts; copied. */
  readonly setup: unknown;
  /** How many tasks may wait behind the one that runs. */
  readonly maxWaiting: number;
  /** Most memory for young and for old objects, in MiB; with more of the old ones, the thread ends. */
  readonly heap?: { readonly youngMib: number; readonly oldMib: number };
}

const RETRY_AFTER_SECONDS = 2;
const unavailable = (reason: UnavailableReason, detail: string): RegistryError =>
  new RegistryError('unavailable', detail, { reason, retryAfterSeconds: RETRY_AFTER_SECONDS });

/** A file beside another one, in a checkout or built. @param url `import.meta.url` of the other one */
export const moduleBeside = (url: string, name: string): URL => new URL(`./${name}${extname(url)}`, url);

/** The thread starts with its first task, and again when it was lost. An idle one keeps no process alive. */
export class TaskThread<T extends Tasks> {
  private readonly options: TaskThreadOptions;
  private readonly waiting = new Map<number, Waiting>();
  private worker: Worker | undefined;
  private lastId = 0;
  private isClosed = false;

  constructor(options: TaskThreadOptions) {
    this.options = options;
  }

  /**
   * Runs a task after those before it.
   * @throws RegistryError (as a rejection) `unavailable` when too many wait, or the thread is closed; else
   * what the task throws
   */
  run<Name extends keyof T & string>(
    name: Name,
    input: Parameters<T[Name]>[0],
  ): Promise<Awaited<ReturnType<T[Name]>>> {
    if (this.isClosed) return Promise.reject(unavailable('stopping', 'The service is stopping.'));
    if (this.waiting.size > this.options.maxWaiting)
      return Promise.reject(unavailable('too_many_waiting', 'Too many such requests at once. Try again.'));
    const asked: Asked = { id: ++this.lastId, name, input };
    return new Promise((resolve, reject) => {
      this.waiting.set(asked.id, { resolve, reject });
      this.worker ??= this.start();
      this.worker.ref();
      this.worker.postMessage(asked);
    });
  }

  /** How many tasks have not ended: that which runs, and those behind it. */
  get underWay(): number {
    return this.waiting.size;
  }

  /** Ends the thread. Tasks that have not ended are rejected. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.worker?.terminate();
  }

  private start(): Worker {
    const { module, setup: workerData, heap } = this.options;
    const resourceLimits =
      heap === undefined
        ? {}
        : { maxYoungGenerationSizeMb: heap.youngMib, maxOldGenerationSizeMb: heap.oldMib };
    const worker = new Worker(module, { workerData, resourceLimits });
    let lost: unknown;
    worker.on('message', (answered: Answered) => this.settle(worker, answered));
    worker.on('error', (error) => {
      lost = error;
    });
    worker.once('exit', () => {
      this.worker = undefined;
      const error = lost ?? unavailable('stopping', 'The service is stopping.');
      for (const { reject } of this.waiting.values()) reject(error);
      this.waiting.clear();
    });
    return worker;
  }

  private settle(worker: Worker, { id, result, error, refused }: Answered): void {
    const { resolve, reject } = this.waiting.get(id) as Waiting;
    this.waiting.delete(id);
    if (this.waiting.size === 0) worker.unref();
    if (error === undefined) resolve(result as never);
    else if (refused === undefined) reject(error);
    else reject(new RegistryError(refused.code, (error as Error).message, refused));
  }
}

/**
 * Serves the tasks of the thread that has loaded the calling module.
 * @param open takes the `setup` of the thread, and may open files; an error ends the thread
 * @param isWaitedFor whether responses wait for each task: it does not yield to the event loop then
 */
export function serveTasks<Setup>(open: (setup: Setup) => Tasks, isWaitedFor = false): void {
  const port = parentPort;
  if (port === null) throw new Error('This module is for a thread of its own.');
  if (!isWaitedFor) yieldToOthers();
  const tasks = open(workerData as Setup);
  const serve = async ({ id, name, input }: Asked): Promise<void> => {
    try {
      const task = tasks[name] as Tasks[string];
      port.postMessage({ id, result: await task(input) } satisfies Answered);
    } catch (error) {
      const refused =
        error instanceof RegistryError
          ? { code: error.code, retryAfterSeconds: error.retryAfterSeconds, reason: error.reason }
          : undefined;
      port.postMessage({ id, error, ...(refused === undefined ? {} : { refused }) } satisfies Answered);
    }
  };
  let served = Promise.resolve();
  port.on('message', (asked: Asked) => {
    served = served.then(() => serve(asked));
  });
}

/** Of niceness: where all processors are busy, the event loop gets three times the time of a thread. */
const NICER = 5;
const NICEST = 19;

/** On Linux, a priority is that of a thread; elsewhere it would be that of the process. */
function yieldToOthers(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(getPriority() + NICER, NICEST));
  } catch {
    // A sandbox may refuse it; the work is done all the same.
  }
}
