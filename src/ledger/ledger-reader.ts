/** Reads the entries of the access ledger, and verifies its files. */

import { keysFileOf } from '../sqlite/registry-files.ts';
import { faultOf, StorageError } from '../sqlite/sqlite-errors.ts';
import { type LedgerChains, type Pass, readChains, readPart, type UnreadableFile } from './ledger-chains.ts';
import type { HashPerson, LedgerBatch, LedgerEntry } from './ledger-entries.ts';
import { listAllFiles } from './ledger-files.ts';
import { readMonthKeys } from './month-keys.ts';
import { entriesOf, verifyReceipt } from './receipts.ts';
import { verifyLedger } from './verify-ledger.ts';

const ALL_GONE =
  'All files of the access ledger are missing, but hashing keys of its months still exist. ' +
  'Restore them from a backup.';

export type LedgerReader = ReturnType<typeof openLedgerReader>;

/**
 * Opens a ledger for reading, while other processes may write. A missing ledger counts as empty.
 * @param databaseFile database of a registry or a backup, with the ledger and the keys beside the database
 */
export function openLedgerReader(databaseFile: string) {
  const chains = readChains(databaseFile);
  let keys: ReadonlyMap<string, HashPerson> | undefined;
  const readKeys = () => {
    keys ??= readMonthKeys(keysFileOf(databaseFile));
    return keys;
  };
  const damaged = new Set<LedgerBatch>();
  return {
    /** Yields batches in the order of writing, without verifying them. */
    batches: () => readBatches(chains, damaged),
    /** Files that could not be read to the end. Complete after `batches` has yielded all batches. */
    unreadable: chains.unreadable as readonly UnreadableFile[],
    /** @param text if given, only the entries whose line contains this text are returned */
    entriesOf(batch: LedgerBatch, text?: string): LedgerEntry[] {
      try {
        return entriesOf(batch, text);
      } catch {
        damaged.add(batch);
        return [];
      }
    },
    /** @returns undefined if the month key is lost or damaged */
    findPersonHash: (keyId: string) => readKeys().get(keyId),
    verify() {
      const verification = verifyLedger(chains, readKeys);
      const isGone = listAllFiles(databaseFile).length === 0 && readKeys().size > 0;
      return isGone ? { ...verification, faults: [ALL_GONE] } : verification;
    },
    verifyReceipt: (text: string) => verifyReceipt(chains, readKeys, text),
  };
}

/**
 * Yields each batch once. Omits batches that were recorded after the ledger was opened for reading, so that
 * two passes yield the same batches. Skips the rest of a file after a damaged batch, and lists the file as
 * unreadable. Another file may have the later batches.
 * @param damaged batches whose entries the caller could not parse
 */
function* readBatches(
  { parts, unreadable }: LedgerChains,
  damaged: ReadonlySet<LedgerBatch>,
): Generator<LedgerBatch, void> {
  const pass: Pass = new Map();
  for (const part of parts)
    try {
      for (const { batch, isRepeated } of readPart(part, pass)) {
        if (!part.part.isClosed && batch.first > part.part.last) break;
        if (!isRepeated) yield batch;
        if (damaged.has(batch))
          throw new StorageError('failed', `The batch of ${batch.first} was changed after it was written.`);
      }
    } catch (error) {
      const { message: reason } = faultOf(error);
      const { name } = part.file;
      if (!unreadable.some((other) => other.name === name)) unreadable.push({ name, reason });
    }
}
