/** Reads what is in the ledger, also while others write it: batch by batch, in bounded memory. */
import { closeSync, openSync } from 'node:fs';
import { receiptOf } from '../files/batch.ts';
import { chainFolderOf, listChains, listSegments, segmentFileOf } from '../files/paths.ts';
import type { StoredReading } from '../files/reading-text.ts';
import { readBatches } from '../files/segment-batches.ts';

export interface LedgerBatch {
  readonly chain: number;
  readonly segment: number;
  /** The sequence of its first entry. */
  readonly first: number;
  readonly count: number;
  /** In hexadecimal digits. */
  readonly hash: string;
  /**
   * The lines of its entries, only valid until the next batch is read: to look for something in them is
   * faster than to parse them.
   */
  readonly lines: Buffer;
}

export interface LedgerEntry extends StoredReading {
  readonly chain: number;
  readonly sequence: number;
  readonly receipt: string;
}

/**
 * Every batch of every chain, in the order in which each chain was written. Whether they are sound is for
 * `verify` to say: what cannot be read ends its segment.
 * @param ledger the folder
 * @throws the system's error
 */
export function* readLedger(ledger: string): Generator<LedgerBatch, void> {
  for (const chain of listChains(ledger)) yield* readChain(chainFolderOf(ledger, chain), chain);
}

function* readChain(folder: string, chain: number): Generator<LedgerBatch, void> {
  for (let [segment] = listSegments(folder); segment !== undefined; ) {
    const current: number = segment;
    let offset = 0;
    // The next one is there before a segment is closed: after it is, this one has its last batch.
    let next: number | undefined;
    for (let isComplete = false; !isComplete; ) {
      isComplete = next !== undefined;
      next = listSegments(folder).find((each) => each > current);
      isComplete ||= next === undefined;
      offset = yield* readSegment(folder, { chain, segment: current }, offset);
    }
    segment = next;
  }
}

/** @returns where the batches end */
function* readSegment(
  folder: string,
  place: Pick<LedgerBatch, 'chain' | 'segment'>,
  start: number,
): Generator<LedgerBatch, number> {
  const handle = openIfThere(segmentFileOf(folder, place.segment));
  if (handle === undefined) return start;
  try {
    const batches = readBatches(handle, start);
    let step = batches.next();
    for (; step.done !== true; step = batches.next()) {
      const { first, count, hash, lines } = step.value;
      yield { ...place, first, count, hash, lines };
    }
    return step.value.offset;
  } finally {
    closeSync(handle);
  }
}

/** Retention may have removed it meanwhile. */
function openIfThere(file: string): number | undefined {
  try {
    return openSync(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The entries of a batch. */
export const entriesOf = (batch: LedgerBatch): LedgerEntry[] => entriesWith(batch, '');

/** Those of the lines that have this text in them: the others are not parsed. */
export function entriesWith({ chain, first, hash, lines }: LedgerBatch, text: string): LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  for (const [i, line] of lines.toString().slice(0, -1).split('\n').entries()) {
    if (!line.includes(text)) continue;
    const reading = JSON.parse(line) as StoredReading;
    entries.push({ chain, sequence: first + i, receipt: receiptOf(first + i, hash), ...reading });
  }
  return entries;
}
