/**
 * Reads the access ledger by its description (docs/decisions/0030-access-ledger.md), not with its code: which
 * receipts it has, and where it does not hold together.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';

interface Part {
  readonly origin: string;
  readonly key_id: string;
  readonly first_sequence: number;
  readonly previous_hash: string;
  readonly last_sequence: number | null;
}

interface Batch {
  readonly id: number;
  readonly count: number;
  readonly hash: string;
  readonly entries: string;
}

/** @param db a registry, or a copy of one @returns what is wrong, a line each @param receipts of clients */
export function findLedgerFaults(db: string, receipts: ReadonlySet<string>): string[] {
  const [known, faults] = [new Set<string>(), [] as string[]];
  const folder = db.replace(/\.db$/, '.ledger');
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^[0-9].*\.db$/.test(name)) : [];
  /** Where each chain has got to, in the order of the files' numbers. */
  const ends = new Map<string, string[]>();
  for (const name of names.sort((a, b) => numberOf(a) - numberOf(b)))
    readFile(join(folder, name), { known, faults, ends, name });
  const missing = [...receipts].filter((receipt) => !known.has(receipt));
  if (missing.length > 0) faults.push(`${missing.length} receipts are not in the ledger.`);
  return faults;
}

const numberOf = (name: string): number => Number(name.split('-')[3]?.replace('.db', ''));

interface Found {
  readonly known: Set<string>;
  readonly faults: string[];
  readonly ends: Map<string, string[]>;
  readonly name: string;
}

function readFile(path: string, { known, faults, ends, name }: Found): void {
  // Not for reading only: a power cut may have left a journal to roll back.
  const db = new Database(path);
  try {
    const part = db.prepare('SELECT * FROM ledger_part').get() as Part | undefined;
    if (part === undefined) throw new Error('it has no part of a chain');
    const { origin, key_id: key, first_sequence: begin, previous_hash: before } = part;
    const chain = ends.get(origin) ?? [];
    if (begin > 1 && !chain.includes(`${begin - 1} ${before}`))
      faults.push(`${name}: it does not follow another file.`);
    let [next, previous] = [begin, before];
    for (const batch of db.prepare('SELECT * FROM ledger_batches ORDER BY id').iterate() as Iterable<Batch>) {
      const { id: first, count, hash, entries } = batch;
      if (first !== next) faults.push(`${name}: sequence ${first} follows ${next - 1}.`);
      const header = JSON.stringify({ origin, first, count, key });
      const expected = createHash('sha256').update(`${previous}\n${header}\n${entries}`).digest('hex');
      if (hash !== expected) faults.push(`${name}: the hash of the batch of ${first} is wrong.`);
      if (entries.split('\n').length !== count + 1)
        faults.push(`${name}: the batch of ${first} has not ${count} entries.`);
      for (let i = 0; i < count; i++) known.add(`${first + i}-${hash.slice(0, 32)}`);
      [next, previous] = [first + count, hash];
    }
    if (part.last_sequence !== null && part.last_sequence !== next - 1)
      faults.push(`${name}: it ends with ${next - 1}, and was closed with ${part.last_sequence}.`);
    ends.set(origin, [...chain, `${next - 1} ${previous}`]);
  } catch (error) {
    faults.push(`${name} cannot be read: ${(error as Error).message}`);
  } finally {
    db.close();
  }
}
