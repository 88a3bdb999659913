/** Whether the ledger is as it was written: every hash, sequence, signature and file (docs/ledger.md). */

import { parseReceipt } from '../files/batch.ts';
import { listChains } from '../files/paths.ts';
import { entriesOf, type LedgerBatch, type LedgerEntry } from './read-ledger.ts';
import { type VerifiedChain, verifyChain } from './verify-chain.ts';

export interface Verification {
  /** Entries that are sound. */
  readonly entries: number;
  readonly chains: readonly VerifiedChain[];
  /** The first place of each chain that is not sound: what it means, and what to do. Empty: all is sound. */
  readonly faults: readonly string[];
  /** What is sound and worth knowing. */
  readonly notes: readonly string[];
}

/**
 * Reads every byte and changes nothing; others may write meanwhile.
 * @param ledger the folder
 * @param onBatch gets each sound batch
 * @throws the system's error
 */
export function verifyLedger(ledger: string, onBatch?: (batch: LedgerBatch) => void): Verification {
  const numbers = listChains(ledger);
  const chains = numbers.map((chain) => verifyChain(ledger, chain, onBatch));
  const faults = chains.map(({ fault }) => fault).filter((fault) => fault !== null);
  const missing = numbers.findIndex((chain, i) => chain !== i + 1) + 1;
  if (missing > 0)
    faults.push(
      `Chain ${missing} is missing, with everything that was recorded in it: its folder was removed. ` +
        'Restore it from a backup.',
    );
  return {
    entries: chains.reduce((sum, { entries }) => sum + entries, 0),
    chains,
    faults,
    notes: chains.flatMap(({ notes }) => notes),
  };
}

export interface CheckedReceipt {
  /** The reading that the receipt is of; undefined when the ledger does not hold it. */
  readonly entry: LedgerEntry | undefined;
  /** What the check means, in a sentence. */
  readonly message: string;
}

/**
 * Whether the ledger holds the reading of a receipt, and everything before it is as it was.
 * @param ledger the folder
 * @throws the system's error
 */
export function verifyReceipt(ledger: string, text: string): CheckedReceipt {
  const receipt = parseReceipt(text);
  if (receipt === undefined)
    return { entry: undefined, message: 'This is no receipt: expected a number, a hyphen and 32 digits.' };
  const { sequence, hash } = receipt;
  let entry: LedgerEntry | undefined;
  const { chains, faults } = verifyLedger(ledger, (batch) => {
    if (sequence < batch.first || sequence >= batch.first + batch.count || !batch.hash.startsWith(hash))
      return;
    entry = entriesOf(batch)[sequence - batch.first];
  });
  if (entry !== undefined)
    return { entry, message: 'The ledger holds this reading, and everything before it is as it was.' };
  const isRemoved = chains.some(({ removed }) =>
    removed.some(({ first, last }) => first <= sequence && sequence <= last),
  );
  const [fault] = faults;
  const message =
    fault !== undefined
      ? `This reading is not in what is sound of the ledger. ${fault}`
      : isRemoved
        ? 'A reading with this number was removed when its time was over: compare with an earlier backup.'
        : 'The ledger does not hold this reading: the receipt is of another registry, or was mistyped, or ' +
          'the end of a chain was removed. Compare with a backup.';
  return { entry, message };
}
