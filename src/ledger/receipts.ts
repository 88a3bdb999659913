/** Receipts, with which clients can have an access verified (docs/ledger.md#a-receipt). */

import type { LedgerChains } from './ledger-chains.ts';
import type { LedgerBatch, LedgerEntry, RecordedBatch } from './ledger-entries.ts';
import { type ReadKeys, verifyLedger } from './verify-ledger.ts';

const RECEIPT_DIGITS = 32;

/** Joins the sequence of an entry and the first half of the hash of its batch. */
export const receiptOf = (sequence: number, batchHash: string): string =>
  `${sequence}-${batchHash.slice(0, RECEIPT_DIGITS)}`;

export const toReceipts = ({ first, hash }: RecordedBatch, count: number): string[] =>
  Array.from({ length: count }, (_, i) => receiptOf(first + i, hash));

/** Returns only the entries whose line contains `text`. */
export function entriesOf({ chain, origin, first, hash, lines }: LedgerBatch, text = ''): LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  for (const [i, line] of lines.slice(0, -1).split('\n').entries()) {
    if (!line.includes(text)) continue;
    const sequence = first + i;
    entries.push({ chain, origin, sequence, receipt: receiptOf(sequence, hash), ...JSON.parse(line) });
  }
  return entries;
}

/** @returns the access of the receipt, if the ledger has it, and a message @throws the driver's error */
export function verifyReceipt(ledger: LedgerChains, readKeys: ReadKeys, text: string) {
  const [, number, digits] = /^([1-9][0-9]{0,14})-([0-9a-f]{32})$/i.exec(text.trim()) ?? [];
  if (digits === undefined)
    return { entry: undefined, message: 'This is not a receipt: expected a number, a hyphen and 32 digits.' };
  const [sequence, hash] = [Number(number), digits.toLowerCase()];
  let entry: LedgerEntry | undefined;
  const { chains, faults } = verifyLedger(ledger, readKeys, (batch) => {
    if (sequence < batch.first || sequence >= batch.first + batch.count || !batch.hash.startsWith(hash))
      return;
    entry = entriesOf(batch)[sequence - batch.first];
  });
  const broken = chains.find(({ chain, fault }) => chain === entry?.chain && fault !== null);
  if (entry !== undefined && (broken === undefined || sequence <= broken.lastSequence))
    return { entry, message: 'The ledger has this access, and everything before it is unchanged.' };
  if (entry !== undefined)
    return {
      entry,
      message: `The ledger has this access, but not everything before it. ${broken?.fault}`,
    };
  const isRemoved = chains.some(({ removedThrough }) => sequence <= removedThrough);
  const [fault] = faults;
  const message =
    fault !== undefined
      ? `This access is not in the sound part of the ledger. ${fault}`
      : isRemoved
        ? 'The access with this number was older than the retention period: compare with an earlier backup.'
        : 'The ledger does not have this access: the receipt is of another registry or mistyped, or the ' +
          'end of a chain was removed. Compare with a backup.';
  return { entry, message };
}
