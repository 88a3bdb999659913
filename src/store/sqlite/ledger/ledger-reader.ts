/** Reads the ledger, file by file. */
import type { HashPerson, LedgerBatch, LedgerReader } from '../../contract/access-ledger.ts';
import { StorageError } from '../../contract/storage-error.ts';
import { faultOf } from '../engine/errors.ts';
import { keysFileOf } from '../files/registry-files.ts';
import { type LedgerChains, type Pass, readChains, readPart } from './ledger-chains.ts';
import { hasLedger } from './ledger-files.ts';
import { readMonthKeys } from './month-keys.ts';
import { entriesOf } from './reading-text.ts';
import { verifyLedger, verifyReceipt } from './verify.ts';

const ALL_GONE =
  'All files of the access ledger are missing, while keys of its months are left. ' +
  'Restore them from a backup.';

/** @param databaseFile of a registry, or of the copy in a backup: its ledger and its keys are beside it */
export function openLedgerReader(databaseFile: string): LedgerReader {
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
      const isGone = !hasLedger(databaseFile) && readMonthKeys(keysFileOf(databaseFile)).size > 0;
      return isGone ? { ...found, faults: [ALL_GONE] } : found;
    },
    verifyReceipt: (text) => verifyReceipt(chains, findPersonHash, text),
    close: () => undefined,
  };
}

/**
 * Each batch once; a file that turns out to be damaged is passed over from there on, and named. Another file
 * may have what was passed over.
 * @param damaged batches whose entries made no sense to whoever got them
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
