/** `history`: changes of a member or a cooperative, and the actors of the changes. */
import type { Command } from 'commander';
import { CREATED, type HistoryEntry, userOf } from '../registry/changes/record-changes.ts';
import { openOrigins } from '../registry/changes/row-labels.ts';
import { formatStored } from '../registry/file-columns.ts';
import { currentNumberSql } from '../registry/stored/former-ids.ts';
import { WAIT_MS } from '../sqlite/connection.ts';
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
import { isIdentityCard } from '../values/identity-card.ts';
import { formatActor } from './change-texts.ts';
import { findMemberId } from './named-member.ts';

interface Row {
  readonly id: number;
  readonly name: string;
  readonly created_at: number;
}

export interface RowHistory {
  readonly id: number;
  /** For a member, the codes of the cooperative and the member; for a cooperative, its code. */
  readonly name: string;
  /** First the creation of the row, then each change from oldest to newest. */
  readonly entries: readonly HistoryEntry[];
}

export type History = ReturnType<typeof openHistory>;

const MEMBER = `SELECT m.id, c.code || ' ' || m.member_code AS name, m.created_at
  FROM main.members m CROSS JOIN main.cooperatives c ON c.id = m.cooperative_id`;

/** @throws StorageError `unusable` if there is no registry */
export function openHistory(storage: Storage) {
  const db = openDatabase(storage.pathForOpening(), { waitMs: WAIT_MS.command, schema: REGISTRY_SCHEMA });
  const originOf = openOrigins(db);
  const changes = db.raw.prepare<[string, number], HistoryEntry>(
    `SELECT field, old, new, at, actor, ${userOf('actor')} AS user FROM main.changes
     WHERE entity = ? AND row_id = ? AND field <> '${CREATED}' ORDER BY id`,
  );
  // The transaction reads rows and history entries from one snapshot.
  const read = (entity: 'members' | 'cooperatives', sql: string, key: number | string): RowHistory[] =>
    db.transaction.deferred(() =>
      db.rows<Row>(sql, { key }).map(({ id, name, created_at: at }) => {
        const origin = originOf(entity, id) ?? { at, actor: null, user: null };
        const created: HistoryEntry = { field: CREATED, old: null, new: null, ...origin };
        return { id, name, entries: [created, ...changes.all(entity, id)] };
      }),
    );
  return {
    ofMember: (id: number) => read('members', `${MEMBER} WHERE m.id = @key`, id),
    /** Reads the history of each membership of a person, in id order. Accepts a former national ID too. */
    ofPerson: (identityCard: string) =>
      read(
        'members',
        `${MEMBER} WHERE m.identity_card = ${currentNumberSql('@key')} ORDER BY m.id`,
        identityCard,
      ),
    ofCooperative: (code: string) =>
      read(
        'cooperatives',
        'SELECT id, code AS name, created_at FROM main.cooperatives WHERE code = @key',
        code,
      ),
    close: () => db.close(),
  };
}

export const describeEntry = ({ field, old, new: value, at, actor, user }: HistoryEntry, zone: TimeZone) => ({
  field,
  old: formatStored(field, old, zone),
  new: formatStored(field, value, zone),
  at: formatDateTime(at, zone),
  actor,
  user,
});

function formatHistory({ id, name, entries }: RowHistory, zone: TimeZone): string {
  const rows = entries.map((entry) => {
    const { field, old, new: value, at, actor, user } = describeEntry(entry, zone);
    return [at, field, old ?? '', value ?? '', String(formatActor(actor, user))];
  });
  return `${name} (id ${id})\n${formatTable(['AT', 'FIELD', 'OLD', 'NEW', 'BY'], rows)}`;
}

export function declareHistory(history: Command, context: CliContext): void {
  addPrintOptions(history.command('member'), 'REGISTRY_USER')
    .argument('<member>', 'id, CODE/MEMBERCODE, CODE/NID; or a NID for all memberships of the person')
    .description('the changes of a member, newest last: personal data')
    .action(
      acting(context, async (run, name: string) => {
        if (isIdentityCard(name)) {
          await recordAccess(run, { identityCards: [name], fields: MEMBER_GROUPS });
          return print(run, 'No person has this national ID.', (store) => store.ofPerson(name));
        }
        const id = await findMemberId(run, name);
        await recordAccess(run, { memberIds: [id], fields: MEMBER_GROUPS });
        return print(run, 'There is no member with this id.', (store) => store.ofMember(id));
      }),
    );
  addPrintOptions(showingNobody(history.command('cooperative')))
    .argument('<code>', 'code of a cooperative', parseCode)
    .description('the changes of a cooperative, newest last')
    .action(
      acting(context, (run, code: string) =>
        print(run, 'There is no cooperative with this code.', (store) => store.ofCooperative(code)),
      ),
    );
}

/** @param none error message if there is no row */
async function print(run: Run, none: string, find: (store: History) => readonly RowHistory[]): Promise<void> {
  const { storage, zone } = run;
  const rows = await withStore(openHistory(storage), find);
  if (rows.length === 0) throw new CommandError(EXIT.refused, none);
  // If there are several memberships, each history entry includes a member id.
  const nameOf = ({ id }: RowHistory) => (rows.length > 1 ? { member_id: id } : {});
  const history = rows.flatMap((row) =>
    row.entries.map((entry) => ({ ...nameOf(row), ...describeEntry(entry, zone) })),
  );
  run.show({ history }, rows.map((row) => formatHistory(row, zone)).join('\n'));
}
