/** Store of deliveries and savings transactions. */

import { hash } from 'node:crypto';
import { isVisible, type StoreOf, type Visible } from '../../access/api-keys.ts';
import type { Connection } from '../../sqlite/connection.ts';
import type { Actor } from '../../sqlite/entity-store.ts';
import type { ResponseToSave } from '../../sqlite/idempotent-writes.ts';
import type { TimeZone } from '../../values/date-time.ts';
import { type Fields, listFields, type StagedRow, type StagedValue } from '../../values/declared-fields.ts';
import {
  FieldErrorList,
  type FieldMessages,
  notFound,
  offsetOf,
  type Page,
  type PageRequest,
} from '../../values/errors.ts';
import { isSameIgnoringCase } from '../../values/text.ts';
import { openEntryRecorder } from '../changes/record-changes.ts';
import { tableOf } from '../changes/tables.ts';
import {
  ACCOUNT_FIELDS,
  DERIVED_REFERENCE,
  type DeliveryFilter,
  type DerivedKind,
  HASHED,
  type NewDelivery,
  type NewSavingsTransaction,
  type Period,
  PRODUCTION_FIELDS,
  type ProductionEntry,
  SAVINGS_FIELDS,
  type SavingsTransaction,
} from '../entries.ts';
import { FILE_COLUMNS, type ImportKind } from '../file-columns.ts';
import { ENDED_MEMBER_STATUSES, type Member } from '../members.ts';
import { transferCheck } from '../stored/transfers.ts';
import type { MemberStore } from './member-store.ts';
import { openColumnRefresh, type ReadModelFormat } from './read-model.ts';
import { columnsOf, openInsert, type StoreDependencies } from './row-store.ts';
import { selected } from './rows.ts';

// Derived references (docs/import-reference.md#entries-without-a-reference) are hashes of `HASHED` columns.
// The values are hashed as the file has them, so a row gets the same reference in each import, even if its
// member has changed since. The second of several equal rows gets `-2` after the hash, and so on. For a row
// of a rejects file, the hash includes the hashes of the files in which the row was refused.

/** Enough that the entries of a country do not collide by chance. */
const HASH_CHARACTERS = 20;

export const hasDerivedReferences = (kind: ImportKind): kind is DerivedKind => kind in HASHED;

/** @returns a function that derives a reference, without the number that later equal rows get */
export function openDerivation(
  kind: DerivedKind,
  columns: readonly string[],
): (row: Pick<StagedRow, 'values' | 'rejectedFrom'>) => string {
  const places = HASHED[kind].map((name) => columns.indexOf(name));
  return ({ values, rejectedFrom = '' }) => {
    const hashed = JSON.stringify(places.map((place) => values[place])) + rejectedFrom;
    return DERIVED_REFERENCE + hash('sha256', hashed).slice(0, HASH_CHARACTERS);
  };
}

/** @param place SQL of the position among equal entries, from 1 */
const referenceSql = (first: string, place: string): string =>
  `iif(${place} = 1, ${first}, ${first} || '-' || ${place})`;

/** SELECT of the first free reference of `@first`, `@first-2`, `@first-3` and so on, for an equal entry. */
const nextReferenceSql = (table: string): string =>
  `WITH RECURSIVE places (place, reference) AS (
     SELECT 1, @first
     UNION ALL SELECT place + 1, ${referenceSql('@first', '(place + 1)')} FROM places
       WHERE EXISTS (SELECT 1 FROM ${table} t
         WHERE t.cooperative_id = @cooperativeId AND t.reference = places.reference))
   SELECT reference FROM places ORDER BY place DESC LIMIT 1`;

/** Numbers the references of equal rows, from the second row on. Call this once, after staging all rows. */
export const numberEqualRows = (db: Connection): void =>
  db.exec(`UPDATE staging.rows AS r SET reference = ${referenceSql('r.reference', 'n.place')} FROM (
      SELECT line, row_number() OVER (PARTITION BY reference ORDER BY line) AS place FROM staging.rows
      WHERE origin IS NOT NULL AND reference IN (SELECT reference FROM staging.rows
        WHERE origin IS NOT NULL GROUP BY reference HAVING count(*) > 1)) AS n
    WHERE r.line = n.line AND n.place > 1`);

// New deliveries and savings transactions from single requests. They follow the rules of imports.

