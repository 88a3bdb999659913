/** Lists, counts and single rows as the service gives them, against all rows. */
import assert from 'node:assert/strict';
import type { RegistryStore } from '../../../src/open-registry.ts';
import type { Awaitable, Page, PageRequest } from '../../../src/values/errors.ts';
import { isErased, type Row, type Rows, rowsOf } from './rows.ts';

const PAGE_SIZE = 3;

/** Reads every page, and one behind the last. @returns the ids */
async function readPages(
  what: string,
  list: (request: PageRequest) => Awaitable<Page<{ readonly id: number }>>,
  expected: readonly Row[],
): Promise<void> {
  const ids = expected.map(({ id }) => id);
  for (let page = 1; page <= Math.ceil(ids.length / PAGE_SIZE) + 1; page++) {
    const { count, rows } = await list({ page, pageSize: PAGE_SIZE });
    const shown = rows.map(({ id }) => id);
    const from = (page - 1) * PAGE_SIZE;
    assert.deepEqual([count, shown], [ids.length, ids.slice(from, from + PAGE_SIZE)], `${what} page ${page}`);
  }
}

const valuesOf = (rows: readonly Row[], column: string): unknown[] => [
  ...new Set(rows.map((row) => row[column])),
];

/** Every combination of values that filters may have, undefined for one that is not given. */
function* filtersOf(
  rows: readonly Row[],
  columns: { readonly [filter: string]: string },
): Generator<{ [filter: string]: unknown }> {
  const [first, ...others] = Object.entries(columns);
  if (first === undefined) return yield {};
  const [filter, column] = first;
  for (const rest of filtersOf(rows, Object.fromEntries(others))) {
    yield rest;
    for (const value of valuesOf(rows, column)) if (value !== null) yield { ...rest, [filter]: value };
  }
}

async function checkLists(store: RegistryStore, rows: Rows): Promise<void> {
  const members = rowsOf(rows, 'member').filter((row) => !isErased(row));
  const loans = rowsOf(rows, 'loan');
  const listed = [
    ['cooperatives', rowsOf(rows, 'cooperative'), { code: 'code', status: 'status' }],
    ['members', members, { status: 'status', cooperativeId: 'cooperative_id' }],
    ['members', members, { identityCard: 'identity_card', status: 'status' }],
    ['members', members, { memberCode: 'member_code', cooperativeId: 'cooperative_id' }],
    ['members', members, { mobile: 'mobile' }],
    ['loans', loans, { status: 'status', cooperativeId: 'cooperative_id' }],
    ['loans', loans, { memberId: 'member_id' }],
    ['payments', rowsOf(rows, 'payment'), { status: 'status', cooperativeId: 'cooperative_id' }],
    ['payments', rowsOf(rows, 'payment'), { loanId: 'loan_id', status: 'status' }],
  ] as const;
  for (const [name, all, columns] of listed)
    for (const filter of filtersOf(all, columns)) {
      const matches = all.filter((row) =>
        Object.entries(columns).every(
          ([key, column]) => filter[key] === undefined || row[column] === filter[key],
        ),
      );
      const list = (request: PageRequest) =>
        store[name].list(filter, request) as Awaitable<Page<{ id: number }>>;
      await readPages(`${name} ${JSON.stringify(filter)}`, list, matches);
    }
}

/** Rows by their ids: all but every third one, and one that does not exist. */
async function checkIds(store: RegistryStore, rows: Rows): Promise<void> {
  for (const [name, all] of [
    ['members', rowsOf(rows, 'member')],
    ['loans', rowsOf(rows, 'loan')],
    ['payments', rowsOf(rows, 'payment')],
  ] as const) {
    const some = all.filter((_, i) => i % 3 > 0);
    const ids = [...some.map(({ id }) => id as number).reverse(), 999_999];
    const visible = some.filter((row) => name !== 'members' || !isErased(row));
    const list = (request: PageRequest) =>
      store[name].list({ ids }, request) as Awaitable<Page<{ id: number }>>;
    await readPages(`${name} by id`, list, visible);
  }
}

/** Newest first; of equal ones the higher id. */
const byInstant = (column: string) => (a: Row, b: Row) =>
  (b[column] as number) - (a[column] as number) || (b.id as number) - (a.id as number);

async function checkEntries({ entries }: RegistryStore, rows: Rows): Promise<void> {
  for (const { id } of rowsOf(rows, 'member')) {
    const deliveries = rowsOf(rows, 'delivery').filter(({ member_id }) => member_id === id);
    const transactions = rowsOf(rows, 'transaction').filter(
      ({ account_id }) => rows.get(`account ${account_id}`)?.member_id === id,
    );
    await readPages(
      `deliveries of ${id}`,
      (request) => entries.deliveries.list(id as number, {}, request),
      deliveries.sort(byInstant('delivered_at')),
    );
    await readPages(
      `transactions of ${id}`,
      (request) => entries.savingsTransactions.list(id as number, {}, request),
      transactions.sort(byInstant('transacted_at')),
    );
  }
}

/** Each row by its id has the values that are stored. */
async function checkRows(store: RegistryStore, rows: Rows): Promise<void> {
  const members = rowsOf(rows, 'member');
  for (const row of rowsOf(rows, 'cooperative')) {
    const found = await store.cooperatives.find(row.id as number);
    const active = members.filter(
      ({ cooperative_id, status }) => cooperative_id === row.id && status === 'active',
    );
    assert.deepEqual(
      [found?.code, found?.name, found?.status, found?.membersCount],
      [row.code, row.name, row.status, active.length],
    );
  }
  for (const row of members.filter((each) => !isErased(each))) {
    const found = await store.members.find(row.id as number);
    assert.deepEqual(
      [found?.cooperativeId, found?.identityCard, found?.memberCode, found?.fullName, found?.mobile],
      [row.cooperative_id, row.identity_card, row.member_code, row.full_name, row.mobile],
    );
  }
  for (const row of rowsOf(rows, 'loan')) {
    const found = await store.loans.find(row.id as number);
    assert.deepEqual(
      [found?.memberId, found?.reference, found?.amountMinor, found?.status, found?.paidAmountMinor],
      [row.member_id, row.reference, row.amount_minor, row.status, row.paid_amount_minor],
    );
  }
  for (const row of rowsOf(rows, 'payment')) {
    const found = await store.payments.find(row.id as number);
    assert.deepEqual(
      [found?.loanId, found?.reference, found?.amountMinor, found?.status, found?.method],
      [row.loan_id, row.reference, row.amount_minor, row.status, row.method],
    );
  }
}

/** @throws AssertionError where a count, a page or a value differs from what the rows say */
export async function checkListed(store: RegistryStore, rows: Rows): Promise<void> {
  await checkLists(store, rows);
  await checkIds(store, rows);
  await checkEntries(store, rows);
  await checkRows(store, rows);
}
