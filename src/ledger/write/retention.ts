/** Removes old segments of chains that nobody writes; whoever writes a chain removes its own. */
import { existsSync, statSync } from 'node:fs';
import { chainFolderOf, listChains, listSegments, lockFileOf, segmentFileOf } from '../files/paths.ts';
import { ChainWriter } from './chain-writer.ts';
import type { LedgerPlace } from './claim-chain.ts';
import { openChain } from './open-chain.ts';

export interface RemovalTimes {
  /** Epoch milliseconds: what was read before is removed. */
  readonly beforeMs: number;
  readonly nowMs: number;
}

/** @param own the chain of the caller @throws the system's error */
export function removeFromOthers(
  { ledgerFolder, lock }: LedgerPlace,
  own: number | undefined,
  { beforeMs, nowMs }: RemovalTimes,
): void {
  for (const chain of listChains(ledgerFolder)) {
    const folder = chainFolderOf(ledgerFolder, chain);
    if (chain === own || !isOld(folder, beforeMs)) continue;
    const locked = lock(lockFileOf(ledgerFolder, chain));
    if (locked === undefined) continue;
    try {
      const state = openChain(folder, chain);
      if (state === undefined) continue;
      const writer = new ChainWriter(state);
      try {
        writer.removeBefore(beforeMs, nowMs);
      } finally {
        writer.close();
      }
    } finally {
      locked.release();
    }
  }
}

/** Whether its oldest segment was last written before: most days no chain has one. */
function isOld(folder: string, beforeMs: number): boolean {
  const [oldest] = listSegments(folder);
  if (oldest === undefined) return false;
  const file = segmentFileOf(folder, oldest);
  return existsSync(file) && statSync(file).mtimeMs < beforeMs;
}
