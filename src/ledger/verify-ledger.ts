/** Verifies the ledger's files: every hash and every sequence (docs/ledger.md#verify). */

import { faultOf } from '../sqlite/sqlite-errors.ts';
import { type ChainPart, type LedgerChains, type Pass, readPart } from './ledger-chains.ts';
import { type HashPerson, hashBatch, type LedgerBatch, NO_HASH } from './ledger-entries.ts';
import { numberOf } from './ledger-files.ts';

/** Intact month keys by key id. */
export type ReadKeys = () => ReadonlyMap<string, HashPerson>;

export interface VerifiedChain {
  readonly chain: number;
  readonly origin: string;
  /** Number of valid entries. */
  readonly entries: number;
  /** Sequence of the last entry before the first fault; `removedThrough` if no entry precedes the fault. */
  readonly lastSequence: number;
  readonly lastHash: string;
  /** Sequence of the last entry that retention removed; 0 without removals. */
  readonly removedThrough: number;
  /** Sentences on the fault, its meaning and its remedy; null if the chain is valid. */
  readonly fault: string | null;
}

const COMPARE = 'Compare with a backup, and with the receipts of clients.';

/** @param onBatch receives each sound batch */
export function verifyLedger(
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

class Fault extends Error {}

/** After a fault in an earlier part, verifies this part without regard to the earlier parts. */
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
    const reason =
      error instanceof Fault ? error.message : `${file.name} cannot be read: ${faultOf(error).message}`;
    fault = `Chain ${chain}, after ${last}: ${reason}`;
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

function describeMissing(name: string, { unreadable }: LedgerChains): string {
  // If retention has removed the missing file, an unreadable later file may have the record of the removal.
  const later = unreadable.find((other) => numberOf(other.name) > numberOf(name));
  return later === undefined
    ? `${name} is missing, with everything that was recorded in it. Restore it from a backup.`
    : `${name} is missing. Whether its time was over or it was taken away cannot be known, as ` +
        `${later.name} cannot be read: look for it in a backup.`;
}

/** Returns a fault for each month whose key is lost. The entries of the month are still sound. */
function lostKeys({ parts }: LedgerChains, readKeys: ReadKeys): string[] {
  const periods = parts.flatMap(({ part }) => (part.last < part.first ? [] : part.periods));
  const lost = periods.filter(({ keyId }) => !readKeys().has(keyId));
  return [...new Set(lost.map(({ month }) => month))].map(
    (month) =>
      `Month ${month}: its key is missing or damaged: who was looked up cannot be found in it any more. ` +
      'Restore registry.keys.db from a backup.',
  );
}
