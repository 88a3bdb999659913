/** Whether the ledger is as it was written: every hash and every sequence (docs/ledger.md#verify). */
import type {
  CheckedReceipt,
  LedgerBatch,
  LedgerChain,
  LedgerEntry,
  LedgerReader,
  LedgerVerification,
  VerifiedChain,
} from '../../contract/access-ledger.ts';
import type { Connection } from '../engine/connection.ts';
import { toStorageError } from '../engine/errors.ts';
import { hashBatch, NO_HASH, parseReceipt } from './batch-hash.ts';
import { idOf, listChains, listPeriods, readRows, toBatch } from './ledger-rows.ts';
import { entriesOf } from './reading-text.ts';

type FindPersonHash = LedgerReader['findPersonHash'];

const COMPARE = 'Compare with a backup, and with the receipts of clients.';

/** @param onBatch gets each sound batch */
export function verifyLedger(
  db: Connection,
  findPersonHash: FindPersonHash,
  onBatch: (batch: LedgerBatch) => void = () => undefined,
): LedgerVerification {
  let known: LedgerChain[];
  try {
    known = listChains(db);
  } catch (error) {
    return { entries: 0, chains: [], faults: [unreadable(error, 'It cannot be read')] };
  }
  const chains = known.map((chain) => verifyChain(db, chain, onBatch));
  const faults = chains.map(({ fault }) => fault).filter((fault) => fault !== null);
  const entries = chains.reduce((sum, chain) => sum + chain.entries, 0);
  return {
    entries,
    chains,
    faults: [...faults, ...missingChains(db, known), ...lostKeys(db, known, findPersonHash)],
  };
}

/** Found in a batch; the message says what it means. */
class Fault extends Error {}

function verifyChain(
  db: Connection,
  { chain, origin, removedThrough, removedHash }: LedgerChain,
  onBatch: (batch: LedgerBatch) => void,
): VerifiedChain {
  let [last, hash] = [removedThrough, removedHash];
  let fault: string | null = null;
  try {
    for (const row of readRows(db, chain)) {
      const batch = toBatch(chain, origin, row);
      assertFollows(batch, last, hash);
      onBatch(batch);
      [last, hash] = [batch.first + batch.count - 1, batch.hash];
    }
  } catch (error) {
    const place = `Chain ${chain}, after ${last}`;
    fault =
      error instanceof Fault
        ? `${place}: ${error.message}`
        : unreadable(error, `${place}: it cannot be read`);
  }
  return {
    chain,
    origin,
    entries: last - removedThrough,
    lastSequence: last,
    lastHash: last === 0 ? NO_HASH : hash,
    removedThrough,
    fault,
  };
}

function assertFollows(batch: LedgerBatch, last: number, previous: string): void {
  if (batch.first !== last + 1)
    throw new Fault(`the next entry is ${batch.first}: what was between them was removed. ${COMPARE}`);
  if (
    batch.hash !== hashBatch(previous, batch, batch.lines) ||
    batch.lines.split('\n').length !== batch.count + 1
  )
    throw new Fault(
      `the batch of ${batch.first} was changed after it was written: its hash differs. ${COMPARE}`,
    );
}

/** @throws what is not about the file */
function unreadable(error: unknown, what: string): string {
  const fault = toStorageError(error);
  if (fault === undefined) throw error;
  return `${what}: ${fault.message} See docs/ledger.md#damage.`;
}

/** Rows of chains are never removed: they would take what they are the chain of with them. */
function missingChains(db: Connection, known: readonly LedgerChain[]): string[] {
  const missing = known.findIndex(({ chain }, i) => chain !== i + 1) + 1;
  const behind = db.has(`ledger_batches WHERE id >= ${idOf((known.at(-1)?.chain ?? 0) + 1, 0)}`);
  return missing > 0 || behind
    ? [
        `Chain ${missing || known.length + 1} is missing, with everything that was recorded in it. ` +
          'Restore it from a backup.',
      ]
    : [];
}

/** The entries do not depend on the keys. */
function lostKeys(db: Connection, chains: readonly LedgerChain[], findPersonHash: FindPersonHash): string[] {
  const periods = chains.flatMap(({ chain }) => listPeriods(db, chain));
  const lost = periods.filter(({ key_id }) => findPersonHash(key_id) === undefined);
  return [...new Set(lost.map(({ month }) => month))].map(
    (month) =>
      `Month ${month}: its key is missing or damaged: who was looked up cannot be found in it any more. ` +
      'Restore registry.keys.db from a backup.',
  );
}

/** @throws the driver's error */
export function verifyReceipt(db: Connection, findPersonHash: FindPersonHash, text: string): CheckedReceipt {
  const receipt = parseReceipt(text);
  if (receipt === undefined)
    return { entry: undefined, message: 'This is not a receipt: expected a number, a hyphen and 32 digits.' };
  const { sequence, hash } = receipt;
  let entry: LedgerEntry | undefined;
  const { chains, faults } = verifyLedger(db, findPersonHash, (batch) => {
    if (sequence < batch.first || sequence >= batch.first + batch.count || !batch.hash.startsWith(hash))
      return;
    entry = entriesOf(batch)[sequence - batch.first];
  });
  if (entry !== undefined)
    return { entry, message: 'The ledger holds this reading, and everything before it is as it was.' };
  const isRemoved = chains.some(({ removedThrough }) => sequence <= removedThrough);
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
