/** Whether one chain is as it was written, from its first batch to its last. */
import { closeSync, existsSync, fstatSync, openSync } from 'node:fs';
import { type BatchHeader, hashBatch, NO_HASH } from '../files/batch.ts';
import type { Head } from '../files/heads.ts';
import { openPersonHash } from '../files/identity-hash.ts';
import { chainFolderOf, keyFileOf, listKeys, listSegments, segmentFileOf } from '../files/paths.ts';
import { isEmptySegment, readBatches } from '../files/segment-batches.ts';
import type { LedgerBatch } from './read-ledger.ts';
import { type ClosedSegment, COMPARE, Fault, VerifiedHeads } from './verify-heads.ts';

export interface VerifiedChain {
  readonly chain: number;
  /** Entries before the first place that is not sound. */
  readonly entries: number;
  /** What is not sound there, what it means, and what to do; null when all is sound. */
  readonly fault: string | null;
  /** Segments that retention has removed. */
  readonly removed: readonly Head[];
  readonly notes: readonly string[];
}

/** @throws the system's error */
export function verifyChain(
  ledger: string,
  chain: number,
  onBatch: (batch: LedgerBatch) => void = () => undefined,
): VerifiedChain {
  const verifier = new ChainVerifier(ledger, chain, onBatch);
  try {
    verifier.run();
    return { ...verifier.result, fault: null };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { ...verifier.result, fault: `Chain ${chain}, ${error.message}` };
  }
}

/** Another process may be writing what is being read: what looks wrong is read again so often. */
const ATTEMPTS = 4;
const AGAIN_AFTER_MS = 50;

class ChainVerifier {
  readonly result = { chain: 0, entries: 0, removed: [] as Head[], notes: [] as string[] };
  private readonly heads: VerifiedHeads;
  private readonly folder: string;
  private readonly onBatch: (batch: LedgerBatch) => void;
  private hash = NO_HASH;
  private next = 1;
  /** Where the next batch of the segment begins. */
  private offset = 0;
  /** The entries do not depend on the key: what follows is verified all the same. */
  private missingKey: Fault | undefined;

  constructor(ledger: string, chain: number, onBatch: (batch: LedgerBatch) => void) {
    this.result.chain = chain;
    this.heads = new VerifiedHeads(ledger, chain);
    this.folder = chainFolderOf(ledger, chain);
    this.onBatch = onBatch;
  }

  run(): void {
    for (let segment = 1; ; segment++) {
      this.offset = 0;
      if (!this.verifySegment(segment)) break;
    }
    if (this.missingKey !== undefined) throw this.missingKey;
  }

  /** @returns whether there is another one */
  private verifySegment(segment: number): boolean {
    const first = this.next;
    let head = this.headOf(segment, first);
    if (head?.isRemoved === true) {
      this.result.removed.push(head);
      [this.hash, this.next] = [head.hash, head.last + 1];
      return true;
    }
    this.assertFiles(segment, head !== undefined);
    if (head === undefined) {
      this.readOpen(segment);
      // It may have been closed meanwhile, with more than was read.
      head = this.headOf(segment, first);
      if (head === undefined) {
        this.assertLast(segment, first);
        return false;
      }
    }
    this.readClosed(segment, head);
    return true;
  }

  /** What is signed of a segment; undefined of the open one. @param first the sequence that it begins with */
  private headOf(segment: number, first: number): ClosedSegment | undefined {
    const head = this.heads.find(segment);
    if (head !== undefined && head.first !== first)
      throw new Fault(
        `heads.ndjson, segment ${segment}: it begins with ${head.first} instead of ${first}: ` +
          `a line is missing. ${COMPARE}`,
      );
    return head;
  }

  private assertFiles(segment: number, isClosed: boolean): void {
    const hasSegment = existsSync(segmentFileOf(this.folder, segment));
    const hasKey = openPersonHash(this.folder, segment) !== undefined;
    const keyState = existsSync(keyFileOf(this.folder, segment)) ? 'damaged' : 'missing';
    const isBegun = segment > 1 || listKeys(this.folder).length + listSegments(this.folder).length > 0;
    if (!hasSegment && isBegun)
      throw new Fault(
        `segment ${segment}: its file is missing, and it was not removed by retention: everything in it ` +
          'was taken away. Restore it from a backup.',
      );
    if (hasSegment && !hasKey && (isClosed || !isEmptySegment(segmentFileOf(this.folder, segment))))
      this.missingKey ??= new Fault(
        `segment ${segment}: its key is ${keyState}: who was looked up cannot be found in it any more. ` +
          'Restore the file in keys/ from a backup.',
      );
  }

