/** Reads stored data for commands and the desk, on a connection of its own. */

import { type Connection, WAIT_MS } from '../../sqlite/connection.ts';
import { ERASED_STATUS } from '../../sqlite/counts.ts';
import { openDatabase } from '../../sqlite/open-database.ts';
import { REGISTRY_SCHEMA } from '../../sqlite/schemas.ts';
import type { Storage } from '../../sqlite/storage.ts';
import { offsetOf, type Page } from '../../values/errors.ts';
import { labelSql, openOrigins, SHOWN_CHANGE } from '../changes/labels.ts';
import { CREATED, userOf } from '../changes/record-changes.ts';
import {
  joinOwnedSql,
  memberSql,
  OWNED_ENTITIES,
  type OwnedEntity,
  ownedIdsSql,
  recordedColumns,
  tableOf,
} from '../changes/tables.ts';
import type { CooperativeSummary } from '../cooperatives.ts';
import type { EntryKind, EntrySelection } from '../entries.ts';
import { findErasure } from './erasures.ts';
import {
  currentNumberSql,
  MERGED_MEMBERS,
  mergedByCodeSql,
  REPLACED_NUMBERS,
  redirectSql,
} from './former-identifiers.ts';
import { formerNumbers, identifyPerson, keptResponsesSql, listOf, readEntries } from './identify.ts';
import type {
  FoundMember,
  KnownNumber,
  LateLoan,
  MemberName,
  OrderedRequest,
  OtherHolder,
  PersonTraces,
  RecordedKind,
  RecordedRow,
  RowOrder,
  StoredChange,
  StoredMembership,
  StoredPerson,
  StoredRow,
} from './stored-data-types.ts';

// Lists of a cooperative for the desk, page by page: recorded rows, and members and loans that need attention

interface Listed {
  /** Table of the rows `e`. */
  readonly table: string;
  /** FROM and WHERE of the rows of one cooperative, joining no more than counting and sorting need. */
  readonly from: string;
  /** SQL of the member id of a row. */
  readonly member: string;
  /** SQL of the columns after those of the member. */
  readonly columns: string;
  /** Default order. */
  readonly order: string;
  readonly orders: { readonly [order in RowOrder]?: string };
}

/** Columns of a `FoundMember`. */
const FOUND_MEMBER = `m.id, c.code AS cooperativeCode, m.member_code AS memberCode, m.full_name AS fullName`;

const WITHOUT_DELIVERY: Listed = {
  table: 'members',
  from: `main.members e WHERE e.cooperative_id = @cooperativeId AND e.status = 'active' AND NOT EXISTS
    (SELECT 1 FROM main.production_entries p WHERE p.member_id = e.id AND p.delivered_at >= @at)`,
  member: 'e.id',
  columns: '',
  order: 'e.id',
  orders: {},
};

const LATE_LOANS: Listed = {
  table: 'loans',
  from: `main.loans e WHERE e.cooperative_id = @cooperativeId AND e.status IN ('approved', 'defaulted')
    AND e.loan_end_date < @at AND e.paid_amount_minor < e.amount_minor`,
  member: 'e.member_id',
  columns: `, e.reference, e.amount_minor AS amountMinor, e.paid_amount_minor AS paidAmountMinor,
    e.loan_end_date AS endDate`,
  order: 'e.loan_end_date, e.id',
  orders: {
    day: 'e.loan_end_date DESC',
    amount: 'e.amount_minor DESC',
    left: 'e.amount_minor - e.paid_amount_minor DESC',
    reference: 'e.reference',
  },
};

const RECORDED: {
  readonly [kind in RecordedKind]: { readonly [value in 'at' | 'what' | 'amount' | 'loan']: string };
} = {
  production: { at: 'e.delivered_at', what: 'e.product', amount: 'e.grams', loan: 'NULL' },
  savings: {
    at: 'e.transacted_at',
    what: 'e.kind',
    amount: "iif(e.kind = 'withdrawal', -e.amount_minor, e.amount_minor)",
    loan: 'NULL',
  },
  loans: { at: 'e.loan_start_date', what: 'e.status', amount: 'e.amount_minor', loan: 'NULL' },
  payments: {
    at: 'e.paid_at',
    what: "iif(e.status = 'void', e.status, e.method)",
    amount: 'e.amount_minor',
    loan: '(SELECT reference FROM main.loans WHERE id = e.loan_id)',
  },
};

