/** Reads stored data for commands and the desk, on a separate connection. */

import { type Connection, WAIT_MS } from '../../sqlite/connection.ts';
import { ERASED_STATUS } from '../../sqlite/counts.ts';
import { openDatabase } from '../../sqlite/open-database.ts';
import { REGISTRY_SCHEMA } from '../../sqlite/schemas.ts';
import type { Storage } from '../../sqlite/storage.ts';
import { type Message, say } from '../../values/message.ts';
import { CREATED, userOf } from '../changes/record-changes.ts';
import { labelSql, openOrigins, SHOWN_CHANGE } from '../changes/row-labels.ts';
import {
  memberSql,
  OWNED_ENTITIES,
  type OwnedEntity,
  ownedIdsSql,
  recordedColumns,
  tableOf,
} from '../changes/tables.ts';
import type { CooperativeSummary } from '../cooperatives.ts';
import type { EntryKind, EntrySelection } from '../entries.ts';
import { currentMemberSql, currentNumberSql, mergedByCodeSql } from './former-ids.ts';
import { formerNumbers, identifyPerson, keptResponsesSql, readEntries } from './identify.ts';
import type {
  FoundMember,
  MemberName,
  StoredChange,
  StoredMembership,
  StoredPerson,
  StoredRow,
} from './stored-data-types.ts';

/** Columns of a `FoundMember`, from the members `m` and the cooperatives `c`. */
export const FOUND_MEMBER =
  'm.id, c.code AS cooperativeCode, m.member_code AS memberCode, m.full_name AS fullName';

const CURRENT_NUMBER = `SELECT identity_card AS number FROM main.members
  WHERE id = ${currentMemberSql('@id')} AND status <> '${ERASED_STATUS}'`;

/** The JSON output uses these names. */
export const ROW_LISTS: readonly (readonly [
  name: string,
  heading: Message,
  rows: (membership: StoredMembership) => readonly StoredRow[],
])[] = [
  ['deliveries', say('Deliveries'), ({ deliveries }) => deliveries],
  ['loans', say('Loans'), ({ loans }) => loans],
  ['payments', say('Payments'), ({ payments }) => payments],
  ['savings_accounts', say('Savings accounts'), ({ savingsAccounts }) => savingsAccounts],
  ['savings_transactions', say('Savings transactions'), ({ savingsTransactions }) => savingsTransactions],
];

type PersonalEntity = 'members' | OwnedEntity;
const PERSONAL: readonly PersonalEntity[] = ['members', ...OWNED_ENTITIES];

const personalIds = (entity: PersonalEntity, members: readonly number[]): string =>
  entity === 'members'
    ? `SELECT id FROM main.members WHERE id IN (${members.join(', ')})`
    : ownedIdsSql(entity, members.join(', '));

function findPerson(db: Connection, requested: string): StoredPerson | undefined {
  const person = identifyPerson(db, requested);
  if (person === undefined) return undefined;
  const { identityCard, members, rows } = person;
  return {
    identityCard,
    formerIdentityCards: formerNumbers(db, identityCard),
    memberships: members.flatMap((id) => findMembership(db, id) ?? []),
    history: readHistory(db, members, rows),
    keptResponses: db.count(keptResponsesSql(person)),
  };
}

/** Reads all columns except computed ones. */
function readRows(db: Connection, entity: PersonalEntity, member: number): StoredRow[] {
  const table = tableOf(entity);
  const columns = recordedColumns(db, table).filter(({ column }) => column !== 'cooperative_id');
  const fields = columns.map(({ column, field }) => `e.${column} AS ${field}`);
  return db.rows<StoredRow>(`SELECT CAST(e.id AS TEXT) AS id,
       (SELECT code FROM main.cooperatives WHERE id = e.cooperative_id) AS cooperative,
       ${fields.join(', ')}${table.hasTimestamps ? ', e.updated_at' : ''}
     FROM main.${table.table} e WHERE e.id IN (${personalIds(entity, [member])}) ORDER BY e.id`);
}

function findMembership(db: Connection, id: number): StoredMembership | undefined {
  const member = readRows(db, 'members', id)[0];
  if (member === undefined || member.status === ERASED_STATUS) return undefined;
  return {
    member,
    deliveries: readEntries(db, 'production', { memberId: id }),
    loans: readEntries(db, 'loans', { memberId: id }),
    payments: readRows(db, 'payments', id),
    savingsAccounts: readRows(db, 'accounts', id),
    savingsTransactions: readEntries(db, 'savings', { memberId: id }),
  };
}

/** @param rows ids of the members, and of members merged into them */
function readHistory(db: Connection, members: readonly number[], rows: readonly number[]): StoredChange[] {
  const originOf = openOrigins(db);
  const origins = PERSONAL.flatMap((entity): StoredChange[] => {
    const { table, label } = tableOf(entity);
    const labels = db.rows<{ id: number; row: string }>(
      `SELECT id, ${label} AS row FROM main.${table}
       WHERE id IN (${personalIds(entity, members)}) ORDER BY id`,
    );
    return labels.flatMap(({ id, row }) => {
      const origin = originOf(entity, id);
      return origin === undefined ? [] : [{ entity, row, field: CREATED, old: null, new: null, ...origin }];
    });
  });
  const changes = PERSONAL.map((entity) => {
    const ids = entity === 'members' ? rows.join(', ') : personalIds(entity, members);
    return `SELECT c.id, c.entity, ${labelSql(entity, 'c.row_id')} AS row, ${SHOWN_CHANGE.field} AS field,
        ${SHOWN_CHANGE.values}, c.at, c.actor, ${userOf('c.actor')} AS user
      FROM main.changes c WHERE c.entity = '${entity}' AND c.row_id IN (${ids}) AND c.field <> '${CREATED}'`;
  });
  const recorded = db.rows<StoredChange & { id: number }>(`${changes.join(' UNION ALL ')} ORDER BY 1`);
  return [...origins, ...recorded.map(({ id: _, ...change }) => change)];
}