/** @param owner column with the id of the member, or of the member's account */
function openEntryInsert(db: Connection, kind: DerivedKind, owner: string, fields: Fields) {
  const declared = listFields(fields);
  const columns = declared.map(({ column }) => column);
  const insert = openInsert(db, tableOf(kind).table, ['cooperative_id', owner, ...columns]);
  return (cooperativeId: number, ownerId: number, values: object): number =>
    insert(cooperativeId, ownerId, ...columnsOf(declared, values));
}

/** @param fields fields that have a column in files */
function openReferences(db: Connection, kind: DerivedKind, fields: Fields) {
  const { table } = tableOf(kind);
  const columns = FILE_COLUMNS[kind].map(({ name }) => name);
  const derive = openDerivation(kind, columns);
  const declared = listFields(fields);
  const selectEqual = db.prepare<[cooperativeId: number, reference: string], object>(
    `SELECT 1 FROM ${table} WHERE cooperative_id = ? AND reference = ?`,
  );
  const selectNext = db.prepare<[{ first: string; cooperativeId: number }], { reference: string }>(
    nextReferenceSql(table),
    'equal entries of one member',
  );
  return {
    refuseDuplicate({ cooperativeId }: Member, reference: string | null | undefined, faults: FieldErrorList) {
      if (typeof reference === 'string' && selectEqual.get(cooperativeId, reference) !== undefined)
        faults.add('reference', 'This field must be unique.');
    },

    /** Derives the reference as an import does, but adds the next number if equal entries are stored. */
    derive({ cooperativeId, cooperativeCode, memberCode }: Member, values: object): string {
      const stored = columnsOf(declared, values);
      const cells = new Map<string, StagedValue | undefined>([
        ...declared.map(({ name }, i) => [name, stored[i]] as const),
        ['cooperative_code', cooperativeCode],
        ['member_code', memberCode],
      ]);
      const first = derive({ values: columns.map((name) => cells.get(name) ?? null) });
      return (selectNext.get({ first, cooperativeId }) as { reference: string }).reference;
    },
  };
}

function openTransferCheck(db: Connection, kind: DerivedKind, zone: TimeZone) {
  const parameters = { memberId: '@memberId', at: '@at', entryKind: '@kind' };
  const { sql, bound, field, message } = transferCheck(kind, zone, parameters);
  const select = db.prepare<[{ memberId: number; at: number; kind: string | null }], object>(sql, bound);
  return ({ id, status }: Member, at: number, entryKind: string | null, faults: FieldErrorList): void => {
    if (!ENDED_MEMBER_STATUSES.includes(status)) return;
    if (select.get({ memberId: id, at, kind: entryKind }) !== undefined) faults.add(field, message);
  };
}

/** Call the methods inside a write, or inside a read of the snapshot. */
interface EntryRules<New, Entry> {
  addConflicts(member: Member, values: Partial<New>, faults: FieldErrorList): void;
  /** Does not check for conflicts. */
  add(member: Member, values: New, nowSeconds: number, actor: Actor): Entry;
}

function openDeliveries(db: Connection, format: ReadModelFormat): EntryRules<NewDelivery, ProductionEntry> {
  const insert = openEntryInsert(db, 'production', 'member_id', PRODUCTION_FIELDS);
  const references = openReferences(db, 'production', PRODUCTION_FIELDS);
  const refuseAfterTransfer = openTransferCheck(db, 'production', format.zone);
  const history = openEntryRecorder(db, 'production_summary');
  const refresh = openColumnRefresh(db, format, 'production');
  return {
    addConflicts(member, { reference, deliveredAt }, faults) {
      references.refuseDuplicate(member, reference, faults);
      if (deliveredAt !== undefined) refuseAfterTransfer(member, deliveredAt, null, faults);
    },
    add(member, delivery, nowSeconds, actor) {
      const values = { ...delivery, reference: delivery.reference ?? references.derive(member, delivery) };
      const id = insert(member.cooperativeId, member.id, values);
      history.created({ production: id }, member, nowSeconds, actor);
      refresh(member.id, nowSeconds);
      return { id, ...values };
    },
  };
}

