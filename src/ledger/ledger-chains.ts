/**
 * Orders the parts of the ledger files into chains. Within a chain, each hash depends on all earlier entries.
 * If a part repeats entries of an earlier part and then differs, the part begins a separate chain.
 */

import { lstatSync } from 'node:fs';
import { readRegistryId } from '../sqlite/registry-facts.ts';
import { StorageError } from '../sqlite/sqlite-errors.ts';
import type { LedgerBatch } from './ledger-entries.ts';
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

export interface UnreadableFile {
  readonly name: string;
  readonly reason: string;
}

export interface ChainPart {
  readonly file: LedgerFile;
  readonly part: LedgerPart;
  /** Number of the chain, counted from 1. */
  readonly chain: number;
  readonly before: ChainPart | undefined;
  /** Earlier parts with the same origin that have some of this part's sequence numbers. */
  readonly overlapping: readonly ChainPart[];
}

export interface LedgerChains {
  /** In the order of their files. */
  readonly parts: readonly ChainPart[];
  readonly unreadable: UnreadableFile[];
  /** Names of files that are missing but not removed by retention. A later file names each as predecessor. */
  readonly missing: readonly string[];
  readonly removals: { readonly entries: number; readonly atMs: number | null };
}

/**
 * Skips parts of another registry, which may have been at this location before.
 * @throws errors that are not caused by a single file
 */
export function readChains(databaseFile: string): LedgerChains {
  const files = listAllFiles(databaseFile);
  const registry = readRegistryId(databaseFile);
  const unreadable: UnreadableFile[] = [];
  const removals = new Map<string, RemovedRow>();
  const parts: ChainPart[] = [];
  for (const file of files) {
    const content = readLedgerFile(file.path);
    if (content instanceof StorageError) {
      // Another process has moved the file into the ledger folder, or removed the file as too old.
      if (lstatSync(file.path, { throwIfNoEntry: false }) === undefined) return readChains(databaseFile);
      unreadable.push({ name: file.name, reason: content.message });
      continue;
    }
    for (const row of content.removed) removals.set(row.name, row);
    for (const part of content.parts)
      if (registry === undefined || part.registry === '' || part.registry === registry)
        parts.push(place(file, part, parts));
  }
  const names = new Set(['', ...files.map(({ name }) => name), ...removals.keys()]);
  return {
    parts,
    unreadable,
    missing: [...new Set(parts.map(({ part }) => part.follows))].filter((name) => !names.has(name)),
    removals: {
      entries: [...removals.values()].reduce((sum, { entries }) => sum + entries, 0),
      atMs: removals.size === 0 ? null : Math.max(...[...removals.values()].map((row) => row.removed_at)),
    },
  };
}

function place(file: LedgerFile, part: LedgerPart, parts: readonly ChainPart[]): ChainPart {
  const ofOrigin = parts.filter((earlier) => earlier.part.origin === part.origin);
  const overlapping = ofOrigin.filter(
    (earlier) =>
      earlier.part.first <= part.last && part.first <= earlier.part.last && part.last >= part.first,
  );
  const predecessor = ofOrigin.findLast(
    (earlier) => earlier.part.last + 1 === part.first && earlier.part.lastHash === part.previousHash,
  );
  const last = ofOrigin.at(-1);
  // Entries between the last part and this part are missing. `verifyLedger` reports the gap.
  const hasGap = last !== undefined && overlapping.length === 0 && last.part.last < part.first;
  const before = predecessor ?? (hasGap ? last : undefined);
  const chain = before?.chain ?? Math.max(0, ...parts.map((earlier) => earlier.chain)) + 1;
  return { file, part, chain, before, overlapping };
}

/** State of a pass over all parts: the last sequence that the pass has read from each part. */
export type Pass = Map<ChainPart, number>;

/** Detects batches that the pass has already read from an earlier part. */
function openRepeats({ overlapping }: ChainPart, pass: Pass) {
  const earlierParts = overlapping.flatMap((earlier) => {
    try {
      const { file, part } = earlier;
      return [{ db: openLedgerFile(file.path), part, readThrough: pass.get(earlier) ?? 0 }];
    } catch {
      return [];
    }
  });
  return {
    has: (last: number, hash: string) =>
      earlierParts.some(({ db, part, readThrough }) => {
        if (last < part.first || last > readThrough) return false;
        try {
          return hasBatch(db, part, last, hash);
        } catch {
          return false;
        }
      }),
    close: () => {
      for (const { db } of earlierParts) db.close();
    },
  };
}

/**
 * Reads the batches of one part; `isRepeated` is true if an earlier part of the pass has the same batch. The
 * parts of a pass must be read in order. A batch counts as read when the next batch is requested.
 * @throws StorageError, or the driver's error when the file is damaged
 */
export function* readPart(chainPart: ChainPart, pass: Pass) {
  const { file, part, chain } = chainPart;
  const { origin } = part;
  const db = openLedgerFile(file.path);
  const repeats = openRepeats(chainPart, pass);
  try {
    for (const { id: first, count, hash, entries: lines } of readRows(db, part)) {
      const batch: LedgerBatch = { chain, origin, first, count, hash, keyId: keyIdAt(part, first), lines };
      yield { batch, isRepeated: repeats.has(first + count - 1, hash) };
      pass.set(chainPart, first + count - 1);
    }
  } finally {
    repeats.close();
    db.close();
  }
}
