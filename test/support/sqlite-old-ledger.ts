/** An access ledger as 1.0.0 has written it: one file, two chains, two months, retention at work. */
import { createHash, randomBytes } from 'node:crypto';
import Database from 'better-sqlite3';
import { readMonthKeys, takeMonthKey } from '../../src/ledger/month-keys.ts';
import { type LedgerPlace, NID } from './sqlite-ledger.ts';

const SCHEMA = `
CREATE TABLE ledger_chains (
  id INTEGER PRIMARY KEY, origin TEXT NOT NULL, is_open INTEGER NOT NULL,
  removed_through INTEGER NOT NULL DEFAULT 0, removed_hash TEXT NOT NULL DEFAULT '${'0'.repeat(64)}',
  removed_at INTEGER
) STRICT;
CREATE UNIQUE INDEX ledger_chains_open ON ledger_chains (is_open) WHERE is_open = 1;
CREATE TABLE ledger_batches (
  id INTEGER PRIMARY KEY, count INTEGER NOT NULL, first_time INTEGER NOT NULL, last_time INTEGER NOT NULL,
  hash TEXT NOT NULL, entries TEXT NOT NULL
) STRICT;
CREATE TABLE ledger_periods (
  chain_id INTEGER NOT NULL REFERENCES ledger_chains (id), first INTEGER NOT NULL, month TEXT NOT NULL,
  key_id TEXT NOT NULL, PRIMARY KEY (chain_id, first)
) STRICT, WITHOUT ROWID;`;

const MONTHS = ['2025-06', '2025-07'];

/** @returns the receipts of its entries, and their number */
export function writeOldLedger({ databaseFile, keysFile }: Pick<LedgerPlace, 'databaseFile' | 'keysFile'>) {
  const db = new Database(databaseFile.replace(/\.db$/, '.ledger.db'));
  const receipts: string[] = [];
  try {
    db.pragma('journal_mode = WAL');
    db.pragma('application_id = 0x63726c31');
    db.pragma('user_version = 1');
    db.exec(SCHEMA);
    for (const chain of [1, 2]) {
      const origin = randomBytes(16).toString('hex');
      // Retention has removed four entries of the second chain.
      const removed = chain === 2 ? 4 : 0;
      let hash = chain === 2 ? '7'.repeat(64) : '0'.repeat(64);
      db.prepare('INSERT INTO ledger_chains VALUES (?, ?, ?, ?, ?, ?)').run(
        ...[chain, origin, chain === 2 ? 1 : 0, removed, hash, chain === 2 ? 1 : null],
      );
      let first = removed + 1;
      for (const month of MONTHS) {
        const key = takeMonthKey(keysFile, month);
        const hashPerson = readMonthKeys(keysFile).get(key);
        db.prepare('INSERT INTO ledger_periods VALUES (?, ?, ?, ?)').run(chain, first, month, key);
        for (let batch = 0; batch < 3; batch++) {
          const time = `${month}-0${batch + 1}T10:00:00.000Z`;
          const route = 'GET /members/{identity_card}';
          const entry = { time, request_id: 'r', key_id: 7, route, fields: [], status: 404 };
          const line = `${JSON.stringify({ ...entry, persons: [hashPerson?.(NID)] })}\n`;
          const header = JSON.stringify({ origin, first, count: 2, key });
          hash = createHash('sha256').update(`${hash}\n${header}\n${line}${line}`).digest('hex');
          const at = Date.parse(time);
          db.prepare('INSERT INTO ledger_batches VALUES (?, 2, ?, ?, ?, ?)').run(
            ...[chain * 2 ** 40 + first, at, at, hash, line + line],
          );
          receipts.push(`${first}-${hash.slice(0, 32)}`, `${first + 1}-${hash.slice(0, 32)}`);
          first += 2;
        }
      }
    }
  } finally {
    db.close();
  }
  return { receipts, entries: receipts.length };
}
