/** Reads and verifies the ledger's files: every hash and every sequence (docs/ledger.md#verify). */

import { keysFileOf } from '../sqlite/registry-files.ts';
import { faultOf } from '../sqlite/sqlite-errors.ts';
import { StorageError } from '../sqlite/storage-error.ts';
import { type LedgerChains, type Pass, readChains, readPart, type UnreadableFile } from './ledger-chains.ts';
import { hasLedgerAt } from './ledger-files.ts';
import { readMonthKeys } from './month-keys.ts';
import { entriesOf, type HashPerson, type LedgerBatch, type LedgerEntry } from './reading-text.ts';
import { type LedgerVerification, verifyLedger, verifyReceipt } from './verify-ledger.ts';

const ALL_GONE =
  'All files of the access ledger are missing, while keys of its months are left. ' +
  'Restore them from a backup.';

/** Reads the ledger, even while it is written to: batch by batch, in bounded memory. */
export type LedgerReader = ReturnType<typeof openLedgerReaderAt>;

/** @param databaseFile in a registry or a backup, with the ledger and the keys beside it */
export function openLedgerReaderAt(databaseFile: string) {
  const chains = readChains(databaseFile);
  let keys: ReadonlyMap<string, HashPerson> | undefined;
  /** Undefined for a lost or damaged key: the numbers it hashed can no longer be determined. */
  const findPersonHash = (keyId: string): HashPerson | undefined => {
    keys ??= readMonthKeys(keysFileOf(databaseFile));
    return keys.get(keyId);
  };
  const damaged = new Set<LedgerBatch>();
  return {
    /** Yields every batch of every chain once, in the order written, without verifying them. */
    batches: () => readBatches(chains, damaged),
    /** Files that were skipped; complete once all batches have been read. */
    unreadable: chains.unreadable as readonly UnreadableFile[],
    /** @param text returns only entries whose lines contain it; others are not parsed */
    entriesOf(batch: LedgerBatch, text?: string): LedgerEntry[] {
      try {
        return entriesOf(batch, text);
      } catch {
        damaged.add(batch);
        return [];
      }
    },
    findPersonHash,
    /** Reads every byte and changes nothing; the ledger may be written to meanwhile. */
    verify: (): LedgerVerification => {
      const found = verifyLedger(chains, findPersonHash);
      const isGone = !hasLedgerAt(databaseFile) && readMonthKeys(keysFileOf(databaseFile)).size > 0;
      return isGone ? { ...found, faults: [ALL_GONE] } : found;
    },
    /** Checks that the ledger contains the reading of a receipt, and everything before it unchanged. */
    verifyReceipt: (text: string) => verifyReceipt(chains, findPersonHash, text),
    close: () => undefined,
  };
}

/**
 * Yields each batch once. A file that proves damaged is skipped from that point and listed as unreadable;
 * another file may contain the skipped batches.
 * @param damaged batches whose entries the consumer could not parse
 */
function* readBatches(
  { parts, unreadable }: LedgerChains,
  damaged: ReadonlySet<LedgerBatch>,
): Generator<LedgerBatch, void> {
  const pass: Pass = new Map();
  for (const each of parts)
    try {
      for (const { batch, isRepeated } of readPart(each, pass)) {
        if (!isRepeated) yield batch;
        if (damaged.has(batch))
          throw new StorageError('failed', `The batch of ${batch.first} was changed after it was written.`);
      }
    } catch (error) {
      const { message: reason } = faultOf(error);
      const { name } = each.file;
      if (!unreadable.some((other) => other.name === name)) unreadable.push({ name, reason });
    }
}
