/** Records more than the limit on the size of files allows; full-disk.long.test.ts runs it. */

import { encodeAccesses } from '../../../../src/ledger/ledger-entries.ts';
import { LedgerWriter } from '../../../../src/ledger/ledger-writer.ts';
import { receiptOf } from '../../../../src/ledger/receipts.ts';
import { reading } from '../../../support/sqlite-ledger.ts';

const [, , databaseFile = ''] = process.argv;
const writer = new LedgerWriter(databaseFile, 1_000);
const append = (count: number): string => {
  const { first, hash } = writer.append(encodeAccesses(Array.from({ length: count }, () => reading())));
  return receiptOf(first, hash);
};
const receipts = Array.from({ length: 399 }, () => append(32));
let refused = '';
try {
  append(30_000);
} catch (error) {
  refused = (error as Error).message;
}
receipts.push(append(1));
writer.close();
console.log(JSON.stringify({ receipts, refused }));
