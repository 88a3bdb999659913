/** The ledger of a command: it writes a few readings itself, to a chain that it has for the moment. */
import type { AccessLedger } from '../../store/ports/access-ledger.ts';
import { encodeReadings } from '../files/reading-text.ts';
import { ChainWriter } from './chain-writer.ts';
import { type ClaimedChain, claimChain, type LedgerPlace } from './claim-chain.ts';
import type { ChainState } from './open-chain.ts';
import { toReceipts, unrecorded } from './unrecorded.ts';

/** @throws StorageError when the ledger cannot be used */
export function openCommandLedger(place: LedgerPlace): AccessLedger {
  const { state, lock } = claimChain(place);
  const writer = openWriter(state, lock);
  return {
    async record(readings) {
      if (readings.length === 0) return [];
      try {
        return toReceipts(writer.append([encodeReadings(readings)]), readings.length);
      } catch (error) {
        throw unrecorded(error);
      }
    },
    async close() {
      writer.close();
      lock.release();
    },
  };
}

function openWriter(state: ChainState, lock: ClaimedChain['lock']): ChainWriter {
  try {
    return new ChainWriter(state);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Takes a chain for each recording only: for what records now and then over hours, such as the desk.
 * `record` rejects with a StorageError when the ledger cannot be used.
 */
export const openMomentaryLedger = (place: LedgerPlace): AccessLedger => ({
  async record(readings) {
    const ledger = openCommandLedger(place);
    try {
      return await ledger.record(readings);
    } finally {
      await ledger.close();
    }
  },
  close: async () => undefined,
});
