/** Runs long tasks in a thread, one at a time, so that they do not block the event loop. */
import { getPriority, setPriority } from 'node:os';
import { extname } from 'node:path';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { RegistryError, type UnavailableReason } from '../values/errors.ts';

/** Inputs and results are copied between the threads. */
interface Tasks {
  // biome-ignore lint/suspicious/noExplicitAny: each task has another type of input
  readonly [name: string]: (input: any) => unknown;
}

interface TaskRequest {
  readonly id: number;
  readonly name: string;
  readonly input: unknown;
}

interface TaskResponse {
  readonly id: number;
  readonly result?: unknown;
  /** Between threads, an error loses its class and its own properties. */
  readonly error?: unknown;
  /** Properties of a RegistryError; undefined for other errors. */
  readonly refused?: Pick<RegistryError, 'code' | 'retryAfterSeconds' | 'reason'> | undefined;
}

interface Waiting {
  resolve(result: never): void;
  reject(error: unknown): void;
}

interface TaskThreadOptions {
  /** URL of the module that calls `serveTasks`, from `moduleBeside`. */
  readonly module: URL;
  readonly setup: unknown;
  /** Maximum number of tasks that wait while a task runs. */
  readonly maxWaiting: number;
  /** Limits of V8's generations. The thread ends if old objects exceed their limit. */
  readonly heap?: { readonly youngMib: number; readonly oldMib: number };
}

const RETRY_AFTER_SECONDS = 2;
const unavailable = (reason: UnavailableReason, detail: string): RegistryError =>
  new RegistryError('unavailable', detail, { reason, retryAfterSeconds: RETRY_AFTER_SECONDS });

/** Returns the URL of a file in the folder of the caller. @param url `import.meta.url` of the caller */
export const moduleBeside = (url: string, name: string): URL => new URL(`./${name}${extname(url)}`, url);

/** Starts the thread for the first task, and again if it ends. An idle thread lets the process exit. */
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
   * Runs a task after all earlier tasks.
   * @throws RegistryError (as a rejection) `unavailable` if too many tasks are waiting or the thread is
   * closed; the error of the task
   */
  run<Name extends keyof T & string>(
    name: Name,
    input: Parameters<T[Name]>[0],
  ): Promise<Awaited<ReturnType<T[Name]>>> {
    if (this.isClosed) return Promise.reject(unavailable('stopping', 'The service is stopping.'));
    if (this.waiting.size > this.options.maxWaiting)
      return Promise.reject(unavailable('too_many_waiting', 'Too many such requests at once. Try again.'));
    const request: TaskRequest = { id: ++this.lastId, name, input };
    return new Promise((resolve, reject) => {
      this.waiting.set(request.id, { resolve, reject });
      this.worker ??= this.start();
      this.worker.ref();
      this.worker.postMessage(request);
    });
  }

  get underWay(): number {
    return this.waiting.size;
  }

  /** Ends the thread, and rejects unfinished tasks. */
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
    worker.on('message', (response: TaskResponse) => this.settle(worker, response));
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

  private settle(worker: Worker, response: TaskResponse): void {
    const { id, result, error, refused } = response;
    const { resolve, reject } = this.waiting.get(id) as Waiting;
    this.waiting.delete(id);
    if (this.waiting.size === 0) worker.unref();
    if (!('error' in response)) resolve(result as never);
    else if (refused === undefined) reject(error);
    else reject(new RegistryError(refused.code, (error as Error).message, refused));
  }
}

/**
 * @param open receives the `setup` of the thread and may open files; an error ends the thread
 * @param isWaitedFor true for tasks that delay responses; otherwise the thread lowers its priority
 */
export function serveTasks<Setup>(open: (setup: Setup) => Tasks, isWaitedFor = false): void {
  const port = parentPort;
  if (port === null) throw new Error('This module is for a thread of its own.');
  if (!isWaitedFor) yieldToOthers();
  const tasks = open(workerData as Setup);
  const serve = async ({ id, name, input }: TaskRequest): Promise<void> => {
    try {
      const task = tasks[name] as Tasks[string];
      port.postMessage({ id, result: await task(input) } satisfies TaskResponse);
    } catch (error) {
      const refused =
        error instanceof RegistryError
          ? { code: error.code, retryAfterSeconds: error.retryAfterSeconds, reason: error.reason }
          : undefined;
      port.postMessage({ id, error, refused } satisfies TaskResponse);
    }
  };
  let served = Promise.resolve();
  port.on('message', (request: TaskRequest) => {
    served = served.then(() => serve(request));
  });
}

/** When all processors are busy, the event loop gets three times as much time as the thread. */
const NICER = 5;
const NICEST = 19;

/** On systems other than Linux, the entire process would be affected. */
function yieldToOthers(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(getPriority() + NICER, NICEST));
  } catch {
    // A sandbox may refuse the change. The work then has the usual priority.
  }
}