/**
 * The index is forced: the planner could instead find the newest rows by scanning those of all cooperatives.
 */
function recorded(kind: RecordedKind, isOfMember: boolean): Listed {
  const { table } = tableOf(kind);
  const { at, what, amount, loan } = RECORDED[kind];
  return {
    table,
    from: isOfMember
      ? `main.members m INDEXED BY members_code ${joinOwnedSql(kind)}
         WHERE m.cooperative_id = @cooperativeId AND m.member_code = @memberCode`
      : `main.${table} e INDEXED BY ${table}_reference WHERE e.cooperative_id = @cooperativeId`,
    member: memberSql(kind, 'e'),
    columns: `, CAST(e.id AS TEXT) AS rowId, e.reference, ${at} AS at, ${what} AS what, ${amount} AS amount,
      ${loan} AS loan`,
    order: 'e.id DESC',
    orders: {
      day: `${at} DESC`,
      what: `${what} COLLATE NOCASE NULLS LAST`,
      amount: `${amount} DESC`,
      reference: 'e.reference',
      loan,
    },
  };
}

/** Counts and sorts all rows of a cooperative, but reads members only for the rows of the page. */
function onePage<Row>(
  db: Connection,
  { table, from, member, columns, order, orders }: Listed,
  filter: { readonly [name: string]: number | string | undefined },
  request: OrderedRequest,
): Page<Row> {
  const ofMember = (column: string) => `(SELECT ${column} FROM main.members WHERE id = ${member})`;
  const ways: Listed['orders'] = {
    name: `${ofMember('full_name')} COLLATE NOCASE`,
    // M-2 sorts before M-10.
    code: `length(${ofMember('member_code')}), ${ofMember('member_code')}`,
    ...orders,
  };
  const way = request.order && ways[request.order];
  const inOrder = `ORDER BY ${way === undefined ? '' : `${way}, `}${order}`;
  const page = `SELECT e.id FROM ${from} ${inOrder} LIMIT @limit OFFSET @offset`;
  return db.transaction.deferred(() => ({
    count: db.value<number>(`SELECT count(*) FROM ${from}`, filter),
    rows: db.rows<Row>(
      `SELECT ${FOUND_MEMBER}${columns}
       FROM (${page}) page CROSS JOIN main.${table} e ON e.id = page.id
         CROSS JOIN main.members m ON m.id = ${member}
         CROSS JOIN main.cooperatives c ON c.id = e.cooperative_id ${inOrder}`,
      { ...filter, limit: request.pageSize, offset: offsetOf(request) },
    ),
  }));
}

// Identifiers of persons in the access ledger: national IDs and member ids, including former ones

function findTraces(db: Connection, requested: string): PersonTraces {
  const { rows: memberIds, numbers, mistaken } = identifyPerson(db, requested) ?? NOBODY;
  const rows = listOf(memberIds);
  /** Includes the values of removed rows, such as merged members. */
  const values = (column: string) => `SELECT ${column} AS value FROM main.members WHERE id IN (${rows})
    ${['old', 'new']
      .map(
        (side) => `UNION SELECT ${side} FROM main.changes WHERE entity = 'members' AND row_id IN (${rows})
          AND field = '${column}' AND ${side} IS NOT NULL`,
      )
      .join(' ')}`;
  const identityCards = [...new Set([requested, ...numbers, ...mistaken])];
  return {
    identityCards,
    otherHolders: otherHolders(db, identityCards, memberIds),
    memberIds,
    cooperativeIds: db.values<number>(values('cooperative_id')),
    since: db.value<number | null>(`SELECT min(value) FROM (${values('created_at')})`) ?? undefined,
    erasedAt: findErasure(db, requested),
  };
}

const NOBODY = { rows: [], numbers: [], mistaken: [] };