const FOUND = `SELECT id FROM main.members WHERE id = @id
  UNION SELECT id FROM main.members WHERE member_code = @memberCode
  UNION SELECT id FROM main.members WHERE identity_card = ${currentNumberSql('@identityCard')}`;
const FOUND_BY_FORMER_CODE = `SELECT DISTINCT into_id AS id FROM (${mergedByCodeSql('@memberCode')})`;
/** SELECTs of member ids, to append to `FOUND`. SQLite searches an index for each cooperative and table. */
const FOUND_BY_REFERENCE = (['production', 'savings', 'loans', 'payments'] as const)
  .map(
    (entity) => `UNION SELECT ${memberSql(entity, 'e')} FROM main.cooperatives o
      CROSS JOIN main.${tableOf(entity).table} e ON e.cooperative_id = o.id AND e.reference = @reference`,
  )
  .join(' ');

function findMembers(db: Connection, { isTyped, ...name }: MemberName): FoundMember[] {
  const { memberCode, reference } = name;
  const ids = `${FOUND} ${reference === undefined ? '' : FOUND_BY_REFERENCE}`;
  const upper = {
    ...name,
    ...(memberCode !== undefined && { memberCode: memberCode.toUpperCase() }),
    ...(reference !== undefined && { reference: reference.toUpperCase() }),
  };
  const attempts: [by: string, spelling: MemberName][] = [[ids, name]];
  // Old papers and files may still show the codes of merged members.
  if (isTyped === true)
    attempts.push([ids, upper], [FOUND_BY_FORMER_CODE, name], [FOUND_BY_FORMER_CODE, upper]);
  for (const [by, spelling] of attempts) {
    const members = readMembers(db, by, spelling);
    if (members.length > 0) return members;
  }
  return [];
}

/** @param ids SELECT of member ids */
const readMembers = (db: Connection, ids: string, name: MemberName): FoundMember[] =>
  db.raw
    .prepare(
      `SELECT ${FOUND_MEMBER} FROM (${ids}) f CROSS JOIN main.members m ON m.id = f.id
       CROSS JOIN main.cooperatives c ON c.id = m.cooperative_id
       WHERE c.code = coalesce(@cooperativeCode, c.code) AND m.status <> '${ERASED_STATUS}' ORDER BY m.id`,
    )
    .all({ id: null, memberCode: null, identityCard: null, cooperativeCode: null, ...name }) as FoundMember[];

const PRODUCTS = `SELECT DISTINCT product FROM main.production_entries
  INDEXED BY production_entries_reference WHERE cooperative_id = ? AND product IS NOT NULL ORDER BY 1`;

const NUMBERS_IN_USE = `SELECT value FROM json_each(?)
  WHERE EXISTS (SELECT 1 FROM main.members WHERE identity_card = value) ORDER BY 1`;

const storedDataOn = (db: Connection) => ({
  listCooperatives: (): readonly CooperativeSummary[] =>
    db.rows<CooperativeSummary>('SELECT id, code, name FROM cooperatives ORDER BY code'),
  listPlaces() {
    const valuesOf = (name: 'district' | 'province') =>
      db.values<string>(`SELECT DISTINCT ${name} FROM cooperatives WHERE ${name} IS NOT NULL ORDER BY 1`);
    return { district: valuesOf('district'), province: valuesOf('province') };
  },
  listProducts: (cooperativeId: number): readonly string[] => db.values<string>(PRODUCTS, [cooperativeId]),
  /** @param identityCard current national ID, or a former one that leads to the current one */
  findPerson: (identityCard: string) => db.transaction.deferred(() => findPerson(db, identityCard)),
  /** Returns current national IDs by member id, also for merged members. Erased members are missing. */
  findNumbers(memberIds: Iterable<number>): ReadonlyMap<number, string> {
    const findNumber = db.prepareOnce<{ number: string }>(CURRENT_NUMBER);
    const numbers = Iterator.from(memberIds).flatMap((id) =>
      findNumber({ id }).map(({ number }) => [id, number] as const),
    );
    return new Map(numbers);
  },
  /** In id order, without erased members. */
  findMembers: (name: MemberName): readonly FoundMember[] => findMembers(db, name),
  /** Filters national IDs: returns only those that a member has now. */
  listHeldNumbers: (identityCards: readonly string[]): readonly string[] =>
    db.values<string>(NUMBERS_IN_USE, [JSON.stringify(identityCards)]),
  /** @returns undefined if the member does not exist or is erased */
  findMembership: (memberId: number) => db.transaction.deferred(() => findMembership(db, memberId)),
  listEntries: (kind: EntryKind, selection: EntrySelection): readonly StoredRow[] =>
    readEntries(db, kind, selection),
});

export type StoredDataStore = ReturnType<typeof openStoredData>;

/** @throws StorageError `unusable` if there is no registry */
export const openStoredData = (storage: Storage) => openStoredDataAnd(storage, () => ({}));

/**
 * Opens stored data together with the caller's own reads, on one connection.
 * @throws StorageError `unusable` if there is no registry
 */
export function openStoredDataAnd<Reads extends object>(storage: Storage, reads: (db: Connection) => Reads) {
  const db = openDatabase(storage.pathForOpening(), { waitMs: WAIT_MS.command, schema: REGISTRY_SCHEMA });
  return { ...storedDataOn(db), ...reads(db), close: () => db.close() };
}
