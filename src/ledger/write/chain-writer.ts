/** Writes one chain. Whatever it returns is on disk; after a failure, the next batch takes the same place. */
import { fstatSync, statSync } from 'node:fs';
import { BatchFormatter, type FormattedBatch } from '../files/batch.ts';
import { systemFunctions, type WritingFunctions, writeFully } from '../files/durable.ts';
import { appendHead, HeadInDoubt, knownHeads, readHeads } from '../files/heads.ts';
import { type HashPerson, openPersonHash } from '../files/identity-hash.ts';
import { segmentFileOf } from '../files/paths.ts';
import { timeOf, toLines } from '../files/reading-text.ts';
import { type ChainState, widened } from './open-chain.ts';
import { createSegment, EXTENSION_BYTES, RESERVE_BYTES, removeSegment, zeros } from './segment-files.ts';

/** When a segment is closed. */
export const MAX_SEGMENT_BYTES = 64 * 1024 * 1024;
export const MAX_SEGMENT_MS = 31 * 24 * 3600 * 1000;
/** How often it is looked whether the segment is still where it was. */
const LOOK_MS = 1_000;
/** A segment that could not be closed is tried again after so much more. */
const TRY_AGAIN_BYTES = 256 * 1024;

/** Entries that are on disk. */
export interface Recorded {
  /** Sequence of the first one; those of the others follow. */
  readonly first: number;
  /** Of their batch, in hexadecimal digits. */
  readonly hash: string;
}

interface OpenedSegment {
  readonly handle: number;
  readonly hashPerson: HashPerson;
}

function openSegment(functions: WritingFunctions, folder: string, segment: number): OpenedSegment {
  const hashPerson = openPersonHash(folder, segment);
  if (hashPerson === undefined) throw new Error(`the key of segment ${segment} cannot be used`);
  return { hashPerson, handle: functions.openSync(segmentFileOf(folder, segment), 'r+') };
}

export class ChainWriter {
  private state: ChainState;
  private opened: OpenedSegment;
  private readonly functions: WritingFunctions;
  private readonly maxSegmentBytes: number;
  private readonly formatter = new BatchFormatter();
  private closesFrom = 0;
  private placeSeenMs = Number.NEGATIVE_INFINITY;

  /** @throws the system's error */
  constructor(
    state: ChainState,
    functions: WritingFunctions = systemFunctions,
    maxSegmentBytes = MAX_SEGMENT_BYTES,
  ) {
    this.state = state;
    this.functions = functions;
    this.maxSegmentBytes = maxSegmentBytes;
    this.opened = openSegment(functions, state.folder, state.segment);
  }

  /**
   * Records readings as one batch.
   * @param texts of `encodeReadings`
   * @throws the system's error; nothing of them is recorded for sure then
   */
  append(texts: readonly string[]): Recorded {
    this.assertInPlace();
    this.closeIfDue(timeOf(texts[0] ?? ''));
    const entries = toLines(texts, this.opened.hashPerson);
    const { lines, count } = entries;
    const { next: first, hash, offset, dirtyEnd, dropped, times } = this.state;
    // What a longer batch has left behind would be read as damage.
    const batch = this.formatter.format(hash, { first, count, dropped }, lines, dirtyEnd - offset);
    this.write(batch);
    const end = offset + batch.length;
    this.state = {
      ...this.state,
      ...{ next: first + count, hash: batch.hash, offset: end, dirtyEnd: end, dropped: 0 },
      times: widened(widened(times, entries.first), entries.last),
    };
    return { first, hash: batch.hash };
  }

  /** A file that was deleted or replaced still takes what is written, and nobody would find it again. */
  private assertInPlace(): void {
    const nowMs = performance.now();
    if (nowMs - this.placeSeenMs < LOOK_MS) return;
    const { folder, segment } = this.state;
    const there = statSync(segmentFileOf(folder, segment), { throwIfNoEntry: false });
    if (there?.ino !== fstatSync(this.opened.handle).ino)
      throw new Error(
        `the file of segment ${segment} was taken away: restore it and start the service again`,
      );
    this.placeSeenMs = nowMs;
  }