function openSavings(
  db: Connection,
  format: ReadModelFormat,
): EntryRules<NewSavingsTransaction, SavingsTransaction> {
  const selectAccount = db.prepare<
    [cooperativeId: number, accountNumber: string],
    { readonly id: number; readonly memberId: number }
  >(`SELECT id, member_id AS memberId FROM savings_accounts WHERE cooperative_id = ? AND account_number = ?`);
  const insertAccount = openInsert(db, 'savings_accounts', ['cooperative_id', 'member_id', 'account_number']);
  const insert = openEntryInsert(db, 'savings', 'account_id', SAVINGS_FIELDS);
  const references = openReferences(db, 'savings', { ...ACCOUNT_FIELDS, ...SAVINGS_FIELDS });
  const refuseAfterTransfer = openTransferCheck(db, 'savings', format.zone);
  const history = openEntryRecorder(db, 'savings_summary');
  const refresh = openColumnRefresh(db, format, 'savings');
  return {
    addConflicts(member, { reference, accountNumber, kind, transactedAt }, faults) {
      references.refuseDuplicate(member, reference, faults);
      const account = accountNumber && selectAccount.get(member.cooperativeId, accountNumber);
      if (account && account.memberId !== member.id)
        faults.add('account_number', 'This account belongs to another member of the cooperative.');
      if (kind !== undefined && transactedAt !== undefined)
        refuseAfterTransfer(member, transactedAt, kind, faults);
    },
    add(member, transaction, nowSeconds, actor) {
      const { cooperativeId, id: memberId } = member;
      const { accountNumber, reference } = transaction;
      const values = { ...transaction, reference: reference ?? references.derive(member, transaction) };
      const account = selectAccount.get(cooperativeId, accountNumber)?.id;
      const accountId = account ?? insertAccount(cooperativeId, memberId, accountNumber);
      const id = insert(cooperativeId, accountId, values);
      const created = account === undefined ? { accounts: accountId, savings: id } : { savings: id };
      history.created(created, member, nowSeconds, actor);
      refresh(memberId, nowSeconds);
      return { id, ...values };
    },
  };
}

export type EntryWrites<New, Entry> = ReturnType<typeof openWrites<New, Entry>>;

/** Each method throws RegistryError `not_found` for an unknown member, `gone` for a merged or erased one. */
function openWrites<New, Entry>(
  { snapshot, writes }: StoreDependencies,
  members: MemberReader,
  { addConflicts, add }: EntryRules<New, Entry>,
) {
  const check = (memberId: number, values: Partial<New>) => {
    const member = members.find(memberId);
    if (member === undefined) throw notFound();
    const faults = new FieldErrorList();
    addConflicts(member, values, faults);
    return { member, faults };
  };
  return {
    conflicts: (memberId: number, values: Partial<New>): FieldMessages =>
      snapshot.read(() => check(memberId, values).faults.fields),
    /**
     * Opens a savings account if no account has the given account number.
     * @param keep response to save in the same transaction
     * @throws RegistryError `invalid` for a conflict, `repeated` if a response is already saved under the
     *   same Idempotency-Key, `unavailable`
     */
    create: (
      memberId: number,
      values: New,
      nowSeconds: number,
      actor: Actor,
      keep?: ResponseToSave<Entry> | undefined,
    ): Promise<Entry> =>
      writes.create(keep, nowSeconds, () => {
        const { member, faults } = check(memberId, values);
        faults.throwIfAny();
        return add(member, values, nowSeconds, actor);
      }),
  };
}

interface MemberPeriod {
  readonly memberId: number;
  readonly from: number;
  readonly to: number;
}

const ONE_MEMBER = 'the entries of one member';
const PAGE = 'LIMIT @limit OFFSET @offset';

/** FROM and WHERE of deliveries. `@products` is a JSON array, or null for any product or none. */
const DELIVERIES = `production_entries d WHERE d.member_id = @memberId
  AND d.delivered_at BETWEEN @from AND @to
  AND (@products IS NULL OR d.product IN (SELECT value FROM json_each(@products)))`;
const DELIVERY_ORDER = 'ORDER BY d.delivered_at DESC, d.id DESC';

const TRANSACTIONS = `savings_accounts a CROSS JOIN savings_transactions t ON t.account_id = a.id
  WHERE a.member_id = @memberId AND t.transacted_at BETWEEN @from AND @to`;
