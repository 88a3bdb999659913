/** How the access ledger is doing, in a few milliseconds: what `status` shows. */
import { accessSync, closeSync, constants, existsSync, openSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { chainFolderOf, listChains, listSegments, segmentFileOf } from '../../ledger/files/paths.ts';
import type { StoredReading } from '../../ledger/files/reading-text.ts';
import { readBatches } from '../../ledger/files/segment-batches.ts';
import { systemCodeOf } from '../../runtime/system-code.ts';

export interface LedgerCondition {
  readonly chains: number;
  /** Those that are kept. */
  readonly entries: number;
  /** Of all its files. */
  readonly bytes: number;
  /** Epoch milliseconds; null when there is none. */
  readonly newestMs: number | null;
  /** What is wrong with the folder; null when nothing is. */
  readonly fault: 'open to others' | 'not writable' | 'not readable' | null;
}

/** @returns undefined where there is no ledger yet */
export function readLedgerCondition(ledgerFolder: string): LedgerCondition | undefined {
  if (!existsSync(ledgerFolder)) return undefined;
  try {
    const chains = listChains(ledgerFolder);
    const read = chains.map((chain) => readChain(chainFolderOf(ledgerFolder, chain)));
    const times = read.map(({ newestMs }) => newestMs).filter((ms) => ms !== null);
    return {
      chains: chains.length,
      entries: read.reduce((sum, { entries }) => sum + entries, 0),
      bytes: sizeOf(ledgerFolder),
      newestMs: times.length === 0 ? null : Math.max(...times),
      fault: faultOf(ledgerFolder),
    };
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return { chains: 0, entries: 0, bytes: 0, newestMs: null, fault: 'not readable' };
  }
}

/** Anybody but the owner who may enter it. */
const OTHERS = 0o077;

function faultOf(folder: string): LedgerCondition['fault'] {
  if ((statSync(folder).mode & OTHERS) !== 0) return 'open to others';
  try {
    accessSync(folder, constants.W_OK);
    return null;
  } catch {
    return 'not writable';
  }
}

const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce((sum, name) => {
    const { size, isFile } = sizeAndKind(join(folder, name));
    return isFile ? sum + size : sum;
  }, 0);

function sizeAndKind(path: string): { readonly size: number; readonly isFile: boolean } {
  const found = statSync(path, { throwIfNoEntry: false });
  return { size: found?.size ?? 0, isFile: found?.isFile() ?? false };
}

interface ChainCondition {
  readonly entries: number;
  readonly newestMs: number | null;
}

/** Sequences have no gaps: the first one of the oldest segment and the last one say how many there are. */
function readChain(folder: string): ChainCondition {
  const segments = listSegments(folder).map((segment) => segmentFileOf(folder, segment));
  const begin = firstOf(segments, (file) => readSegment(file, 1))?.begin;
  const newest = firstOf(segments.toReversed(), (file) => readSegment(file, Number.POSITIVE_INFINITY));
  return begin === undefined || newest === undefined
    ? { entries: 0, newestMs: null }
    : { entries: newest.end - begin, newestMs: newest.newestMs };
}

/** Of the first file that has it; the others are not read. */
function firstOf<T>(files: readonly string[], read: (file: string) => T | undefined): T | undefined {
  for (const file of files) {
    const found = read(file);
    if (found !== undefined) return found;
  }
  return undefined;
}

interface SegmentEnds {
  readonly begin: number;
  /** The sequence after the last one. */
  readonly end: number;
  readonly newestMs: number;
}

/** @param most batches that are read. @returns undefined for a segment without entries */
function readSegment(file: string, most: number): SegmentEnds | undefined {
  const handle = openSync(file, 'r');
  try {
    let [begin, end, read, line] = [0, 0, 0, ''];
    for (const { first, count, lines } of readBatches(handle)) {
      if (read === 0) begin = first;
      end = first + count;
      line = lines.toString('utf8', lines.lastIndexOf('\n', -2) + 1);
      if (++read === most) break;
    }
    if (read === 0) return undefined;
    return { begin, end, newestMs: Date.parse((JSON.parse(line) as StoredReading).time) };
  } finally {
    closeSync(handle);
  }
}
