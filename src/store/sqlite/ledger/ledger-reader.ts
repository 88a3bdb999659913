/** Reads the ledger's file. */
import type { HashPerson, LedgerBatch, LedgerReader } from '../../contract/access-ledger.ts';
import type { Connection } from '../engine/connection.ts';
import { hasTables, openDatabase } from '../engine/open-database.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import { LEDGER_SCHEMA } from '../schema/migrations/ledger.ts';
import { listChains, readRows, storageFault, toBatch } from './ledger-rows.ts';
import { readMonthKeys } from './month-keys.ts';
import { entriesOf } from './reading-text.ts';
import { verifyLedger, verifyReceipt } from './verify.ts';

/** Where the files of a ledger are: at a location, or in a backup. */
export interface LedgerFiles {
  readonly ledgerFile: string;
  readonly keysFile: string;
}

/** Where there is no ledger yet, one without entries. @throws StorageError when it cannot be read */
export function openLedgerReader({ ledgerFile, keysFile }: LedgerFiles): LedgerReader {
  if (!hasTables(ledgerFile)) return NO_LEDGER;
  const db = openDatabase(ledgerFile, { schema: LEDGER_SCHEMA, readOnly: true, waitMs: WAIT_MS.command });
  let keys: ReadonlyMap<string, HashPerson> | undefined;
  const findPersonHash = (keyId: string) => {
    keys ??= readMonthKeys(keysFile);
    return keys.get(keyId);
  };
  return {
    batches: () => readBatches(db),
    entriesOf,
    findPersonHash,
    verify: () => verifyLedger(db, findPersonHash),
    verifyReceipt: (text) => verifyReceipt(db, findPersonHash, text),
    close: () => db.close(),
  };
}

/** Closes the reader however the work ends. @throws StorageError when it cannot be opened */
export function withLedger<T>(files: LedgerFiles, work: (ledger: LedgerReader) => T): T {
  const ledger = openLedgerReader(files);
  try {
    return work(ledger);
  } finally {
    ledger.close();
  }
}

const NO_LEDGER: LedgerReader = {
  batches: () => [],
  entriesOf,
  findPersonHash: () => undefined,
  verify: () => ({ entries: 0, chains: [], faults: [] }),
  verifyReceipt: () => ({ entry: undefined, message: 'There is no ledger here.' }),
  close: () => undefined,
};

function* readBatches(db: Connection): Generator<LedgerBatch, void> {
  try {
    for (const { chain, origin } of listChains(db))
      for (const row of readRows(db, chain)) yield toBatch(chain, origin, row);
  } catch (error) {
    throw storageFault(error);
  }
}
