/** Takes a chain of the ledger for this process: two processes never write the same one. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { createFolder, createPrivateFolder } from '../../runtime/new-files.ts';
import type { FileLock, Storage } from '../../store/ports/storage.ts';
import { StorageError } from '../../store/ports/storage-error.ts';
import { syncFolder } from '../files/durable.ts';
import { chainFolderOf, lockFileOf } from '../files/paths.ts';
import { prepareSigningKey } from '../files/signatures.ts';
import { type ChainState, openChain } from './open-chain.ts';

/** Where a ledger is, and how its chains are locked. */
export type LedgerPlace = Pick<Storage, 'ledgerFolder' | 'lock'>;

export interface ClaimedChain {
  readonly state: ChainState;
  readonly lock: FileLock;
  /** Chains that nobody writes any more because they are damaged. */
  readonly damaged: readonly number[];
}

/**
 * Takes the first chain that nobody has and that is not damaged, and creates what is missing.
 * @throws StorageError when the ledger cannot be used
 */
export function claimChain({ ledgerFolder, lock }: LedgerPlace): ClaimedChain {
  try {
    if (!existsSync(ledgerFolder)) {
      createFolder(dirname(ledgerFolder));
      createPrivateFolder(ledgerFolder);
    }
    // Each time: the process that created it may have been killed before this.
    syncFolder(dirname(ledgerFolder));
    prepareSigningKey(ledgerFolder);
    const damaged: number[] = [];
    for (let chain = 1; ; chain++) {
      const locked = lock(lockFileOf(ledgerFolder, chain));
      if (locked === undefined) continue;
      const state = openOrRelease(ledgerFolder, chain, locked);
      if (state !== undefined) return { state, lock: locked, damaged };
      damaged.push(chain);
    }
  } catch (error) {
    const { message } = error as Error;
    throw new StorageError('unusable', unusable(ledgerFolder, message), { cause: error });
  }
}

const unusable = (folder: string, reason: string): string =>
  `The access ledger in ${folder} cannot be used: ${reason}. Without it no personal data is shown. See ` +
  'that the disk has room and the folder belongs to the user of the service, or set ACCESS_LEDGER=off.';

function openOrRelease(ledger: string, chain: number, lock: FileLock): ChainState | undefined {
  let state: ChainState | undefined;
  try {
    state = openChain(chainFolderOf(ledger, chain), chain);
    return state;
  } finally {
    if (state === undefined) lock.release();
  }
}
