/** The ledger of 1.0.0, one file beside the database, becomes a closed file of the folder. */
import { existsSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StorageError } from '../../contract/storage-error.ts';
import { isBusy } from '../engine/errors.ts';
import { hasTables, withDatabase } from '../engine/open-database.ts';
import { syncPath } from '../files/durable-files.ts';
import { ledgerFolderOf, oldLedgerFileOf, withSideFiles } from '../files/registry-files.ts';
import { freeNameOf, nameOf, withLedgerLock } from './ledger-files.ts';
import { isOld, type LedgerPart, readParts } from './ledger-rows.ts';

/** Named like the others where it cannot be read. */
const UNKNOWN = { origin: '0'.repeat(32), month: '1970-01' };

/**
 * Moves it there, with the id of its registry. Its rows stay as they are; one that is damaged is moved too.
 * @throws StorageError while a process has it open; the system's error
 */
export function adoptOldLedger(databaseFile: string, registry: string, waitMs: number): void {
  const old = oldLedgerFileOf(databaseFile);
  if (!hasTables(old)) return;
  withLedgerLock(databaseFile, waitMs, () => {
    if (!existsSync(old)) return;
    const newest = close(old, registry);
    const folder = ledgerFolderOf(databaseFile);
    const { origin } = newest ?? UNKNOWN;
    const month = newest?.periods.at(-1)?.month ?? UNKNOWN.month;
    // It comes before all others, also where they are there already.
    const name = freeNameOf(folder, nameOf({ month, origin, number: 0 }));
    for (const path of withSideFiles(old).filter((each) => existsSync(each)))
      renameSync(path, join(folder, name + path.slice(old.length)));
    for (const path of [folder, dirname(old)]) syncPath(path);
  });
}

/** @returns the part that was written last; undefined where it cannot be read, or has none */
function close(old: string, registry: string): LedgerPart | undefined {
  try {
    return withDatabase(old, { waitMs: 0 }, (db) => {
      if (!isOld(db)) return undefined;
      const newest = readParts(db).reduce<LedgerPart | undefined>(
        (latest, part) => ((part.lastMs ?? 0) >= (latest?.lastMs ?? 0) ? part : latest),
        undefined,
      );
      if (newest !== undefined) stamp(db, newest, registry);
      db.raw.pragma('journal_mode = DELETE');
      return newest;
    });
  } catch (error) {
    if (isBusy(error) || isBusy((error as Error).cause))
      throw new StorageError('failed', `Another process keeps ${old} locked. Try again.`, { cause: error });
    return undefined;
  }
}

type Database = Parameters<Parameters<typeof withDatabase>[2]>[0];

/** The table that new files have; only the registry in it counts. */
function stamp(
  db: Database,
  { origin, first, previousHash, last, lastHash, periods }: LedgerPart,
  registry: string,
) {
  const { month = '', keyId = '' } = periods.at(-1) ?? {};
  db.transaction.immediate(() => {
    db.exec(`CREATE TABLE IF NOT EXISTS ledger_part (
      id INTEGER PRIMARY KEY, origin TEXT NOT NULL, registry TEXT NOT NULL,
      month TEXT NOT NULL, key_id TEXT NOT NULL,
      first_sequence INTEGER NOT NULL, previous_hash TEXT NOT NULL, follows TEXT NOT NULL,
      last_sequence INTEGER, last_hash TEXT) STRICT`);
    db.run(`INSERT OR IGNORE INTO ledger_part VALUES (1, ?, ?, ?, ?, ?, ?, '', ?, ?)`, [
      ...[origin, registry, month, keyId, first, previousHash, last, lastHash],
    ]);
  });
}
