/**
 * The ledger of a service: a thread writes it. What comes while it has a batch is the next one, as each
 * costs both threads a message and a sync of the disk; with many readings it gets that before it has done the
 * first, so that it need not be woken.
 */
import { moduleBeside, TaskThread } from '../../../runtime/task-thread.ts';
import type {
  AccessLedger,
  LedgerState,
  Reading,
  ServedLedgerOptions,
} from '../../contract/access-ledger.ts';
import { toReceipts, unrecorded } from './batch-hash.ts';
import type { Appended, LedgerSetup, LedgerTasks } from './ledger-thread.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { encodeReadings } from './reading-text.ts';

interface Waiting {
  readonly readings: readonly Reading[];
  readonly sinceMs: number;
  resolve(receipts: string[]): void;
  reject(error: unknown): void;
}

/** What the thread gets together. */
interface Batch {
  readonly waiting: Waiting[];
  /** Fires once its first reading has waited for too long, wherever the batch is. */
  readonly deadline: NodeJS.Timeout;
}

/** A reading that is not on disk after this is refused (docs/ledger.md#what-it-costs). */
export const MAX_RECORD_MS = 5_000;
/** For how long a service that ends waits for the thread. */
const MAX_END_MS = 1_000;
const DAY_MS = 24 * 3600 * 1000;
/** After its start a service has other things to do. */
const FIRST_REMOVAL_MS = 30_000;
/** Batches that the thread has at most, the second one of so many readings at least (decision 30). */
const MAX_GIVEN = 2;
const MANY = 16;
const STALLED = `the disk has not answered for ${MAX_RECORD_MS / 1000} s`;

/** The thread that writes; tests give one that stalls. */
export interface WritingThread {
  readonly module: URL;
  /** What it gets beside its setup. */
  readonly flag?: Int32Array | undefined;
}

const WRITING: WritingThread = { module: moduleBeside(import.meta.url, 'ledger-thread') };

/** @throws StorageError when the ledger cannot be used */
export function openServiceLedger(
  databaseFile: string,
  options: ServedLedgerOptions,
  { module, flag }: WritingThread = WRITING,
): AccessLedger {
  const writer = new LedgerWriter(databaseFile, MAX_RECORD_MS, options.note);
  try {
    writer.start(options.clock.now());
  } finally {
    writer.close();
  }
  const setup = { databaseFile, waitMs: MAX_RECORD_MS, flag } satisfies LedgerSetup & Partial<WritingThread>;
  return new ServiceLedger(new TaskThread({ module, setup, maxWaiting: MAX_GIVEN + 1 }), options);
}

class ServiceLedger implements AccessLedger {
  private readonly thread: TaskThread<LedgerTasks>;
  private readonly options: ServedLedgerOptions;
  /** The batches that the thread has. */
  private given: Batch[] = [];
  private next: Batch | undefined;
  /** Readings in `next`. */
  private waiting = 0;
  private readonly timers: readonly NodeJS.Timeout[];
  private isStalled = false;
  private fault: string | undefined;
  private replacedFiles = 0;
  private reservedReadings: number | undefined;
  private onIdle: () => void = () => undefined;

  constructor(thread: TaskThread<LedgerTasks>, options: ServedLedgerOptions) {
    this.thread = thread;
    this.options = options;
    const remove = () => void this.removeOld();
    this.timers = [setTimeout(remove, FIRST_REMOVAL_MS).unref(), setInterval(remove, DAY_MS).unref()];
  }

  record(readings: readonly Reading[]): Promise<readonly string[]> {
    if (readings.length === 0) return Promise.resolve([]);
    const sinceMs = this.options.clock.monotonicMs();
    return new Promise((resolve, reject) => {
      const waiting = { readings, sinceMs, resolve, reject };
      if (this.isStalled) {
        this.settle([waiting], STALLED);
        return;
      }
      this.next ??= this.startBatch();
      this.next.waiting.push(waiting);
      this.waiting += readings.length;
      const { length } = this.given;
      if (length === 0 || (length < MAX_GIVEN && this.waiting >= MANY)) void this.write();
    });
  }

  isRecording(): boolean {
    return !this.isStalled;
  }

  state(): LedgerState {
    const { replacedFiles, reservedReadings } = this;
    return { replacedFiles, reservedReadings };
  }

  private startBatch(): Batch {
    const deadline = setTimeout(() => this.refuseStalled(), MAX_RECORD_MS).unref();
    return { waiting: [], deadline };
  }

  /** Gives the thread what waits, and then what has come meanwhile. */
  private async write(): Promise<void> {
    const given = this.next;
    if (given === undefined) return;
    this.next = undefined;
    this.waiting = 0;
    this.given.push(given);
    const result = await this.append(given.waiting);
    this.isStalled = false;
    // Elsewhere when they were refused meanwhile.
    const place = this.given.indexOf(given);
    if (place >= 0) {
      this.given.splice(place, 1);
      this.settleBatch(given, result);
    }
    if (this.next !== undefined) void this.write();
    else if (this.given.length === 0) this.onIdle();
  }

  private async append(given: readonly Waiting[]): Promise<Appended | string> {
    try {
      return await this.thread.run('append', encodeReadings(given.flatMap(({ readings }) => readings)));
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** What the thread has may still get to the disk: a reading is recorded then that nobody was shown. */
  private refuseStalled(): void {
    this.isStalled = true;
    const late = [...this.given.splice(0), ...(this.next === undefined ? [] : [this.next])];
    this.next = undefined;
    this.waiting = 0;
    for (const batch of late) this.settleBatch(batch, STALLED);
    this.onIdle();
  }

  private settleBatch({ waiting, deadline }: Batch, result: Appended | string): void {
    clearTimeout(deadline);
    this.settle(waiting, result);
  }

  private settle(all: readonly Waiting[], result: Appended | string): void {
    const { clock, measure, note } = this.options;
    const fault = typeof result === 'string' ? result : undefined;
    if (fault !== this.fault) note(`access ledger: ${fault ?? 'readings are recorded again'}`);
    this.fault = fault;
    if (typeof result !== 'string') this.observe(result);
    let before = 0;
    for (const { readings, sinceMs, resolve, reject } of all) {
      const count = readings.length;
      measure?.(count, clock.monotonicMs() - sinceMs, fault === undefined);
      // They share a batch, in which they follow each other.
      if (typeof result === 'string') reject(unrecorded(new Error(result)));
      else resolve(toReceipts({ first: result.first + before, hash: result.hash }, count));
      before += count;
    }
  }

  private observe({ notes, reserved }: Appended): void {
    this.reservedReadings = reserved;
    this.replacedFiles += notes.length;
    for (const note of notes) this.options.note(note);
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
    if (this.given.length > 0 && !this.isStalled)
      await new Promise<void>((resolve) => {
        this.onIdle = resolve;
      });
    // A thread that waits for the disk cannot be ended.
    await Promise.race([
      this.thread.close(),
      new Promise((resolve) => setTimeout(resolve, MAX_END_MS).unref()),
    ]);
  }
}
