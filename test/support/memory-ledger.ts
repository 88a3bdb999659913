/** An access ledger in memory, which acknowledges as a thread does, or when the test says so. */
import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import type { AccessLedger, AccessRecord } from '../../src/access/access-ledger.ts';
import { RegistryError } from '../../src/values/errors.ts';

export interface MemoryLedger extends AccessLedger {
  /** What was given to `record`, acknowledged or not, in order. */
  readonly readings: AccessRecord[];
  /** Takes readings, and acknowledges none until `release`. */
  hold(): void;
  release(): void;
  /** Whether what comes next cannot be recorded. */
  isFull: boolean;
  /** Resolves when a reading is given to `record`. */
  next(): Promise<void>;
}

export const receiptOf = (sequence: number): string => `${sequence}-${'f'.repeat(32)}`;

export function memoryLedger(): MemoryLedger {
  const readings: AccessRecord[] = [];
  let held: PromiseWithResolvers<void> | undefined;
  let coming = Promise.withResolvers<void>();
  const { port1: thread, port2: port } = new MessageChannel();
  return {
    readings,
    isFull: false,
    hold() {
      held ??= Promise.withResolvers();
    },
    release() {
      held?.resolve();
      held = undefined;
    },
    next: () => coming.promise,
    isRecording: () => true,
    async record(given) {
      const first = readings.length + 1;
      readings.push(...given);
      coming.resolve();
      coming = Promise.withResolvers();
      const answered = once(port, 'message');
      thread.postMessage(null);
      await answered;
      await held?.promise;
      if (this.isFull) {
        const more = { reason: 'ledger', retryAfterSeconds: 2 } as const;
        throw new RegistryError('unavailable', 'The access ledger cannot be written.', more);
      }
      return given.map((_, i) => receiptOf(first + i));
    },
    async close() {
      port.close();
    },
  };
}
