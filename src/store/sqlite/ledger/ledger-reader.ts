/** Reads the ledger, file by file. */
import type { HashPerson, LedgerBatch, LedgerReader } from '../../contract/access-ledger.ts';
import { toStorageError } from '../engine/errors.ts';
import { keysFileOf } from '../files/registry-files.ts';
import { type LedgerChains, readChains, readPart } from './ledger-chains.ts';
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
  return {
    batches: () => readBatches(chains),
    unreadable: chains.unreadable,
    entriesOf,
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

/** Each batch once; a file that turns out to be damaged is passed over from there on, and named. */
function* readBatches({ parts, unreadable }: LedgerChains): Generator<LedgerBatch, void> {
  for (const each of parts)
    try {
      for (const { batch, isRepeated } of readPart(each)) if (!isRepeated) yield batch;
    } catch (error) {
      const fault = toStorageError(error);
      if (fault === undefined) throw error;
      if (!unreadable.some(({ name }) => name === each.file.name))
        unreadable.push({ name: each.file.name, reason: fault.message });
    }
}
