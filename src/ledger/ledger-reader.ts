/** Reads and verifies the ledger's files: every hash and every sequence (docs/ledger.md#verify). */

import { keysFileOf } from '../sqlite/registry-files.ts';
import { faultOf } from '../sqlite/sqlite-errors.ts';
import { StorageError } from '../sqlite/storage-error.ts';
import {
  type ChainPart,
  type LedgerChains,
  type Pass,
  readChains,
  readPart,
  type UnreadableFile,
} from './ledger-chains.ts';
import {
  entriesOf,
  type HashPerson,
  hashBatch,
  type LedgerBatch,
  type LedgerEntry,
  NO_HASH,
  parseReceipt,
} from './ledger-entries.ts';
import { listAllFiles, numberOf } from './ledger-files.ts';
import { readMonthKeys } from './month-keys.ts';

const ALL_GONE =
  'All files of the access ledger are missing, while keys of its months are left. ' +
  'Restore them from a backup.';

export type LedgerReader = ReturnType<typeof openLedgerReader>;

/**
 * Opens a ledger for reading, while other processes may write. Batches are read one by one to limit memory. A
 * missing ledger counts as empty.
 * @param databaseFile database of a registry or a backup, with ledger and keys beside it
 */
export function openLedgerReader(databaseFile: string) {
  const chains = readChains(databaseFile);
  let keys: ReadonlyMap<string, HashPerson> | undefined;
  const readKeys = () => {
    keys ??= readMonthKeys(keysFileOf(databaseFile));
    return keys;
  };
  const damaged = new Set<LedgerBatch>();
  return {
    /** Yields every batch of every chain once, in the order written, without verification. */
    batches: () => readBatches(chains, damaged),
    /** Files that could not be read to the end. The list is complete once all batches have been read. */
    unreadable: chains.unreadable as readonly UnreadableFile[],
    /** @param text if given, only lines that contain this text are parsed */
    entriesOf(batch: LedgerBatch, text?: string): LedgerEntry[] {
      try {
        return entriesOf(batch, text);
      } catch {
        damaged.add(batch);
        return [];
      }
    },
    /** Returns the hash function of a month key; undefined if the key is lost or damaged. */
    findPersonHash: (keyId: string) => readKeys().get(keyId),
    /** Verifies every byte of the ledger without changing anything. */
    verify() {
      const verification = verifyLedger(chains, readKeys);
      const isGone = listAllFiles(databaseFile).length === 0 && readKeys().size > 0;
      return isGone ? { ...verification, faults: [ALL_GONE] } : verification;
    },
    /** Checks that the ledger contains the access of a receipt, with all earlier entries unchanged. */
    verifyReceipt: (text: string) => verifyReceipt(chains, readKeys, text),
  };
}

/**
 * Yields each batch once. From its first damaged batch on, a file is skipped and listed as unreadable;
 * another file may have the later batches.
 * @param damaged batches whose entries the consumer could not parse
 */
function* readBatches(
  { parts, unreadable }: LedgerChains,
  damaged: ReadonlySet<LedgerBatch>,
): Generator<LedgerBatch, void> {
  const pass: Pass = new Map();
  for (const part of parts)
    try {
      for (const { batch, isRepeated } of readPart(part, pass)) {
        if (!isRepeated) yield batch;
        if (damaged.has(batch))
          throw new StorageError('failed', `The batch of ${batch.first} was changed after it was written.`);
      }
    } catch (error) {
      const { message: reason } = faultOf(error);
      const { name } = part.file;
      if (!unreadable.some((other) => other.name === name)) unreadable.push({ name, reason });
    }
}

type ReadKeys = () => ReadonlyMap<string, HashPerson>;

export interface VerifiedChain {
  readonly chain: number;
  readonly origin: string;
  /** Number of valid entries. */
  readonly entries: number;
  /** Sequence of the last entry before the first fault, for later comparison; 0 if there are no entries. */
  readonly lastSequence: number;
  readonly lastHash: string;
  /** Last sequence that retention removed; 0 if none was removed. */
  readonly removedThrough: number;
  /** Fault with its meaning and remedy; null if the chain is valid. */
  readonly fault: string | null;
}

const COMPARE = 'Compare with a backup, and with the receipts of clients.';

/** @param onBatch receives each sound batch */
function verifyLedger(
  ledger: LedgerChains,
  readKeys: ReadKeys,
  onBatch: (batch: LedgerBatch) => void = () => undefined,
) {
  const chains = new Map<number, VerifiedChain>();
  const pass: Pass = new Map();
  for (const part of ledger.parts)
    chains.set(part.chain, verifyPart(part, chains.get(part.chain) ?? emptyChain(part), pass, onBatch));
  const verified = [...chains.values()].sort((a, b) => a.chain - b.chain);
  const faults = [
    ...ledger.unreadable.map(({ name, reason }) => `${name} cannot be read: ${reason}`),
    ...verified.map(({ fault }) => fault).filter((fault) => fault !== null),
    ...ledger.missing.map((name) => describeMissing(name, ledger)),
    ...lostKeys(ledger, readKeys),
  ];
  return { entries: verified.reduce((sum, { entries }) => sum + entries, 0), chains: verified, faults };
}

