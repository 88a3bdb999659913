/** The history of single rows, for commands: read from a connection of its own. */
import {
  CREATED,
  type HistoryEntry,
  type HistoryStore,
  type RowHistory,
} from '../../contract/journal/history.ts';
import type { Connection } from '../engine/connection.ts';
import { openDatabase } from '../engine/open-database.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import { REPLACED_NUMBERS, redirectOf } from '../identity/former-keys.ts';
import { REGISTRY_SCHEMA } from '../schema/migrations/registry.ts';
import { userOf } from './operations.ts';
import { openOrigins } from './origin.ts';

interface Row {
  readonly id: number;
  readonly name: string;
  /** Epoch seconds. */
  readonly created_at: number;
}

const MEMBER = `SELECT m.id, c.code || ' ' || m.member_code AS name, m.created_at
  FROM main.members m CROSS JOIN main.cooperatives c ON c.id = m.cooperative_id`;
const COOPERATIVE = 'SELECT id, code AS name, created_at FROM main.cooperatives';

/** @throws StorageError `unusable` when there is no registry */
export function openHistory(databaseFile: string): HistoryStore {
  const db = openDatabase(databaseFile, { waitMs: WAIT_MS.command, schema: REGISTRY_SCHEMA });
  const member = db.raw.prepare<[number], Row>(`${MEMBER} WHERE m.id = ?`);
  const person = db.raw.prepare<[string], Row>(`${MEMBER} WHERE m.identity_card = ? ORDER BY m.id`);
  const cooperative = db.raw.prepare<[string], Row>(`${COOPERATIVE} WHERE code = ?`);
  const historyOf = openRowHistory(db);
  // One snapshot for a row and its entries.
  const read = <T>(work: () => T): T => db.transaction.deferred(work);
  return {
    ofMember: (id) => read(() => historyOf('members', member.get(id))),
    ofPerson: (identityCard) =>
      read(() => {
        // A former number finds the person, too.
        const current = redirectOf(db, REPLACED_NUMBERS, identityCard) ?? identityCard;
        return person.all(current).flatMap((row) => historyOf('members', row) ?? []);
      }),
    ofCooperative: (code) => read(() => historyOf('cooperatives', cooperative.get(code))),
    close: () => db.close(),
  };
}

function openRowHistory(db: Connection) {
  const originOf = openOrigins(db);
  const changes = db.raw.prepare<[string, number], HistoryEntry>(
    `SELECT field, old, new, at, actor, ${userOf('actor')} AS user FROM main.changes
     WHERE entity = ? AND row_id = ? AND field <> '${CREATED}' ORDER BY id`,
  );
  return (kind: 'members' | 'cooperatives', row: Row | undefined): RowHistory | undefined => {
    if (row === undefined) return undefined;
    const known = originOf(kind, row.id) ?? { at: row.created_at, actor: null, user: null };
    const origin: HistoryEntry = { field: CREATED, old: null, new: null, ...known };
    return { id: row.id, name: row.name, entries: [origin, ...changes.all(kind, row.id)] };
  };
}
