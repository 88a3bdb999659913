/** The ledger of commands and of the desk: each recording opens the file for the moment. */
import type { AccessLedger } from '../../contract/access-ledger.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { encodeReadings } from './reading-text.ts';
import { toReceipts, unrecorded } from './unrecorded.ts';

/** `record` rejects with a StorageError when the ledger cannot be used. */
export const openCommandLedger = (databaseFile: string): AccessLedger => ({
  async record(readings) {
    if (readings.length === 0) return [];
    const writer = new LedgerWriter(databaseFile, WAIT_MS.command);
    try {
      return toReceipts(writer.append([encodeReadings(readings)]), readings.length);
    } catch (error) {
      throw unrecorded(error);
    } finally {
      writer.close();
    }
  },
  isRecording: () => true,
  close: () => Promise.resolve(),
});
