/**
 * The thread that writes the ledger of a service. It takes a text of readings, or the instant (epoch
 * milliseconds) before which readings are removed, and answers each text in its order.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { HeadInDoubt } from '../files/heads.ts';
import { ChainWriter, type Recorded } from './chain-writer.ts';
import type { ChainState } from './open-chain.ts';

/** @param beforeMs see `ChainWriter.removeBefore` */
export interface Removal {
  readonly beforeMs: number;
  readonly nowMs: number;
}

/** What becomes of a text: written, or why not. */
export type Written = Recorded | string;

const port = parentPort;
if (port === null) throw new Error('This module is for a thread of its own.');
const writer = new ChainWriter(workerData as ChainState);

port.on('message', (message: string | Removal) => {
  if (typeof message === 'string') port.postMessage(write(message));
  else remove(message);
});

function write(text: string): Written {
  try {
    return writer.append([text]);
  } catch (error) {
    // The thread ends, and the one that follows it reads how far the chain got.
    if (error instanceof HeadInDoubt) throw error;
    return (error as Error).message;
  }
}

function remove({ beforeMs, nowMs }: Removal): void {
  try {
    writer.removeBefore(beforeMs, nowMs);
  } catch (error) {
    if (error instanceof HeadInDoubt) throw error;
    // Tried again the next day; what is kept too long is still in the ledger, and sound.
  }
}
