/** `ledger verify`: whether the ledger is as it was written (docs/ledger.md#a-receipt). */
import { openConfiguredStorage } from '../../app/storage.ts';
import { type Message, say } from '../../domain/values/message.ts';
import type { LedgerVerification, VerifiedChain } from '../../store/ports/access-ledger.ts';
import type { Storage } from '../../store/ports/storage.ts';
import { StorageError } from '../../store/ports/storage-error.ts';
import { readKeyNames } from '../persons/key-names.ts';
import { describeEntry, formatReadings } from '../persons/reading-text.ts';
import { recordNobody, recordReading } from '../persons/record-reading.ts';
import { type CliContext, CommandError, EXIT, print, translate } from '../terminal/context.ts';
import { formatJson } from '../terminal/output.ts';
import { configOf, type PrintOptions } from '../terminal/settings.ts';
import { withStore } from '../terminal/with-store.ts';

export interface VerifyOptions extends PrintOptions {
  readonly receipt?: string;
}

/** @throws CommandError with status 1 when it is not sound, or does not have the reading */
export async function verify(context: CliContext, options: VerifyOptions): Promise<void> {
  if (options.receipt === undefined) await verifyAll(context, options);
  else await verifyOne(context, options, options.receipt);
}

const NO_LEDGER = say('There is no ledger here: nothing was ever recorded, or it was taken away.');

/** It shows nobody, and so it is not recorded. */
async function verifyAll(context: CliContext, options: PrintOptions): Promise<void> {
  const storage = openConfiguredStorage(configOf(context, options), context.clock);
  const { entries, chains, faults: found } = await readAll(storage);
  const faults = storage.readLedgerCondition() === undefined ? [translate(context, NO_LEDGER)] : found;
  recordNobody(context);
  if (options.json === true)
    context.out(
      formatJson({ sound: faults.length === 0, entries, chains: chains.map(describeChain), faults }),
    );
  else {
    for (const line of faults) context.out(`${line}\n`);
    for (const chain of chains) context.out(`${translate(context, formatChain(chain))}\n`);
    const counts = { entries, chains: chains.length };
    print(context, say('{entries|# entry is|# entries are} sound, in {chains|# chain|# chains}.', counts));
  }
  if (faults.length > 0) throw new CommandError(EXIT.refused, 'The access ledger is NOT sound.');
}

async function readAll(storage: Storage): Promise<LedgerVerification> {
  try {
    return await withStore(storage.openLedgerReader(), (ledger) => ledger.verify());
  } catch (error) {
    if (error instanceof StorageError) return { entries: 0, chains: [], faults: [error.message] };
    throw error;
  }
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

/** To be kept elsewhere: what it says proves later that nothing before was changed. */
const formatChain = ({ chain, origin, lastSequence: sequence, lastHash: hash }: VerifiedChain): Message =>
  say('Chain {chain} of {origin}: up to {sequence}, hash {hash}', { chain, origin, sequence, hash });

async function verifyOne(context: CliContext, options: PrintOptions, receipt: string): Promise<void> {
  const config = configOf(context, options);
  const storage = openConfiguredStorage(config, context.clock);
  const { entry, message } = await withStore(storage.openLedgerReader(), (ledger) =>
    ledger.verifyReceipt(receipt),
  );
  const shown = { zone: config.zone, keyNames: await readKeyNames(context, storage) };
  await recordReading(context, options, { fields: [], isOfLedger: true });
  if (options.json === true)
    context.out(
      formatJson({ found: entry !== undefined, message, entry: entry ? describeEntry(entry, shown) : null }),
    );
  else {
    if (entry !== undefined)
      context.out(formatReadings([{ entry }], shown, (text) => translate(context, text)));
    context.out(`${message}\n`);
  }
  if (entry === undefined) throw new CommandError(EXIT.refused, '');
}
