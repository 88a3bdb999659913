/**
 * The ledger of a service, written by a thread. While the thread writes one batch, accesses are collected
 * into the next batch, since each batch costs messages and a disk sync. Under load, the thread receives the
 * next batch before it has finished the current batch. The thread then need not be woken.
 */

import type { AccessLedger, AccessRecord, LedgerState } from '../access/access-ledger.ts';
import { moduleBeside, TaskThread } from '../runtime/task-thread.ts';
import { RegistryError } from '../values/errors.ts';
import { encodeAccesses } from './ledger-entries.ts';
import type { Appended, LedgerTasks } from './ledger-thread.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { toReceipts } from './receipts.ts';

interface ServedLedgerOptions {
  readonly clock: { now(): number; monotonicMs(): number };
  /** Accesses are stored for at least this number of days. */
  readonly days: number;
  readonly note: (message: string) => void;
  /** Called when accesses are on disk or refused; must not throw. */
  readonly measure?: ((accesses: number, durationMs: number, isRecorded: boolean) => void) | undefined;
}

interface WaitingCall {
  readonly accesses: readonly AccessRecord[];
  readonly sinceMs: number;
  resolve(receipts: string[]): void;
  reject(error: unknown): void;
}

interface Batch {
  readonly calls: WaitingCall[];
  count: number;
  readonly deadline: NodeJS.Timeout;
}

/** An access that is not on disk after this time is refused (docs/ledger.md#refused-accesses). */
export const MAX_RECORD_MS = 5_000;
/** Maximum wait for the end of the thread. */
const MAX_END_MS = 1_000;
const REMOVAL_INTERVAL_MS = 24 * 3600 * 1000;
/** Delay of the first removal of old files, since a starting service has more urgent work. */
const FIRST_REMOVAL_MS = 30_000;
/** Maximum number of batches that the thread has received but not written. */
const MAX_SENT = 2;
/** Minimum number of accesses in a batch that is sent while the thread writes another batch (decision 30). */
const MANY = 16;

const STALLED = `the disk has not answered for ${MAX_RECORD_MS / 1000} s`;

export const unrecorded = (cause?: unknown): RegistryError =>
  new RegistryError(
    'unavailable',
    'This reading cannot be recorded now, so no personal data is shown. Try again.',
    { reason: 'ledger', retryAfterSeconds: 2, cause },
  );

/**
 * @param thread in tests, a module that stalls until the test changes the shared memory `flag`
 * @throws StorageError when the ledger cannot be used
 */
export function openServiceLedger(
  databaseFile: string,
  options: ServedLedgerOptions,
  thread: { readonly module: URL; readonly flag?: Int32Array } = {
    module: moduleBeside(import.meta.url, 'ledger-thread'),
  },
): AccessLedger {
  const writer = new LedgerWriter(databaseFile, MAX_RECORD_MS, options.note);
  try {
    writer.start(options.clock.now());
  } finally {
    writer.close();
  }
  const setup = { databaseFile, waitMs: MAX_RECORD_MS, flag: thread.flag };
  return new ServiceLedger(
    new TaskThread({ module: thread.module, setup, maxWaiting: MAX_SENT + 1 }),
    options,
  );
}

class ServiceLedger implements AccessLedger {
  private readonly thread: TaskThread<LedgerTasks>;
  private readonly options: ServedLedgerOptions;
  private readonly sent = new Set<Batch>();
  private next: Batch | undefined;
  private readonly timers: readonly NodeJS.Timeout[];
  private isStalled = false;
  private fault: string | undefined;
  private replacedFiles = 0;
  private reservedAccesses: number | undefined;
  private onIdle: () => void = () => undefined;

  constructor(thread: TaskThread<LedgerTasks>, options: ServedLedgerOptions) {
    this.thread = thread;
    this.options = options;
    const remove = () => void this.removeOld();
    this.timers = [setTimeout(remove, FIRST_REMOVAL_MS), setInterval(remove, REMOVAL_INTERVAL_MS)];
    for (const timer of this.timers) timer.unref();
  }