const IS_NUMBER = "c.entity = 'members' AND c.field = 'identity_card'";

/** Periods in which each row held its numbers. */
const HOLDERS = `
  SELECT c.row_id AS memberId, c.old AS identityCard, c.at AS until,
    coalesce(lag(c.at) OVER (PARTITION BY c.row_id ORDER BY c.id),
      (SELECT created_at FROM main.members WHERE id = c.row_id),
      (SELECT old FROM main.changes
       WHERE entity = 'members' AND row_id = c.row_id AND field = 'created_at' AND old IS NOT NULL), 0
    ) AS since
  FROM main.changes c WHERE ${IS_NUMBER} AND c.row_id IN (SELECT id FROM others)
  UNION ALL SELECT m.id, m.identity_card, NULL, coalesce(
      (SELECT c.at FROM main.changes c WHERE ${IS_NUMBER} AND c.row_id = m.id ORDER BY c.id DESC LIMIT 1),
      m.created_at)
  FROM main.members m WHERE m.id IN (SELECT id FROM others)`;

function otherHolders(
  db: Connection,
  identityCards: readonly string[],
  memberIds: readonly number[],
): OtherHolder[] {
  const numbers = listOf(identityCards);
  return db.rows<OtherHolder>(
    `WITH others (id) AS (
       SELECT id FROM main.members WHERE identity_card IN (${numbers})
       UNION SELECT c.row_id FROM main.changes c WHERE ${IS_NUMBER} AND c.old IN (${numbers})
       EXCEPT VALUES ${[0, ...memberIds].map((id) => `(${id})`).join(', ')})
     SELECT identityCard, memberId, since, until FROM (${HOLDERS}) WHERE identityCard IN (${numbers})`,
  );
}

/** Numbers that an import or a correction replaced without a redirect are found in the history. */
const KNOWN_NUMBERS = `
  SELECT * FROM (
    SELECT c.old AS number, m.identity_card AS current, c.at AS until
    FROM main.changes c CROSS JOIN main.members m ON m.id = c.row_id
    WHERE ${IS_NUMBER} AND c.old IS NOT NULL AND m.status <> '${ERASED_STATUS}' ORDER BY c.at)
  UNION ALL SELECT old, new, NULL FROM main.${REPLACED_NUMBERS.inForce}
  UNION ALL SELECT DISTINCT identity_card, identity_card, NULL FROM main.members
    WHERE status <> '${ERASED_STATUS}'`;

function findNumbers(db: Connection, memberIds: Iterable<number>): Map<number, string> {
  const findNumber = db.prepareOnce<{ number: string }>(
    `SELECT identity_card AS number FROM main.members
     WHERE id = coalesce((${redirectSql(MERGED_MEMBERS, '@id')}), @id) AND status <> '${ERASED_STATUS}'`,
  );
  return new Map(
    Iterator.from(memberIds).flatMap((id) => findNumber({ id }).map(({ number }) => [id, number] as const)),
  );
}

// All data of a person: every column of every row, and its changes

type PersonalEntity = 'members' | OwnedEntity;
const PERSONAL: readonly PersonalEntity[] = ['members', ...OWNED_ENTITIES];

/** SELECT of the ids of members, or of rows owned by them. */
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

/** Reads rows with all columns except computed ones. */
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

/** @param rows ids of the members, and of those merged into them */
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
/** One index seek per cooperative and table. */
const FOUND_BY_REFERENCE = (['production', 'savings', 'loans', 'payments'] as const)
  .map(
    (entity) => `UNION SELECT ${memberSql(entity, 'e')} FROM main.cooperatives o
      CROSS JOIN main.${tableOf(entity).table} e ON e.cooperative_id = o.id AND e.reference = @reference`,
  )
  .join(' ');

