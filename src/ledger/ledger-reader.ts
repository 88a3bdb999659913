/** Reads and verifies the ledger's files: every hash and every sequence (docs/ledger.md#verify). */

import type { HashPerson, LedgerBatch, LedgerReader } from '../access/access-ledger.ts';
import { keysFileOf } from '../sqlite/registry-files.ts';
import { faultOf } from '../sqlite/sqlite-errors.ts';
import { StorageError } from '../sqlite/storage-error.ts';
import { type LedgerChains, type Pass, readChains, readPart } from './ledger-chains.ts';
import { hasLedgerAt } from './ledger-files.ts';
import { readMonthKeys } from './month-keys.ts';
import { entriesOf } from './reading-text.ts';
import { verifyLedger, verifyReceipt } from './verify-ledger.ts';

const ALL_GONE =
  'All files of the access ledger are missing, while keys of its months are left. ' +
  'Restore them from a backup.';

/** @param databaseFile in a registry or a backup, with the ledger and the keys beside it */
export function openLedgerReaderAt(databaseFile: string): LedgerReader {
  const chains = readChains(databaseFile);
  let keys: ReadonlyMap<string, HashPerson> | undefined;
  const findPersonHash = (keyId: string) => {
    keys ??= readMonthKeys(keysFileOf(databaseFile));
    return keys.get(keyId);
  };
  const damaged = new Set<LedgerBatch>();
  return {
    batches: () => readBatches(chains, damaged),
    unreadable: chains.unreadable,
    entriesOf(batch, text) {
      try {
        return entriesOf(batch, text);
      } catch {
        damaged.add(batch);
        return [];
      }
    },
    findPersonHash,
    verify: () => {
      const found = verifyLedger(chains, findPersonHash);
      const isGone = !hasLedgerAt(databaseFile) && readMonthKeys(keysFileOf(databaseFile)).size > 0;
      return isGone ? { ...found, faults: [ALL_GONE] } : found;
    },
    verifyReceipt: (text) => verifyReceipt(chains, findPersonHash, text),
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