const TRANSACTION_ORDER = 'ORDER BY t.transacted_at DESC, t.id DESC';

// The subquery reads the ids from an index, so that SQLite reads only the rows of the page from the table.
const DELIVERY_PAGE = `SELECT d.id, ${selected('d', listFields(PRODUCTION_FIELDS))}
  FROM (SELECT d.id FROM ${DELIVERIES} ${DELIVERY_ORDER} ${PAGE}) page
  CROSS JOIN production_entries d ON d.id = page.id ${DELIVERY_ORDER}`;
const TRANSACTION_PAGE = `SELECT t.id, a.account_number AS accountNumber,
    ${selected('t', listFields(SAVINGS_FIELDS))}
  FROM (SELECT t.id FROM ${TRANSACTIONS} ${TRANSACTION_ORDER} ${PAGE}) page
  CROSS JOIN savings_transactions t ON t.id = page.id
  CROSS JOIN savings_accounts a ON a.id = t.account_id ${TRANSACTION_ORDER}`;

/** @param rows FROM and WHERE of the count */
function preparePages<Entry>(db: Connection, rows: string, page: string) {
  const select = db.prepare<[object], Entry>(page, ONE_MEMBER);
  const countAll = db.prepare<[object], { count: number }>(
    `SELECT count(*) AS count FROM ${rows}`,
    ONE_MEMBER,
  );
  return (parameters: object, request: PageRequest): Page<Entry> => {
    const { count } = countAll.get(parameters) as { count: number };
    return { count, rows: select.all({ ...parameters, limit: request.pageSize, offset: offsetOf(request) }) };
  };
}

type MemberReader = Pick<MemberStore, 'find'>;
export type EntryStore = ReturnType<ReturnType<typeof openEntries>>;

/** @param membersOf returns a reader of visible members; the reader throws for merged and erased members */
export function openEntries(
  db: Connection,
  dependencies: StoreDependencies,
  membersOf: StoreOf<MemberReader>,
) {
  const { snapshot, format } = dependencies;
  const deliveryRules = openDeliveries(db, format);
  const savingsRules = openSavings(db, format);
  const selectProducts = db.prepare<[MemberPeriod], { product: string }>(
    `SELECT DISTINCT product FROM production_entries
     WHERE member_id = @memberId AND delivered_at BETWEEN @from AND @to AND product IS NOT NULL`,
    ONE_MEMBER,
  );
  const selectCooperative = db.prepare<[number], { id: number }>(
    'SELECT cooperative_id AS id FROM members WHERE id = ?',
  );
  const deliveries = preparePages<ProductionEntry>(db, DELIVERIES, DELIVERY_PAGE);
  const transactions = preparePages<SavingsTransaction>(db, TRANSACTIONS, TRANSACTION_PAGE);

  /** Compares products here, because SQL ignores the case of ASCII letters only. Returns a JSON array. */
  function productsLike(period: MemberPeriod, product: string): string {
    const stored = selectProducts.all(period).map((row) => row.product);
    return JSON.stringify(stored.filter((each) => isSameIgnoringCase(each, product)));
  }

  const read = <Entry>(
    memberId: number,
    visible: Visible,
    { from = Number.MIN_SAFE_INTEGER, to = Number.MAX_SAFE_INTEGER }: Period,
    list: (period: MemberPeriod) => Page<Entry>,
  ): Page<Entry> =>
    snapshot.read(() => {
      const cooperative = visible === null ? undefined : selectCooperative.get(memberId);
      const isShown = visible === null || (cooperative !== undefined && isVisible(visible, cooperative.id));
      return isShown ? list({ memberId, from, to }) : { count: 0, rows: [] };
    });

  return (visible: Visible) => ({
    deliveries: {
      ...openWrites(dependencies, membersOf(visible), deliveryRules),
      list: (memberId: number, { product, ...period }: DeliveryFilter, request: PageRequest) =>
        read(memberId, visible, period, (bounds) => {
          const products = product === undefined ? null : productsLike(bounds, product);
          return deliveries({ ...bounds, products }, request);
        }),
    },
    savingsTransactions: {
      ...openWrites(dependencies, membersOf(visible), savingsRules),
      list: (memberId: number, period: Period, request: PageRequest) =>
        read(memberId, visible, period, (bounds) => transactions(bounds, request)),
    },
  });
}