const emptyChain = ({ chain, part }: ChainPart): VerifiedChain => ({
  chain,
  origin: part.origin,
  entries: 0,
  lastSequence: part.first - 1,
  lastHash: part.first === 1 ? NO_HASH : part.previousHash,
  removedThrough: part.first - 1,
  fault: null,
});

/** A fault found in a batch; its message is shown to the operator. */
class Fault extends Error {}

/** Verifies a part. After a fault in an earlier part, the verification starts again at this part. */
function verifyPart(
  chainPart: ChainPart,
  before: VerifiedChain,
  pass: Pass,
  onBatch: (batch: LedgerBatch) => void,
): VerifiedChain {
  const { chain, part, file } = chainPart;
  const isSoundBefore = before.fault === null;
  let { entries, lastSequence: last, lastHash: hash } = before;
  let fault: string | null = null;
  try {
    if (!isSoundBefore) [last, hash] = [part.first - 1, part.previousHash];
    else if (part.first !== last + 1) {
      const gap = `Chain ${chain}, after ${last}: ${missing(part.first).message}`;
      return verifyPart(chainPart, { ...before, fault: gap }, pass, onBatch);
    } else if (chainPart.before !== undefined && part.previousHash !== hash) throw changed(part.first);
    for (const { batch, isRepeated } of readPart(chainPart, pass)) {
      assertFollows(batch, last, hash);
      onBatch(batch);
      [last, hash] = [batch.first + batch.count - 1, batch.hash];
      if (!isRepeated) entries += batch.count;
    }
    if (part.isClosed && (part.last !== last || part.lastHash !== hash))
      throw new Fault(`the end of ${file.name} was removed. ${COMPARE}`);
  } catch (error) {
    fault = `Chain ${chain}, after ${last}: ${describe(error, file.name)}`;
  }
  if (isSoundBefore) return { ...before, entries, lastSequence: last, lastHash: hash, fault };
  return { ...before, entries, fault: fault === null ? before.fault : `${before.fault} ${fault}` };
}

const missing = (first: number): Fault =>
  new Fault(`the next entry is ${first}: what was between them was removed. ${COMPARE}`);

const changed = (first: number): Fault =>
  new Fault(`the batch of ${first} was changed after it was written: its hash differs. ${COMPARE}`);

function assertFollows(batch: LedgerBatch, last: number, previous: string): void {
  if (batch.first !== last + 1) throw missing(batch.first);
  if (
    batch.hash !== hashBatch(previous, batch, batch.lines) ||
    batch.lines.split('\n').length !== batch.count + 1
  )
    throw changed(batch.first);
}

/** @throws the error itself if the file is not at fault */
function describe(error: unknown, name: string): string {
  if (error instanceof Fault) return error.message;
  return `${name} cannot be read: ${faultOf(error).message}`;
}

/** Formats the fault of a missing file, which retention may have removed. */
function describeMissing(name: string, { unreadable }: LedgerChains): string {
  // Retention records a removal in the file that is open then, which may be this unreadable file.
  const later = unreadable.find((other) => numberOf(other.name) > numberOf(name));
  return later === undefined
    ? `${name} is missing, with everything that was recorded in it. Restore it from a backup.`
    : `${name} is missing. Whether its time was over or it was taken away cannot be known, as ` +
        `${later.name} cannot be read: look for it in a backup.`;
}

/** Formats a fault for each month whose key is lost. The entries of that month are still sound. */
function lostKeys({ parts }: LedgerChains, readKeys: ReadKeys): string[] {
  const periods = parts.flatMap(({ part }) => (part.last < part.first ? [] : part.periods));
  const lost = periods.filter(({ keyId }) => !readKeys().has(keyId));
  return [...new Set(lost.map(({ month }) => month))].map(
    (month) =>
      `Month ${month}: its key is missing or damaged: who was looked up cannot be found in it any more. ` +
      'Restore registry.keys.db from a backup.',
  );
}

/** @throws the driver's error */
function verifyReceipt(ledger: LedgerChains, readKeys: ReadKeys, text: string) {
  const receipt = parseReceipt(text);
  if (receipt === undefined)
    return { entry: undefined, message: 'This is not a receipt: expected a number, a hyphen and 32 digits.' };
  const { sequence, hash } = receipt;
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
