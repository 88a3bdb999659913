/**
 * Reads the access ledger by its description (docs/decisions/0030-access-ledger.md), not with its code: which
 * receipts it has, and where it does not hold together.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';

interface Batch {
  readonly chain: number;
  readonly origin: string;
  readonly removedThrough: number;
  readonly removedHash: string;
  readonly first: number;
  readonly count: number;
  readonly hash: string;
  readonly entries: string;
  readonly keyId: string;
}

const BATCHES = `
SELECT c.id AS chain, origin, removed_through AS removedThrough, removed_hash AS removedHash,
  b.id - (c.id << 40) AS first, count, hash, entries,
  (SELECT key_id FROM ledger_periods p WHERE p.chain_id = c.id AND p.first <= b.id - (c.id << 40)
   ORDER BY p.first DESC LIMIT 1) AS keyId
FROM ledger_chains c JOIN ledger_batches b ON b.id BETWEEN c.id << 40 AND (c.id + 1 << 40) - 1
ORDER BY b.id`;

/** @param db a registry, or a copy of one @returns what is wrong, a line each @param receipts of clients */
export function findLedgerFaults(db: string, receipts: ReadonlySet<string>): string[] {
  const [known, faults] = [new Set<string>(), [] as string[]];
  for (const batch of readBatches(db.replace(/\.db$/, '.ledger.db'), faults)) {
    const { chain, first, count, hash } = batch;
    for (let i = 0; i < count; i++) known.add(`${first + i}-${hash.slice(0, 32)}`);
    if (batch.entries.split('\n').length !== count + 1)
      faults.push(`Chain ${chain}: the batch of ${first} has not ${count} entries.`);
  }
  const missing = [...receipts].filter((receipt) => !known.has(receipt));
  if (missing.length > 0) faults.push(`${missing.length} receipts are not in the ledger.`);
  return faults;
}

function* readBatches(file: string, faults: string[]): Generator<Batch> {
  if (!existsSync(file)) return;
  // Not for reading only: a power cut may have left a journal to roll back.
  const db = new Database(file);
  try {
    // A power cut may have left it so while it was created.
    if (db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0) return;
    let [chain, next, previous] = [0, 0, ''];
    for (const batch of db.prepare(BATCHES).iterate() as IterableIterator<Batch>) {
      const { origin, first, count, keyId, entries } = batch;
      if (batch.chain !== chain)
        [chain, next, previous] = [batch.chain, batch.removedThrough + 1, batch.removedHash];
      if (first !== next) faults.push(`Chain ${chain}: sequence ${first} follows ${next - 1}.`);
      const header = JSON.stringify({ origin, first, count, key: keyId });
      const expected = createHash('sha256').update(`${previous}\n${header}\n${entries}`).digest('hex');
      if (batch.hash !== expected) faults.push(`Chain ${chain}: the hash of the batch of ${first} is wrong.`);
      yield batch;
      [next, previous] = [first + count, batch.hash];
    }
  } catch (error) {
    faults.push(`The ledger cannot be read: ${(error as Error).message}`);
  } finally {
    db.close();
  }
}
