/**
 * The ledger of a service: a thread writes it. The event loop gives it two texts at a time, so that it writes
 * one while responses of the other leave, and then one with all that has come since: each costs both threads
 * a message and a sync of the disk.
 */
import { Worker } from 'node:worker_threads';
import { moduleBeside } from '../../runtime/task-thread.ts';
import type { AccessLedger, Reading } from '../../store/ports/access-ledger.ts';
import { encodeReadings } from '../files/reading-text.ts';
import { type ClaimedChain, claimChain, type LedgerPlace } from './claim-chain.ts';
import type { Written } from './ledger-thread.ts';
import { removeFromOthers } from './retention.ts';
import { toReceipts, unrecorded } from './unrecorded.ts';

export interface LedgerOptions {
  readonly place: LedgerPlace;
  readonly clock: { now(): number; monotonicMs(): number };
  /** For how many days readings are kept. */
  readonly days: number;
  /** Logs what an operator should know. */
  readonly note: (message: string) => void;
  /** @param durationMs until the readings were on disk, or could not be recorded; it must not throw */
  readonly measure?: ((readings: number, durationMs: number, isRecorded: boolean) => void) | undefined;
}

interface Waiting {
  readonly readings: readonly Reading[];
  readonly sinceMs: number;
  resolve(receipts: string[]): void;
  reject(error: unknown): void;
}

/** How many texts the thread has at most. */
const MAX_GIVEN = 2;
const ENDED = 'the thread that writes it has ended';
const DAY_MS = 24 * 3600 * 1000;
/** A thread that has ended is started again no sooner than this after it was started. */
const START_AGAIN_MS = 1_000;

/** @throws StorageError when the ledger cannot be used */
export const openServiceLedger = (options: LedgerOptions): AccessLedger => new ServiceLedger(options);

class ServiceLedger implements AccessLedger {
  private readonly options: LedgerOptions;
  /** The texts that the thread has, and what it gets next. */
  private readonly given: Waiting[][] = [];
  private next: Waiting[] = [];
  private readonly daily: NodeJS.Timeout;
  private claimed: ClaimedChain | undefined;
  private worker: Worker | undefined;
  private startedMs = Number.NEGATIVE_INFINITY;
  private isFailing = false;
  private isClosed = false;
  private onSettled: () => void = () => undefined;

  constructor(options: LedgerOptions) {
    this.options = options;
    this.start();
    this.removeOld();
    this.daily = setInterval(() => this.removeOld(), DAY_MS);
    this.daily.unref();
  }

  record(readings: readonly Reading[]): Promise<readonly string[]> {
    if (readings.length === 0) return Promise.resolve([]);
    const sinceMs = this.options.clock.monotonicMs();
    return new Promise((resolve, reject) => {
      this.next.push({ readings, sinceMs, resolve, reject });
      if (this.given.length < MAX_GIVEN) this.writeNext();
    });
  }

  private writeNext(): void {
    const worker = this.worker ?? this.startAgain();
    const { next } = this;
    this.given.push(next);
    this.next = [];
    if (worker === undefined) {
      this.onWritten(ENDED);
    } else {
      worker.ref();
      worker.postMessage(encodeReadings(next.flatMap(({ readings }) => readings)));
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.daily);
    if (this.given.length > 0)
      await new Promise<void>((resolve) => {
        this.onSettled = resolve;
      });
    await this.worker?.terminate();
    this.claimed?.lock.release();
    this.claimed = undefined;
  }

  /** @returns undefined while it may not be started, or cannot */
  private startAgain(): Worker | undefined {
    if (this.isClosed || this.options.clock.monotonicMs() - this.startedMs < START_AGAIN_MS) return undefined;
    try {
      // What the last one has left is read again, or another chain is taken.
      this.claimed?.lock.release();
      this.claimed = undefined;
      return this.start();
    } catch (error) {
      this.options.note((error as Error).message);
      return undefined;
    }
  }

  private start(): Worker {
    const { clock, note, place } = this.options;
    this.startedMs = clock.monotonicMs();
    this.claimed = claimChain(place);
    const { state, damaged } = this.claimed;
    if (damaged.length > 0)
      note(`access ledger: chain ${damaged.join(', ')} is damaged and left as it is: run ledger verify`);
    const worker = new Worker(moduleBeside(import.meta.url, 'ledger-thread'), { workerData: state });
    let fault = ENDED;
    worker.on('message', (written: Written) => this.onWritten(written));
    worker.on('error', (error) => {
      fault = error.message;
    });
    worker.once('exit', () => {
      this.worker = undefined;
      const lost = this.given.splice(0).flat();
      if (lost.length > 0) this.onWritten(fault, lost);
    });
    worker.unref();
    this.worker = worker;
    return worker;
  }

  private onWritten(result: Written, settled = this.given.shift() ?? []): void {
    let before = 0;
    for (const waiting of settled) {
      // They share a batch, in which they follow each other.
      const isWritten = typeof result !== 'string';
      this.settle(waiting, isWritten ? { ...result, first: result.first + before } : result);
      before += waiting.readings.length;
    }
    if (this.next.length > 0) {
      this.writeNext();
    } else if (this.given.length === 0) {
      this.worker?.unref();
      this.onSettled();
    }
  }

  private settle({ readings, sinceMs, resolve, reject }: Waiting, result: Written): void {
    const count = readings.length;
    const { clock, measure, note } = this.options;
    const isRecorded = typeof result !== 'string';
    measure?.(count, clock.monotonicMs() - sinceMs, isRecorded);
    if (isRecorded === this.isFailing)
      note(isRecorded ? 'access ledger: readings are recorded again' : `access ledger: ${result}`);
    this.isFailing = !isRecorded;
    if (isRecorded) resolve(toReceipts(result, count));
    else reject(unrecorded(new Error(result)));
  }

  private removeOld(): void {
    const { clock, days, note, place } = this.options;
    const nowMs = clock.now();
    const beforeMs = nowMs - days * DAY_MS;
    this.worker?.postMessage({ beforeMs, nowMs });
    try {
      removeFromOthers(place, this.claimed?.state.chain, { beforeMs, nowMs });
    } catch (error) {
      note(`access ledger: old readings could not be removed: ${(error as Error).message}`);
    }
  }
}
