/** Where a chain goes on: found when a process takes it, after a power cut too. */
import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { createPrivateFolder, openPrivateFile } from '../../runtime/new-files.ts';
import { type BatchHeader, hashBatch, NO_HASH } from '../files/batch.ts';
import { syncFolder, systemFunctions, type WritingFunctions } from '../files/durable.ts';
import { knownHeads, readHeads } from '../files/heads.ts';
import { openPersonHash } from '../files/identity-hash.ts';
import {
  headsFileOf,
  keyFileOf,
  keysFolderOf,
  listKeys,
  listSegments,
  segmentFileOf,
} from '../files/paths.ts';
import { isEmptySegment, readBatches, type SegmentEnd } from '../files/segment-batches.ts';
import { createSegment } from './segment-files.ts';

/** Plain values: it is passed to the thread that writes. */
export interface ChainState {
  readonly folder: string;
  readonly chain: number;
  readonly segment: number;
  /** First sequence of the segment, and that of the next entry. */
  readonly first: number;
  readonly next: number;
  /** Of the last batch. */
  readonly hash: string;
  /** Where the next batch begins. */
  readonly offset: number;
  /** Up to where something may be in the way that was not completed. */
  readonly dirtyEnd: number;
  /** How much of it an earlier process has left, in bytes: the next batch says so. */
  readonly dropped: number;
  /** Up to where the disk has the room. */
  readonly allocated: number;
  /** Earliest and latest instant of an entry of the segment; undefined without entries. */
  readonly times: { readonly first: number; readonly last: number } | undefined;
}

/**
 * Finds where a chain goes on, and creates what is missing. Nothing that was acknowledged is changed.
 * @param folder of the chain, which nobody else writes
 * @returns undefined for a chain that is damaged: it stays as it is, for `verify`
 * @throws the system's error
 */
export function openChain(
  folder: string,
  chain: number,
  functions: WritingFunctions = systemFunctions,
): ChainState | undefined {
  prepareFolder(folder);
  const { heads } = knownHeads(readHeads(folder));
  const head = heads.at(-1);
  const open = listSegments(folder).filter((segment) => segment > (head?.segment ?? 0));
  const previous = { hash: head?.hash ?? NO_HASH, next: (head?.last ?? 0) + 1 };
  const segment = (head?.segment ?? 0) + 1;
  const start = { folder, chain, segment, first: previous.next, ...previous };
  const isBegun = head !== undefined || listKeys(folder).length > 0;
  const isNew = open.length === 0 ? !isBegun : open[0] === segment && isUnused(folder, segment);
  if (isNew) {
    const allocated = createSegment(functions, folder, segment);
    return { ...start, offset: 0, dirtyEnd: 0, dropped: 0, allocated, times: undefined };
  }
  // The next one is created before a segment is closed; what was killed in between begins it again.
  const [found, ...later] = open;
  if (found !== segment || openPersonHash(folder, segment) === undefined) return undefined;
  if (later.length > 1 || later.some((each) => !isEmptySegment(segmentFileOf(folder, each))))
    return undefined;
  return continueSegment(start);
}

function prepareFolder(folder: string): void {
  if (!existsSync(folder)) createPrivateFolder(folder);
  if (!existsSync(keysFolderOf(folder))) createPrivateFolder(keysFolderOf(folder));
  if (!existsSync(headsFileOf(folder)) && listSegments(folder).length === 0)
    closeSync(openPrivateFile(headsFileOf(folder)));
  // A folder is there after a power cut only if the one around it was synced.
  syncFolder(dirname(folder));
  syncFolder(folder);
}

/** Left by a process that was killed while it created the segment. */
const isUnused = (folder: string, segment: number): boolean =>
  !existsSync(keyFileOf(folder, segment)) && isEmptySegment(segmentFileOf(folder, segment));

type Start = Pick<ChainState, 'folder' | 'chain' | 'segment' | 'first' | 'next' | 'hash'>;

function continueSegment(start: Start): ChainState | undefined {
  const file = segmentFileOf(start.folder, start.segment);
  const handle = openSync(file, 'r');
  let { next, hash } = start;
  let times: ChainState['times'];
  let end: SegmentEnd;
  try {
    const batches = readBatches(handle);
    let step = batches.next();
    for (; step.done !== true; step = batches.next()) {
      const batch = step.value;
      if (batch.first !== next || batch.hash !== hashBatch(hash, batch.hashed, batch.lines)) return undefined;
      next = nextAfter(batch);
      hash = batch.hash;
      times = spanWith(times, batch.lines);
    }
    end = step.value;
  } finally {
    closeSync(handle);
  }
  if (end.kind === 'damaged') return undefined;
  const { offset, rest } = end;
  return {
    ...{ ...start, next, hash, times, offset },
    dirtyEnd: offset + rest,
    dropped: rest,
    allocated: statSync(file).size,
  };
}

export const nextAfter = ({ first, count }: Pick<BatchHeader, 'first' | 'count'>): number => first + count;

const TIME = /^\{"time":"([^"]+)"/;

/** The first and the last line say when: what lies between them differs by milliseconds. */
function spanWith(span: ChainState['times'], lines: Buffer): ChainState['times'] {
  const lastLine = lines.lastIndexOf(0x0a, lines.length - 2) + 1;
  for (const place of [0, lastLine]) {
    const [, text = ''] = TIME.exec(lines.toString('latin1', place, place + 64)) ?? [];
    span = widened(span, Date.parse(text));
  }
  return span;
}

/** @param timeMs epoch milliseconds */
export const widened = (span: ChainState['times'], timeMs: number): NonNullable<ChainState['times']> => ({
  first: Math.min(span?.first ?? timeMs, timeMs),
  last: Math.max(span?.last ?? timeMs, timeMs),
});
