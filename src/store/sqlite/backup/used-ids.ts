/**
 * Ids that were given out after a backup are not given out again once it is restored: readings in the access
 * ledger, and programs that follow the registry, know rows by them.
 */
import { existsSync } from 'node:fs';
import { COUNTED } from '../check/check.ts';
import type { Connection } from '../engine/connection.ts';
import { toStorageError } from '../engine/errors.ts';
import { withDatabase } from '../engine/open-database.ts';
import { keepRemovedId } from '../journal/record-changes.ts';
import { type LedgerFiles, withLedger } from '../ledger/ledger-reader.ts';

type LastIds = Map<string, number>;

export interface IdSources {
  /** Registries that were at the location. */
  readonly registries: readonly string[];
  readonly ledgers: readonly LedgerFiles[];
}

/**
 * @param copy of a registry, which nobody else has open
 * @param sources what cannot be read of them is passed over
 */
export function keepUsedIds(copy: string, { registries, ledgers }: IdSources): void {
  const last: LastIds = new Map();
  const isKnown = registries.filter((file) => readable(() => addOfRegistry(last, file))).length > 0;
  for (const files of ledgers) readable(() => addOfLedger(last, files));
  if (!isKnown) leaveGap(last, copy);
  withDatabase(copy, { waitMs: 0 }, (db) => {
    // An older release has no such table; nothing of it is named elsewhere either.
    if (!db.has("sqlite_schema WHERE name = 'removed_ids'")) return;
    db.transaction.immediate(() => {
      for (const [table, id] of last)
        if (table === OPERATIONS) raiseCounter(db, table, id);
        else keepRemovedId(db, table, id);
    });
  });
}

/** Their ids are counted by SQLite. */
const OPERATIONS = 'operations';

/** SQLite has none for a table that never had a row. */
function raiseCounter(db: Connection, table: string, id: number): void {
  const { changes } = db.run('UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?', [id, table]);
  if (changes === 0) db.run('INSERT INTO sqlite_sequence (seq, name) VALUES (?, ?)', [id, table]);
}

/** More than a machine gives out after its last copy. */
const GAP = 2 ** 20;

/** What the registry has given out since cannot be known here: its readings may come home later. */
function leaveGap(last: LastIds, copy: string): void {
  const known: LastIds = new Map();
  readable(() => addOfRegistry(known, copy));
  known.delete(OPERATIONS);
  for (const [table, id] of known) raise(last, table, Math.max(id, last.get(table) ?? 0) + GAP);
}

/** @returns whether it could be read */
function readable(read: () => boolean): boolean {
  try {
    return read();
  } catch (error) {
    if (toStorageError(error) === undefined) throw error;
    return false;
  }
}

const raise = (last: LastIds, table: string, id: number): void =>
  void last.set(table, Math.max(id, last.get(table) ?? 0));

function addOfRegistry(last: LastIds, file: string): boolean {
  if (!existsSync(file)) return false;
  withDatabase(file, { readOnly: true, waitMs: 0 }, (db) => {
    for (const table of COUNTED)
      raise(last, table, db.value<number>(`SELECT coalesce(max(id), 0) FROM ${table}`));
    const removed = db.rows<{ table_name: string; last_id: number }>(
      'SELECT table_name, last_id FROM removed_ids',
    );
    for (const { table_name: table, last_id: id } of removed) raise(last, table, id);
    raise(last, OPERATIONS, db.value<number>(`SELECT coalesce(max(id), 0) FROM ${OPERATIONS}`));
  });
  return true;
}

const NAMED = /"(members|cooperatives)":\[([0-9,]+)\]/g;

function addOfLedger(last: LastIds, files: LedgerFiles): boolean {
  withLedger(files, (ledger) => {
    for (const { lines } of ledger.batches())
      for (const [, table = '', ids = ''] of lines.matchAll(NAMED))
        raise(last, table, Math.max(...ids.split(',').map(Number)));
  });
  return true;
}