function findMembers(db: Connection, { isTyped, ...name }: MemberName): FoundMember[] {
  const { memberCode, reference } = name;
  const ids = `${FOUND} ${reference === undefined ? '' : FOUND_BY_REFERENCE}`;
  const members = readMembers(db, ids, name);
  if (isTyped !== true || members.length > 0) return members;
  const upper = {
    ...name,
    ...(memberCode !== undefined && { memberCode: memberCode.toUpperCase() }),
    ...(reference !== undefined && { reference: reference.toUpperCase() }),
  };
  // Former codes of merged members, as on old papers and in old files, come last.
  const attempts = [
    [ids, upper],
    [FOUND_BY_FORMER_CODE, name],
    [FOUND_BY_FORMER_CODE, upper],
  ] as const;
  for (const [by, spelling] of attempts) {
    const others = readMembers(db, by, spelling);
    if (others.length > 0) return others;
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

/** Reads stored data on a connection. */
export const storedDataOn = (db: Connection) => ({
  /** All, in order of code. */
  listCooperatives: (): readonly CooperativeSummary[] =>
    db.rows<CooperativeSummary>('SELECT id, code, name FROM cooperatives ORDER BY code'),
  /** Distinct values, sorted. */
  listPlaces() {
    const valuesOf = (name: 'district' | 'province') =>
      db.values<string>(`SELECT DISTINCT ${name} FROM cooperatives WHERE ${name} IS NOT NULL ORDER BY 1`);
    return { district: valuesOf('district'), province: valuesOf('province') };
  },
  /** Distinct products of the deliveries of a cooperative, sorted. */
  listProducts: (cooperativeId: number): readonly string[] => db.values<string>(PRODUCTS, [cooperativeId]),
  /** @returns undefined if the number neither is nor was anyone's */
  findPerson: (identityCard: string) => db.transaction.deferred(() => findPerson(db, identityCard)),
  /** An unknown number is returned as the only identifier. */
  findTraces: (identityCard: string) => db.transaction.deferred(() => findTraces(db, identityCard)),
  /** All national IDs: former ones in the order in which they ended, then current ones. */
  listNumbers: (): Iterable<KnownNumber> => db.iterate<KnownNumber>(KNOWN_NUMBERS),
  /**
   * Current numbers by member id; accepts ids of merged members and skips members without a current number.
   */
  findNumbers: (memberIds: Iterable<number>): ReadonlyMap<number, string> => findNumbers(db, memberIds),
  /** In id order, without erased members. */
  findMembers: (name: MemberName): readonly FoundMember[] => findMembers(db, name),
  /** Subset of these numbers that are current. */
  listHeldNumbers: (identityCards: readonly string[]): readonly string[] =>
    db.values<string>(NUMBERS_IN_USE, [JSON.stringify(identityCards)]),
  /** @returns undefined if the member does not exist or is erased */
  findMembership: (memberId: number) => db.transaction.deferred(() => findMembership(db, memberId)),
  /**
   * Active members without a delivery since an instant, in id order.
   * @param at epoch seconds
   */
  listWithoutDelivery: (cooperativeId: number, at: number, request: OrderedRequest) =>
    onePage<FoundMember>(db, WITHOUT_DELIVERY, { cooperativeId, at }, request),
  /**
   * Loans due before an instant and not paid back, longest overdue first.
   * @param at epoch seconds
   */
  listLateLoans: (cooperativeId: number, at: number, request: OrderedRequest) =>
    onePage<LateLoan>(db, LATE_LOANS, { cooperativeId, at }, request),
  /**
   * Rows of a cooperative, last recorded first.
   * @param memberCode restricts the rows to one member
   */
  listRecorded(
    kind: RecordedKind,
    cooperativeId: number,
    memberCode: string | undefined,
    request: OrderedRequest,
  ) {
    const rows = recorded(kind, memberCode !== undefined);
    return onePage<RecordedRow>(db, rows, { cooperativeId, memberCode }, request);
  },
  /** In id order. */
  listEntries: (kind: EntryKind, selection: EntrySelection): readonly StoredRow[] =>
    readEntries(db, kind, selection),
});

export type StoredDataStore = ReturnType<typeof openStoredData>;

/** @throws StorageError `unusable` if there is no registry */
export function openStoredData(storage: Storage) {
  const db = openDatabase(storage.pathForOpening(), { waitMs: WAIT_MS.command, schema: REGISTRY_SCHEMA });
  return { ...storedDataOn(db), close: () => db.close() };
}
