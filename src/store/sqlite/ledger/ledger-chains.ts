/**
 * The chains of a ledger: which parts, in which files, follow each other. A part that has the same entries as
 * an earlier one, and goes on apart from it, begins a chain of its own.
 */
import type { LedgerBatch, UnreadableFile } from '../../contract/access-ledger.ts';
import { StorageError } from '../../contract/storage-error.ts';
import { readRegistryId } from '../identity/registry-id.ts';
import { type LedgerFile, listAllFiles } from './ledger-files.ts';
import {
  hasBatch,
  keyIdAt,
  type LedgerPart,
  openLedgerFile,
  type RemovedRow,
  readLedgerFile,
  readRows,
} from './ledger-rows.ts';

export interface ChainPart {
  readonly file: LedgerFile;
  readonly part: LedgerPart;
  /** The number of its chain, from 1 on. */
  readonly chain: number;
  /** The part that it continues; undefined for the first of its chain. */
  readonly before: ChainPart | undefined;
  /** Earlier parts of its origin with some of the same sequences. */
  readonly overlapping: readonly ChainPart[];
}

export interface LedgerChains {
  /** In the order in which they are read: the files' order. */
  readonly parts: readonly ChainPart[];
  /** Files that cannot be read, with the reason. */
  readonly unreadable: UnreadableFile[];
  /** Names of files that were taken away: a later one follows them, and retention has not removed them. */
  readonly missing: readonly string[];
  readonly removals: { readonly entries: number; readonly atMs: number | null };
}

/**
 * Entries of another registry that was at this location do not count.
 * @throws what is not about a file
 */
export function readChains(databaseFile: string): LedgerChains {
  const files = listAllFiles(databaseFile);
  const registry = readRegistryId(databaseFile);
  const unreadable: UnreadableFile[] = [];
  const removals = new Map<string, RemovedRow>();
  const parts: ChainPart[] = [];
  for (const file of files) {
    const found = readLedgerFile(file.path);
    if (found instanceof StorageError) {
      unreadable.push({ name: file.name, reason: found.message });
      continue;
    }
    for (const row of found.removed) removals.set(row.name, row);
    for (const part of found.parts)
      if (registry === undefined || part.registry === '' || part.registry === registry)
        parts.push(place(file, part, parts));
  }
  const known = new Set(['', ...files.map(({ name }) => name), ...removals.keys()]);
  return {
    parts,
    unreadable,
    missing: [...new Set(parts.map(({ part }) => part.follows))].filter((name) => !known.has(name)),
    removals: {
      entries: [...removals.values()].reduce((sum, { entries }) => sum + entries, 0),
      atMs: removals.size === 0 ? null : Math.max(...[...removals.values()].map((row) => row.removed_at)),
    },
  };
}

function place(file: LedgerFile, part: LedgerPart, parts: readonly ChainPart[]): ChainPart {
  const ofOrigin = parts.filter((each) => each.part.origin === part.origin);
  const overlapping = ofOrigin.filter(
    (each) => each.part.first <= part.last && part.first <= each.part.last && part.last >= part.first,
  );
  const chain = parts.reduce((highest, each) => Math.max(highest, each.chain), 0) + 1;
  const before = ofOrigin.findLast(
    (each) => each.part.last + 1 === part.first && each.part.lastHash === part.previousHash,
  );
  if (before !== undefined) return { file, part, chain: before.chain, before, overlapping };
  // What was between them is missing: `verify` says so.
  const last = ofOrigin.at(-1);
  if (last !== undefined && overlapping.length === 0 && last.part.last < part.first)
    return { file, part, chain: last.chain, before: last, overlapping };
  return { file, part, chain, before: undefined, overlapping };
}

/** The last sequence that one pass over all parts has read of each. */
export type Pass = Map<ChainPart, number>;

/** Whether a batch was read from an earlier file: entries count once. */
function openRepeats(
  { overlapping }: ChainPart,
  pass: Pass,
): {
  has(last: number, hash: string): boolean;
  close(): void;
} {
  const opened = overlapping.flatMap((each) => {
    try {
      return [{ db: openLedgerFile(each.file.path), part: each.part, readThrough: pass.get(each) ?? 0 }];
    } catch {
      return [];
    }
  });
  return {
    has: (last, hash) =>
      opened.some(({ db, part, readThrough }) => {
        if (last < part.first || last > readThrough) return false;
        try {
          return hasBatch(db, part, last, hash);
        } catch {
          return false;
        }
      }),
    close: () => {
      for (const { db } of opened) db.close();
    },
  };
}

export interface PartBatch {
  readonly batch: LedgerBatch;
  /** Whether it was read from an earlier file. */
  readonly isRepeated: boolean;
}

/**
 * The parts of a pass are read in their order. A batch counts as read when the next one is asked for.
 * @throws StorageError, the driver's error where the file is damaged
 */
export function* readPart(each: ChainPart, pass: Pass): Generator<PartBatch, void> {
  const { file, part, chain } = each;
  const { origin } = part;
  const db = openLedgerFile(file.path);
  const repeats = openRepeats(each, pass);
  try {
    for (const { id: first, count, hash, entries: lines } of readRows(db, part)) {
      const batch = { chain, origin, first, count, hash, keyId: keyIdAt(part, first), lines };
      yield { batch, isRepeated: repeats.has(first + count - 1, hash) };
      pass.set(each, first + count - 1);
    }
  } finally {
    repeats.close();
    db.close();
  }
}
