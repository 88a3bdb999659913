/** A process that writes a ledger: 150 batches of two readings in short segments, in a given folder. */
import { systemFunctions } from '../../src/ledger/files/durable.ts';
import { encodeReadings } from '../../src/ledger/files/reading-text.ts';
import { ChainWriter } from '../../src/ledger/write/chain-writer.ts';
import { claimChain } from '../../src/ledger/write/claim-chain.ts';
import { ledgerPlaceIn, reading } from './ledger.ts';

const { state, lock } = claimChain(ledgerPlaceIn(process.argv[2] as string));
const writer = new ChainWriter(state, systemFunctions, 10_000);
for (let i = 0; i < 150; i++) {
  writer.append([encodeReadings([reading(), reading()])]);
  if (i === 0) process.stdout.write('begun\n');
}
writer.close();
lock.release();