  private write({ bytes, length }: FormattedBatch): void {
    const { offset } = this.state;
    const dirtyEnd = offset + bytes.length;
    this.extendTo(dirtyEnd + RESERVE_BYTES, offset + length);
    this.state = { ...this.state, dirtyEnd };
    writeFully(this.functions, this.opened.handle, bytes, offset);
    this.functions.fdatasyncSync(this.opened.handle);
  }

  /**
   * Makes room ahead.
   * @param wanted with the reserve
   * @param needed now: the reserve may be used up to there
   * @throws the system's error when there is less
   */
  private extendTo(wanted: number, needed: number): void {
    try {
      while (this.state.allocated < wanted - EXTENSION_BYTES || this.state.allocated < needed) {
        const { allocated } = this.state;
        writeFully(this.functions, this.opened.handle, zeros(EXTENSION_BYTES), allocated);
        this.state = { ...this.state, allocated: allocated + EXTENSION_BYTES };
      }
    } catch (error) {
      if (this.state.allocated < needed) throw error;
    }
  }

  /** @param nowMs epoch milliseconds */
  private closeIfDue(nowMs: number): void {
    const { times, offset } = this.state;
    if (times === undefined || offset < this.closesFrom) return;
    if (offset < this.maxSegmentBytes && nowMs - times.first < MAX_SEGMENT_MS) return;
    try {
      this.closeSegment(times);
    } catch (error) {
      if (error instanceof HeadInDoubt) throw error;
      // A full disk: this segment has a reserve, which a new one may not get.
      this.closesFrom = offset + TRY_AGAIN_BYTES;
    }
  }

  private closeSegment(times: NonNullable<ChainState['times']>): void {
    const { folder, chain, segment, first, next, hash, offset } = this.state;
    const allocated = createSegment(this.functions, folder, segment + 1);
    const opened = openSegment(this.functions, folder, segment + 1);
    try {
      this.functions.ftruncateSync(this.opened.handle, offset);
      this.state = { ...this.state, allocated: offset, dirtyEnd: offset };
      this.functions.fsyncSync(this.opened.handle);
      const [firstTime, lastTime] = [times.first, times.last].map((ms) => new Date(ms).toISOString());
      appendHead(this.functions, folder, {
        ...{ chain, segment, first, last: next - 1 },
        ...{ first_time: firstTime as string, last_time: lastTime as string, hash },
      });
    } catch (error) {
      this.functions.closeSync(opened.handle);
      throw error;
    }
    this.functions.closeSync(this.opened.handle);
    this.closesFrom = 0;
    this.opened = opened;
    this.state = {
      ...{ folder, chain, segment: segment + 1, first: next, next, hash },
      ...{ offset: 0, dirtyEnd: 0, dropped: 0, allocated, times: undefined },
    };
  }

  /**
   * Closes the segment if it is old enough, and removes the closed ones with no entry since an instant.
   * @param nowMs epoch milliseconds
   * @param beforeMs likewise
   * @throws the system's error
   */
  removeBefore(beforeMs: number, nowMs: number): void {
    this.closeIfDue(nowMs);
    const { folder, chain } = this.state;
    const { heads, removed } = knownHeads(readHeads(folder));
    for (const { segment, last_time: lastTime } of heads) {
      if (Date.parse(lastTime) >= beforeMs) return;
      // It is said first: a segment that is missing without it was taken away.
      if (!removed.has(segment))
        appendHead(this.functions, folder, { chain, segment, removed: new Date(nowMs).toISOString() });
      removeSegment(this.functions, folder, segment);
    }
  }

  close(): void {
    this.functions.closeSync(this.opened.handle);
  }
}
