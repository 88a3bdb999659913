/**
 * The thread that writes the ledger of a service. It takes a text of readings, or the instant (epoch
 * milliseconds) before which readings are removed, and answers each text in its order.
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { ChainWriter, type Recorded } from './chain-writer.ts';
import type { ChainState } from './open-chain.ts';

/** @param beforeMs see `ChainWriter.removeBefore` */
export interface Removal {
  readonly beforeMs: number;
  readonly nowMs: number;
}

/** What becomes of so many texts, which share a batch: written, or why not. */
export type Written = readonly [texts: number, result: Recorded | string];

const port = parentPort;
if (port === null) throw new Error('This module is for a thread of its own.');
const writer = new ChainWriter(workerData as ChainState);

port.on('message', (message: string | Removal) => {
  const texts: string[] = [];
  let next: { message: string | Removal } | undefined = { message };
  // What has arrived meanwhile shares one sync of the disk.
  for (; next !== undefined; next = receiveMessageOnPort(port)) {
    if (typeof next.message === 'string') texts.push(next.message);
    else remove(next.message);
  }
  if (texts.length > 0) port.postMessage([texts.length, write(texts)] satisfies Written);
});

function write(texts: readonly string[]): Recorded | string {
  try {
    return writer.append(texts);
  } catch (error) {
    return (error as Error).message;
  }
}

function remove({ beforeMs, nowMs }: Removal): void {
  try {
    writer.removeBefore(beforeMs, nowMs);
  } catch {
    // Tried again the next day; what is kept too long is still in the ledger, and sound.
  }
}
