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

/** Taking a chain reads its last segment: who goes from page to page does not wait for that. */
const HELD_MS = 60_000;

/**
 * Takes a chain when there is something to record, and gives it back a minute after the last recording: for
 * what records now and then over hours, such as the desk.
 * `record` rejects with a StorageError when the ledger cannot be used.
 */
export function openMomentaryLedger(place: LedgerPlace): AccessLedger {
  let held: AccessLedger | undefined;
  let timer: NodeJS.Timeout | undefined;
  const giveBack = async () => {
    const ledger = held;
    held = undefined;
    clearTimeout(timer);
    await ledger?.close();
  };
  return {
    async record(readings) {
      clearTimeout(timer);
      held ??= openCommandLedger(place);
      try {
        const receipts = await held.record(readings);
        timer = setTimeout(() => void giveBack(), HELD_MS).unref();
        return receipts;
      } catch (error) {
        await giveBack();
        throw error;
      }
    },
    close: giveBack,
  };
}