  record(accesses: readonly AccessRecord[]): Promise<readonly string[]> {
    if (accesses.length === 0) return Promise.resolve([]);
    const sinceMs = this.options.clock.monotonicMs();
    return new Promise((resolve, reject) => {
      const call = { accesses, sinceMs, resolve, reject };
      if (this.isStalled) {
        this.settle([call], STALLED);
        return;
      }
      this.next ??= this.startBatch();
      this.next.calls.push(call);
      this.next.count += accesses.length;
      const { size } = this.sent;
      if (size === 0 || (size < MAX_SENT && this.next.count >= MANY)) void this.write(this.next);
    });
  }

  isRecording(): boolean {
    return !this.isStalled;
  }

  state(): LedgerState {
    const { replacedFiles, reservedAccesses } = this;
    return { replacedFiles, reservedAccesses };
  }

  private startBatch(): Batch {
    const deadline = setTimeout(() => this.refuseStalled(), MAX_RECORD_MS).unref();
    return { calls: [], count: 0, deadline };
  }

  /** Sends a batch. After the thread has responded, sends the next batch, which formed meanwhile. */
  private async write(batch: Batch): Promise<void> {
    this.next = undefined;
    this.sent.add(batch);
    const result = await this.append(batch);
    this.isStalled = false;
    // A batch that `refuseStalled` has removed from the set is already settled.
    if (this.sent.delete(batch)) this.settleBatch(batch, result);
    if (this.next !== undefined) void this.write(this.next);
    else if (this.sent.size === 0) this.onIdle();
  }

  private async append({ calls }: Batch): Promise<Appended | string> {
    try {
      return await this.thread.run('append', encodeAccesses(calls.flatMap(({ accesses }) => accesses)));
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** Refuses all waiting accesses. The thread may record some of them later, although no data was shown. */
  private refuseStalled(): void {
    this.isStalled = true;
    const late = [...this.sent, ...(this.next === undefined ? [] : [this.next])];
    this.sent.clear();
    this.next = undefined;
    for (const batch of late) this.settleBatch(batch, STALLED);
    this.onIdle();
  }

  private settleBatch({ calls, deadline }: Batch, result: Appended | string): void {
    clearTimeout(deadline);
    this.settle(calls, result);
  }

  private settle(calls: readonly WaitingCall[], result: Appended | string): void {
    const { clock, measure, note } = this.options;
    const fault = typeof result === 'string' ? result : undefined;
    if (fault !== this.fault) note(`access ledger: ${fault ?? 'readings are recorded again'}`);
    this.fault = fault;
    if (typeof result !== 'string') {
      this.reservedAccesses = result.reserved;
      this.replacedFiles += result.notes.length;
      for (const replaced of result.notes) note(replaced);
    }
    let before = 0;
    for (const { accesses, sinceMs, resolve, reject } of calls) {
      const count = accesses.length;
      measure?.(count, clock.monotonicMs() - sinceMs, fault === undefined);
      // The calls of a batch get consecutive sequences.
      if (typeof result === 'string') reject(unrecorded(new Error(result)));
      else resolve(toReceipts({ first: result.first + before, hash: result.hash }, count));
      before += count;
    }
  }

  private async removeOld(): Promise<void> {
    const { days, note, clock } = this.options;
    try {
      const { names, entries } = await this.thread.run('removeOld', { nowMs: clock.now(), days });
      if (names.length > 0)
        note(`access ledger: removed ${entries} readings older than ${days} days: ${names.join(', ')}`);
    } catch (error) {
      note(`access ledger: old readings could not be removed: ${(error as Error).message}`);
    }
  }

  async close(): Promise<void> {
    for (const timer of this.timers) clearTimeout(timer);
    if (this.sent.size > 0 && !this.isStalled)
      await new Promise<void>((resolve) => {
        this.onIdle = resolve;
      });
    // A thread that waits for the disk cannot be stopped.
    await Promise.race([
      this.thread.close(),
      new Promise((resolve) => setTimeout(resolve, MAX_END_MS).unref()),
    ]);
  }
}