  private readClosed(segment: number, head: Head): void {
    const isToEnd = this.read(segment);
    if (!isToEnd)
      throw new Fault(
        `segment ${segment}, after ${this.next - 1}: there is something that is no batch. ${COMPARE}`,
      );
    if (this.next !== head.last + 1 || this.hash !== head.hash)
      throw new Fault(
        `segment ${segment}: it ends with ${this.next - 1}, and was closed with ${head.last}: ` +
          `its end was changed or removed. ${COMPARE}`,
      );
  }

  private readOpen(segment: number): void {
    if (!existsSync(segmentFileOf(this.folder, segment))) return;
    for (let attempt = 1; ; attempt++) {
      try {
        this.read(segment);
        return;
      } catch (error) {
        if (!(error instanceof Fault) || attempt === ATTEMPTS) throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, AGAIN_AFTER_MS);
      }
    }
  }

  /** Reads on to the end. @returns whether the file ends there */
  private read(segment: number): boolean {
    const handle = openSync(segmentFileOf(this.folder, segment), 'r');
    try {
      const batches = readBatches(handle, this.offset);
      let step = batches.next();
      for (; step.done !== true; step = batches.next()) this.take(segment, step.value, step.value.lines);
      const { kind, offset, rest } = step.value;
      if (kind === 'damaged')
        throw new Fault(
          `segment ${segment}, after ${this.next - 1}: what follows was changed or removed after it was ` +
            `written. ${COMPARE}`,
        );
      if (kind === 'torn')
        this.note(`segment ${segment}: the last ${rest} bytes are of a batch that was never acknowledged.`);
      return offset === fstatSync(handle).size;
    } finally {
      closeSync(handle);
    }
  }

  private take(segment: number, batch: BatchHeader, lines: Buffer): void {
    const { first, count, bytes, dropped, hash, hashed } = batch;
    const place = `segment ${segment}, batch of ${first}`;
    if (first !== this.next)
      throw new Fault(`${place}: it follows ${this.next - 1}: a batch between them was removed. ${COMPARE}`);
    if (hash !== hashBatch(this.hash, hashed, lines) || countLines(lines) !== count)
      throw new Fault(`${place}: it was changed after it was written: its hash differs. ${COMPARE}`);
    if (dropped > 0)
      this.note(
        `${place}: before it, ${dropped} bytes of a batch were dropped that a power cut or a kill had left ` +
          'incomplete; no response left for them.',
      );
    const { chain } = this.result;
    this.onBatch({ chain, segment, first, count, hash, lines });
    [this.hash, this.next] = [hash, first + count];
    this.offset += Buffer.byteLength(hashed) + `,"hash":"${hash}"}\n`.length + bytes;
    this.result.entries += count;
  }

  /** Whether nothing follows an open segment: it is closed before the next one is written. */
  private assertLast(segment: number, first: number): void {
    const { folder } = this;
    const later = listSegments(folder).find(
      (each) => each > segment && !isEmptySegment(segmentFileOf(folder, each)),
    );
    const laterKey = listKeys(folder).find(
      (each) => each > segment && !existsSync(segmentFileOf(folder, each)),
    );
    const found = later ?? laterKey;
    if (found === undefined || this.headOf(segment, first) !== undefined) return;
    throw new Fault(
      `segment ${segment}: it was never closed, but there is segment ${found}: a line of heads.ndjson or ` +
        `the file of a segment is missing. ${COMPARE}`,
    );
  }

  private note(text: string): void {
    const note = `Chain ${this.result.chain}, ${text}`;
    if (!this.result.notes.includes(note)) this.result.notes.push(note);
  }
}

function countLines(lines: Buffer): number {
  let count = 0;
  for (let place = lines.indexOf(0x0a); place !== -1; place = lines.indexOf(0x0a, place + 1)) count++;
  return count;
}
