/** The ledger of commands and of the desk: each recording opens the file for the moment. */
import type {
  AccessLedger,
  OldLedgerFiles,
  RemovedLedgerFiles,
  Retention,
} from '../../contract/access-ledger.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import { toReceipts, unrecorded } from './batch-hash.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { encodeReadings } from './reading-text.ts';
import { findOldFiles, readFiles } from './retention.ts';

/** `record` rejects with a StorageError when the ledger cannot be used. */
export const openCommandLedger = (databaseFile: string): AccessLedger => ({
  async record(readings) {
    if (readings.length === 0) return [];
    const writer = new LedgerWriter(databaseFile, WAIT_MS.command);
    try {
      return toReceipts(writer.append(encodeReadings(readings)), readings.length);
    } catch (error) {
      throw unrecorded(error);
    } finally {
      writer.close();
    }
  },
  isRecording: () => true,
  close: () => Promise.resolve(),
});

/** @throws what is not about a file */
export const findOldLedgerFiles = (databaseFile: string, retention: Retention): OldLedgerFiles =>
  findOldFiles(readFiles(databaseFile), retention);

/** @throws StorageError, the driver's error */
export function pruneLedger(databaseFile: string, retention: Retention): RemovedLedgerFiles {
  const writer = new LedgerWriter(databaseFile, WAIT_MS.command);
  try {
    return writer.removeOld(retention);
  } finally {
    writer.close();
  }
}
