/** `ledger verify`, which checks the ledger, or a receipt against it (docs/ledger.md#a-receipt). */

import { readKeyNames } from '../keys/key-text.ts';
import { sequenceOf } from '../sqlite/storage.ts';
import { CommandError, EXIT, translate } from '../terminal/context.ts';
import { recordAccess, recordNobody } from '../terminal/record-reading.ts';
import { type Run, withStore } from '../terminal/run.ts';
import type { PrintOptions } from '../terminal/settings.ts';
import { type Message, say } from '../values/message.ts';
import { openLedgerReader } from './open-ledger.ts';
import { describeEntry, formatReadings } from './person-readings.ts';
import type { VerifiedChain } from './verify-ledger.ts';

interface VerifyOptions extends PrintOptions {
  readonly receipt?: string;
}

/** @throws CommandError with status 1 if the ledger is not sound or lacks the reading */
export async function verify(run: Run<VerifyOptions>): Promise<void> {
  const { storage } = run;
  if (!storage.exists()) throw new CommandError(EXIT.usage, `There is no database at ${storage.location}.`);
  if (run.options.receipt === undefined) await verifyAll(run);
  else await verifyOne(run, run.options.receipt);
}

const NOTHING = say('Nothing has been recorded yet.');

/** Shows no personal data, and so is not recorded as a reading. */
async function verifyAll(run: Run): Promise<void> {
  const { entries, chains, faults } = await withStore(openLedgerReader(run.storage), (ledger) =>
    ledger.verify(),
  );
  recordNobody(run);
  // A registry that cannot be used may have had one.
  if (chains.length + faults.length === 0) sequenceOf(run.storage);
  const counts = { entries, chains: chains.length };
  const lines = [
    ...faults,
    ...chains.map(formatChain),
    chains.length + faults.length === 0
      ? NOTHING
      : say('{entries|# entry is|# entries are} sound, in {chains|# chain|# chains}.', counts),
  ];
  run.show(
    { sound: faults.length === 0, entries, chains: chains.map(describeChain), faults },
    lines.map((line) => `${translate(run, line)}\n`).join(''),
  );
  if (faults.length > 0)
    throw new CommandError(EXIT.refused, 'The access ledger is NOT sound. See docs/ledger.md#damage.');
}

const describeChain = (chain: VerifiedChain) => ({
  chain: chain.chain,
  origin: chain.origin,
  entries: chain.entries,
  removed_through: chain.removedThrough,
  last_sequence: chain.lastSequence,
  last_hash: chain.lastHash,
  fault: chain.fault,
});

/** For safekeeping elsewhere: a copy later proves that nothing earlier has changed. */
const formatChain = ({ chain, origin, lastSequence: sequence, lastHash: hash }: VerifiedChain): Message =>
  say('Chain {chain} of {origin}: up to {sequence}, hash {hash}', { chain, origin, sequence, hash });

async function verifyOne(run: Run, receipt: string): Promise<void> {
  const { storage, zone } = run;
  const { entry, message } = await withStore(openLedgerReader(storage), (ledger) =>
    ledger.verifyReceipt(receipt),
  );
  const shown = { zone, keyNames: await readKeyNames(run, storage) };
  await recordAccess(run, { fields: [], isOfLedger: true });
  const table = entry && formatReadings([{ entry }], shown, (text) => translate(run, text));
  run.show(
    { found: entry !== undefined, message, entry: entry ? describeEntry(entry, shown) : null },
    `${table ?? ''}${message}\n`,
  );
  if (entry === undefined) throw new CommandError(EXIT.refused, '');
}
