/** The demo files have what data/README.md promises. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { SECTORS } from '../../src/registry/cooperatives.ts';
import { LOAN_STATUSES } from '../../src/registry/loans.ts';
import { MEMBER_STATUSES, ROLES } from '../../src/registry/members.ts';

type Row = Record<string, string>;

const FOLDER = join(import.meta.dirname, '..', '..', 'data', 'seed');
const [cooperatives, members, production, loans, savings] = [
  'cooperatives',
  'members',
  'production',
  'loans',
  'savings',
].map((name) => parse<Row>(readFileSync(join(FOLDER, `${name}.csv`)), { columns: true })) as [
  Row[],
  Row[],
  Row[],
  Row[],
  Row[],
];
/** The day on which the data ends. */
const ANCHOR = readFileSync(join(FOLDER, 'anchor.txt'), 'utf8').trim();
const groupBy = (rows: readonly Row[], ...columns: string[]) =>
  Map.groupBy(rows, (row) => columns.map((column) => row[column]).join(' '));
const persons = groupBy(members, 'identity_card');

test('national IDs have an order number that no one holds, and end in every digit', () => {
  for (const identityCard of persons.keys()) assert.match(identityCard, /^[123]\d{4}[78]9\d{9}$/);
  assert.equal(new Set([...persons.keys()].map((card) => card.slice(6, 13))).size, persons.size);
  assert.equal(new Set([...persons.keys()].map((card) => card.slice(-1))).size, 10);
});

test('a tenth of 2,000 persons belong to two to four cooperatives under different spellings', () => {
  assert.equal(persons.size, 2_000);
  const several = [...persons.values()].filter((rows) => rows.length > 1);
  assert.equal(several.length, 200);
  assert.deepEqual([...new Set(several.map((rows) => rows.length))].sort(), [2, 3, 4]);
  for (const rows of several)
    assert.equal(new Set(rows.map((row) => row.full_name?.toLowerCase())).size, rows.length);
});

test('each choice occurs, and all thirty districts', () => {
  for (const [rows, column, choices] of [
    [cooperatives, 'sector', SECTORS.filter((sector) => sector !== 'other')],
    [members, 'status', MEMBER_STATUSES],
    [members, 'role', ROLES],
    [members, 'gender', ['', 'FEMALE', 'MALE']],
    [loans, 'status', LOAN_STATUSES],
    [savings, 'kind', ['contribution', 'withdrawal']],
  ] as const)
    assert.deepEqual([...groupBy(rows, column).keys()].sort(), [...choices].sort(), column);
  assert.equal(groupBy(cooperatives, 'province', 'district').size, 30);
});

test('the first member is active in several cooperatives, with everything in each', () => {
  const own = persons.get(members[0]?.identity_card ?? '') ?? [];
  assert.ok(own.length >= 2);
  for (const { cooperative_code, member_code, status } of own) {
    assert.equal(status, 'active');
    const isTheirs = (row: Row) =>
      row.cooperative_code === cooperative_code && row.member_code === member_code;
    assert.ok(production.some(isTheirs), cooperative_code);
    assert.ok(savings.some(isTheirs), cooperative_code);
    assert.ok(
      loans.filter(isTheirs).some((loan) => loan.status === 'approved'),
      cooperative_code,
    );
  }
});

test('one member delivers milk twice a day, and there are deliveries on each of 365 days', () => {
  const producers = [...groupBy(production, 'cooperative_code', 'member_code').values()];
  assert.equal(producers.filter((rows) => rows.length === 730).length, 1);
  const days = new Set(production.map((row) => row.delivered_at?.slice(0, 10)));
  assert.equal(days.size, 365);
});

test('nothing but the planned end of a loan is on or after the anchor day', () => {
  for (const row of [...cooperatives, ...members, ...production, ...loans, ...savings])
    for (const [column, value] of Object.entries(row))
      if (/date|_at$/.test(column) && column !== 'loan_end_date')
        assert.ok(value < ANCHOR, JSON.stringify(row));
  assert.ok(loans.some((row) => (row.loan_end_date ?? '') > ANCHOR));
});

test('withdrawals never exceed what was contributed before', () => {
  for (const [account, rows] of groupBy(savings, 'cooperative_code', 'account_number')) {
    let balance = 0;
    for (const row of rows.toSorted((a, b) => ((a.transacted_at ?? '') < (b.transacted_at ?? '') ? -1 : 1))) {
      balance += (row.kind === 'withdrawal' ? -100 : 100) * Number(row.amount);
      assert.ok(Math.round(balance) >= 0, `${account} at ${row.reference}`);
    }
  }
});
