/** `history`: changes of a member or a cooperative, and the actors of the changes. */
import type { Command } from 'commander';
import type { Subject } from '../access/access-ledger.ts';
import { formatActor, openOrigins } from '../registry/changes/labels.ts';
import {
  CREATED,
  type HistoryEntry,
  type HistoryStore,
  type RowHistory,
  userOf,
} from '../registry/changes/record-changes.ts';
import { formatStored } from '../registry/file-columns.ts';
import { findMemberId } from '../registry/named-member.ts';
import { REPLACED_NUMBERS, redirectOf } from '../registry/stored/former-identifiers.ts';
import { type Connection, WAIT_MS } from '../sqlite/connection.ts';
import { openDatabase } from '../sqlite/open-database.ts';
import { REGISTRY_SCHEMA } from '../sqlite/schemas.ts';
import type { Storage } from '../sqlite/storage.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { parseCode } from '../terminal/options.ts';
import { formatTable } from '../terminal/output.ts';
import { MEMBER_GROUPS, recordAccess, showingNobody } from '../terminal/record-reading.ts';
import { acting, type Run, withStore } from '../terminal/run.ts';
import { addPrintOptions } from '../terminal/settings.ts';
import { formatDateTime, type TimeZone } from '../values/date-time.ts';
import { hideIdentityCards, isIdentityCard } from '../values/identity-card.ts';

// History of single rows, on a connection of its own

interface Row {
  readonly id: number;
  readonly name: string;
  /** Epoch seconds. */
  readonly created_at: number;
}

const MEMBER = `SELECT m.id, c.code || ' ' || m.member_code AS name, m.created_at
  FROM main.members m CROSS JOIN main.cooperatives c ON c.id = m.cooperative_id`;
const COOPERATIVE = 'SELECT id, code AS name, created_at FROM main.cooperatives';

/** @throws StorageError `unusable` if there is no registry */
function openHistoryAt(databaseFile: string): HistoryStore {
  const db = openDatabase(databaseFile, { waitMs: WAIT_MS.command, schema: REGISTRY_SCHEMA });
  const member = db.raw.prepare<[number], Row>(`${MEMBER} WHERE m.id = ?`);
  const person = db.raw.prepare<[string], Row>(`${MEMBER} WHERE m.identity_card = ? ORDER BY m.id`);
  const cooperative = db.raw.prepare<[string], Row>(`${COOPERATIVE} WHERE code = ?`);
  const historyOf = openRowHistory(db);
  // One snapshot for the row and its entries.
  const read = <T>(work: () => T): T => db.transaction.deferred(work);
  return {
    ofMember: (id) => read(() => historyOf('members', member.get(id))),
    ofPerson: (identityCard) =>
      read(() => {
        // Accepts a former number too.
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

/** @throws StorageError `unusable` if there is no registry */
export const openHistory = (storage: Storage): HistoryStore => openHistoryAt(storage.readable());

// Output of changes and actors: text for people, JSON for programs

/** A change with its values in API format. */
export interface ShownChange {
  /** Null for a correction, which has no file. */
  readonly line: number | null;
  readonly row: string;
  readonly column: string;
  readonly old: string | null;
  readonly new: string | null;
}

/** Text of a change, without national IDs. */
export function formatChange({ line, row, column, old, new: value }: ShownChange): string {
  const show = (text: string | null) => hideIdentityCards(text ?? '(empty)');
  const place = `${line === null ? '' : `line ${line}, `}${hideIdentityCards(row)}, ${column}`;
  // The removal of a row has no values.
  return old === null && value === null ? `${place}\n` : `${place}: ${show(old)} → ${show(value)}\n`;
}

export const describeEntry = ({ field, old, new: value, at, actor, user }: HistoryEntry, zone: TimeZone) => ({
  field,
  old: formatStored(field, old, zone),
  new: formatStored(field, value, zone),
  at: formatDateTime(at, zone),
  actor,
  user,
});

/** Label of the row, and one line per entry. */
function formatHistory({ id, name, entries }: RowHistory, zone: TimeZone): string {
  const rows = entries.map((entry) => {
    const { field, old, new: value, at, actor, user } = describeEntry(entry, zone);
    return [at, field, old ?? '', value ?? '', String(formatActor(actor, user))];
  });
  return `${name} (id ${id})\n${formatTable(['AT', 'FIELD', 'OLD', 'NEW', 'BY'], rows)}`;
}

type Find = (history: HistoryStore) => readonly RowHistory[];

interface Wanted extends Pick<Subject, 'identityCards' | 'memberIds'> {
  readonly find: Find;
}

export function declareHistory(history: Command, context: CliContext): void {
  addPrintOptions(history.command('member'), 'REGISTRY_USER')
    .argument('<member>', 'id, CODE/MEMBERCODE, CODE/NID; or a NID for all memberships of the person')
    .description('what has changed in a member, the newest last; holds personal data')
    .action(
      acting(context, async (run, given: string) => {
        const wanted = isIdentityCard(given) ? ofPerson(given) : ofMember(await findMemberId(run, given));
        await recordAccess(run, { ...wanted, fields: MEMBER_GROUPS });
        await print(run, wanted.find);
      }),
    );
  addPrintOptions(showingNobody(history.command('cooperative')))
    .argument('<code>', 'code of a cooperative', parseCode)
    .description('what has changed in a cooperative, the newest last')
    .action(
      acting(context, (run, code: string) =>
        print(run, (store) => {
          const found = store.ofCooperative(code);
          if (found === undefined)
            throw new CommandError(EXIT.refused, 'There is no cooperative with this code.');
          return [found];
        }),
      ),
    );
}

const ofPerson = (identityCard: string): Wanted => ({
  identityCards: [identityCard],
  find(store) {
    const found = store.ofPerson(identityCard);
    if (found.length === 0) throw new CommandError(EXIT.refused, 'Nobody has this national ID.');
    return found;
  },
});

const ofMember = (id: number): Wanted => ({
  memberIds: [id],
  find(store) {
    const found = store.ofMember(id);
    if (found === undefined) throw new CommandError(EXIT.refused, 'There is no member with this id.');
    return [found];
  },
});

async function print({ storage, zone, show }: Run, find: Find): Promise<void> {
  const rows = await withStore(openHistory(storage), find);
  // The entries of a person name their membership.
  const nameOf = ({ id }: RowHistory) => (rows.length > 1 ? { member_id: id } : {});
  const history = rows.flatMap((row) =>
    row.entries.map((entry) => ({ ...nameOf(row), ...describeEntry(entry, zone) })),
  );
  show({ history }, rows.map((row) => formatHistory(row, zone)).join('\n'));
}
