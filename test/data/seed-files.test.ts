// Checks that the committed seed files are what the generator writes and keep what they promise.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { generateSeed } from '../../data/generate-seed.ts';
import { SEED_ANCHOR_DATE } from '../../data/seed-anchor.ts';
import { SECTORS } from '../../src/domain/membership/cooperatives.ts';

type Row = Record<string, string>;

const FOLDER = join(import.meta.dirname, '..', '..', 'data', 'seed');
const ACTIVITY_FILES = ['production', 'loans', 'savings'] as const;
const DATE = /^\d{4}-\d\d-\d\d$/;
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+02:00$/;
const CENTS = /^\d{1,9}\.\d\d$/;

const DISTRICTS: Record<string, string> = {
  Kigali: 'Gasabo Kicukiro Nyarugenge',
  North: 'Burera Gakenke Gicumbi Musanze Rulindo',
  South: 'Gisagara Huye Kamonyi Muhanga Nyamagabe Nyanza Nyaruguru Ruhango',
  East: 'Bugesera Gatsibo Kayonza Kirehe Ngoma Nyagatare Rwamagana',
  West: 'Karongi Ngororero Nyabihu Nyamasheke Rubavu Rusizi Rutsiro',
};

const COLUMNS: Record<string, string> = {
  cooperatives: 'code,name,sector,province,district,registration_date,status',
  members:
    'cooperative_code,identity_card,member_code,full_name,first_name,last_name,gender,date_of_birth,' +
    'mobile,role,status,registration_date',
  production: 'cooperative_code,member_code,reference,delivered_at,kg,product',
  loans:
    'cooperative_code,member_code,reference,amount,interest_rate,status,paid_amount,' +
    'loan_start_date,loan_end_date,approved_at',
  savings: 'cooperative_code,member_code,account_number,reference,kind,amount,transacted_at',
};

// Every column whose values have one form; an optional value may be empty.
const FORMS: Record<string, Record<string, RegExp>> = {
  cooperatives: {
    code: /^[A-Z0-9-]{1,32}$/,
    name: /^.{1,200}$/,
    sector: new RegExp(`^(${SECTORS.join('|')})$`),
    registration_date: DATE,
    status: /^(active|inactive|dissolved)$/,
  },
  members: {
    identity_card: /^[123]\d{4}[78]\d{10}$/,
    member_code: /^[A-Z]{3}-\d{5}$/,
    full_name: /^\S+( \S+)+$/,
    first_name: /^.{0,200}$/,
    last_name: /^.{0,200}$/,
    gender: /^(MALE|FEMALE)?$/,
    date_of_birth: /^(\d{4}-\d\d-\d\d)?$/,
    mobile: /^(\+2507[2389]\d{7})?$/,
    role: /^(MEMBER|PRESIDENT|VICE_PRESIDENT|SECRETARY|TREASURER|ADVISOR|AUDITOR|MANAGER)$/,
    status: /^(active|inactive|suspended|withdrawn|deceased)$/,
    registration_date: DATE_TIME,
  },
  production: {
    reference: /^P-\d{5}$/,
    delivered_at: DATE_TIME,
    kg: /^(?!0*\.?0*$)\d{1,6}(\.\d{0,2}[1-9])?$/,
    product: /^[a-z ]{1,100}$/,
  },
  loans: {
    reference: /^L-\d{4}$/,
    amount: CENTS,
    interest_rate: /^(1[89]|2[0-3])(\.5)?$|^24$/,
    paid_amount: CENTS,
  },
  savings: {
    account_number: /^SAV-\d{5}-\d$/,
    reference: /^S-\d{5}$/,
    kind: /^(contribution|withdrawal)$/,
    amount: /^(?!0+\.00$)\d{1,9}\.\d\d$/,
    transacted_at: DATE_TIME,
  },
};

function readText(file: string): string {
  return readFileSync(join(FOLDER, file), 'utf8');
}

const tables = new Map<string, Row[]>(
  Object.keys(COLUMNS).map((name) => [name, parse<Row>(readText(`${name}.csv`), { columns: true })]),
);

function rowsOf(name: string): Row[] {
  return tables.get(name) ?? [];
}

function groupBy(rows: readonly Row[], ...columns: string[]): Map<string, Row[]> {
  return Map.groupBy(rows, (row) => columns.map((column) => row[column]).join(' '));
}

function membershipKey(row: Row | undefined): string {
  return `${row?.cooperative_code} ${row?.member_code}`;
}

function cents(amount: string | undefined): number {
  return Math.round(Number(amount) * 100);
}

function assertShare(part: number, whole: number, low: number, high: number, what: string): void {
  assert.ok(part / whole >= low && part / whole <= high, `${what}: ${part} of ${whole}`);
}

function assertBetween(value: number, low: number, high: number, what: string): void {
  assert.ok(value >= low && value <= high, `${what}: ${value}`);
}

function dayBefore(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) - days * 86_400_000).toISOString().slice(0, 10);
}

const memberships = new Map(rowsOf('members').map((row) => [membershipKey(row), row]));
const persons = groupBy(rowsOf('members'), 'identity_card');

test('the committed files equal the generated ones byte for byte', () => {
  const generated = generateSeed();
  assert.deepEqual(readdirSync(FOLDER).sort(), [...generated.keys()].sort());
  for (const [name, text] of generated) {
    assert.ok(readFileSync(join(FOLDER, name)).equals(Buffer.from(text)), `${name} is not as generated`);
  }
});

test('the generator gives the same text at every run', () => {
  assert.deepEqual(generateSeed(), generateSeed());
});

test('anchor.txt is one line with the anchor day', () => {
  assert.equal(readText('anchor.txt'), `${SEED_ANCHOR_DATE}\n`);
  assert.match(SEED_ANCHOR_DATE, DATE);
});

test('the files are small plain UTF-8 with line feeds and the promised columns', () => {
  let bytes = 0;
  for (const [name, header] of Object.entries(COLUMNS)) {
    const text = readText(`${name}.csv`);
    bytes += Buffer.byteLength(text);
    assert.equal(text.split('\n', 1)[0], header, `header of ${name}`);
    assert.ok(text.endsWith('\n'), `${name} ends its last line`);
    assert.doesNotMatch(
      text.replaceAll('\n', ''),
      /[\p{Cc}\u{feff}\u{fffd}]/u,
      `control character in ${name}`,
    );
  }
  assertBetween(bytes, 1, 4_000_000, 'bytes');
});

test('every value has the form of its column', () => {
  for (const [name, forms] of Object.entries(FORMS)) {
    for (const row of rowsOf(name)) {
      for (const [column, form] of Object.entries(forms)) {
        assert.match(row[column] ?? 'missing', form, `${name}.${column} in ${JSON.stringify(row)}`);
      }
    }
  }
});

test('cooperatives are in all thirty districts, in the right province', () => {
  const expected = Object.entries(DISTRICTS).flatMap(([province, names]) =>
    names.split(' ').map((district) => `${province} ${district}`),
  );
  assert.deepEqual(
    [...groupBy(rowsOf('cooperatives'), 'province', 'district').keys()].sort(),
    expected.sort(),
  );
});

test('cooperatives number about forty in the promised mix of sectors', () => {
  const all = rowsOf('cooperatives');
  const sectors = groupBy(all, 'sector');
  const count = (...names: string[]) =>
    names.reduce((sum, name) => sum + (sectors.get(name)?.length ?? 0), 0);
  assertBetween(all.length, 38, 42, 'cooperatives');
  assertShare(count('agriculture', 'livestock'), all.length, 0.43, 0.47, 'agriculture and livestock');
  assertShare(count('trading'), all.length, 0.11, 0.15, 'trading');
  assertShare(count('handicraft'), all.length, 0.09, 0.13, 'handicraft');
  assertShare(count('services'), all.length, 0.08, 0.12, 'services');
  for (const sector of ['transport', 'housing', 'mining', 'fishing', 'savings_credit']) {
    assert.ok(count(sector) > 0, `a cooperative for ${sector}`);
  }
  const closed = all.filter((row) => row.status !== 'active');
  assertBetween(closed.length, 2, 5, 'cooperatives not active');
});

test('savings and credit cooperatives are the ones called SACCO', () => {
  for (const row of rowsOf('cooperatives')) {
    assert.equal(row.name?.endsWith(' SACCO'), row.sector === 'savings_credit', row.name);
  }
});

test('every cooperative has each office once or more, one president', () => {
  for (const [code, rows] of groupBy(rowsOf('members'), 'cooperative_code')) {
    const roles = groupBy(rows, 'role');
    for (const role of ['PRESIDENT', 'VICE_PRESIDENT', 'SECRETARY', 'TREASURER', 'MANAGER']) {
      assert.equal(roles.get(role)?.length, 1, `${role} of ${code}`);
    }
    for (const role of ['ADVISOR', 'AUDITOR']) assert.ok(roles.has(role), `${role} of ${code}`);
  }
});

test('members are 2,000 persons in about 2,250 memberships', () => {
  assert.equal(persons.size, 2_000);
  assertBetween(rowsOf('members').length, 2_200, 2_300, 'memberships');
});

test('a tenth of the persons belong to two to four cooperatives under different spellings', () => {
  const several = [...persons.values()].filter((rows) => rows.length > 1);
  assert.equal(several.length, 200);
  assert.deepEqual([...new Set(several.map((rows) => rows.length))].sort(), [2, 3, 4]);
  for (const rows of several) {
    const spellings = new Set(rows.map((row) => row.full_name?.toLowerCase()));
    assert.equal(spellings.size, rows.length, [...spellings].join(' | '));
  }
});

test('national IDs have an order number that no one holds', () => {
  for (const identityCard of persons.keys()) {
    assert.match(identityCard, /^\d{6}9\d{9}$/, 'order number of at least 9000000');
  }
  const orders = new Set([...persons.keys()].map((identityCard) => identityCard.slice(6, 13)));
  assert.equal(orders.size, persons.size, 'order numbers are distinct');
});

test('national IDs end in every digit', () => {
  const endings = new Set([...persons.keys()].map((identityCard) => identityCard.slice(-1)));
  assert.equal(endings.size, 10);
});

test('birth and gender agree with the national ID', () => {
  for (const row of rowsOf('members')) {
    const { identity_card: card = '', date_of_birth: birth, gender } = row;
    if (birth) assert.equal(birth.slice(0, 4), card.slice(1, 5), `birth year of ${card}`);
    if (gender) assert.equal(gender, card[5] === '8' ? 'MALE' : 'FEMALE', `gender of ${card}`);
  }
});

test('persons mix as promised: men, first of January, empty columns, statuses', () => {
  const rows = rowsOf('members');
  const men = [...persons.keys()].filter((identityCard) => identityCard[5] === '8').length;
  assertShare(men, persons.size, 0.54, 0.58, 'men');
  const share = (test: (row: Row) => boolean) => rows.filter(test).length;
  assertShare(
    share((row) => row.date_of_birth?.endsWith('-01-01') === true),
    rows.length,
    0.2,
    0.5,
    'first of January',
  );
  for (const column of ['gender', 'date_of_birth', 'mobile', 'first_name']) {
    assertShare(
      share((row) => row[column] === ''),
      rows.length,
      0.01,
      0.4,
      `empty ${column}`,
    );
  }
  assertShare(
    share((row) => row.status === 'active'),
    rows.length,
    0.8,
    0.95,
    'active',
  );
  assert.equal(groupBy(rows, 'status').size, 5, 'every status occurs');
});

test('members joined as adults, not before their cooperative was registered', () => {
  const cooperatives = new Map(rowsOf('cooperatives').map((row) => [row.code, row]));
  for (const row of rowsOf('members')) {
    const joined = row.registration_date ?? '';
    const registered = cooperatives.get(row.cooperative_code)?.registration_date ?? '9999';
    assert.ok(
      Date.parse(joined) >= Date.parse(registered),
      `joined before registration: ${JSON.stringify(row)}`,
    );
    const age = Number(joined.slice(0, 4)) - Number(row.identity_card?.slice(1, 5));
    assert.ok(age >= 18, `joined at ${age}: ${JSON.stringify(row)}`);
  }
});

test('nothing but the planned end of a loan is on or after the anchor day', () => {
  const dated: Record<string, string[]> = {
    cooperatives: ['registration_date'],
    members: ['registration_date', 'date_of_birth'],
    production: ['delivered_at'],
    loans: ['approved_at', 'loan_start_date'],
    savings: ['transacted_at'],
  };
  for (const [name, columns] of Object.entries(dated)) {
    for (const row of rowsOf(name)) {
      for (const column of columns)
        assert.ok((row[column] ?? '9999') < SEED_ANCHOR_DATE, JSON.stringify(row));
    }
  }
  const ends = rowsOf('loans').filter((row) => (row.loan_end_date ?? '') > SEED_ANCHOR_DATE);
  assert.ok(ends.length > 0, 'some loans end after the anchor');
});

test('every reference to a cooperative and to a member resolves', () => {
  const codes = new Set(rowsOf('cooperatives').map((row) => row.code));
  for (const row of rowsOf('members')) assert.ok(codes.has(row.cooperative_code), JSON.stringify(row));
  for (const name of ACTIVITY_FILES) {
    for (const row of rowsOf(name)) assert.ok(memberships.has(membershipKey(row)), JSON.stringify(row));
  }
});

test('codes, members, cards and references are unique where they must be', () => {
  const unique: [string, ...string[]][] = [
    ['cooperatives', 'code'],
    ['cooperatives', 'name'],
    ['members', 'cooperative_code', 'member_code'],
    ['members', 'cooperative_code', 'identity_card'],
    ['production', 'cooperative_code', 'reference'],
    ['loans', 'cooperative_code', 'reference'],
    ['savings', 'cooperative_code', 'reference'],
  ];
  for (const [name, ...columns] of unique) {
    assert.equal(
      groupBy(rowsOf(name), ...columns).size,
      rowsOf(name).length,
      `${name}: ${columns.join(' + ')}`,
    );
  }
});

test('rows are grouped by cooperative in the order of cooperatives.csv', () => {
  const order = rowsOf('cooperatives').map((row) => row.code);
  for (const name of ['members', ...ACTIVITY_FILES]) {
    const positions = rowsOf(name).map((row) => order.indexOf(row.cooperative_code));
    assert.ok(
      positions.every((position, index) => index === 0 || position >= (positions[index - 1] ?? 0)),
      name,
    );
  }
});

test('production stays under 30,000 entries by members who had joined', () => {
  const rows = rowsOf('production');
  assertBetween(rows.length, 24_000, 29_999, 'production entries');
  for (const row of rows) {
    const joined = memberships.get(membershipKey(row))?.registration_date ?? '9999';
    assert.ok((row.delivered_at ?? '') >= joined, `delivered before joining: ${JSON.stringify(row)}`);
  }
});

test('production comes from agriculture, livestock and fishing only', () => {
  const sectors = new Map(rowsOf('cooperatives').map((row) => [row.code, row.sector]));
  const delivering = new Set(rowsOf('production').map((row) => sectors.get(row.cooperative_code)));
  assert.deepEqual([...delivering].sort(), ['agriculture', 'fishing', 'livestock']);
});

test('production fills each of the 365 days before the anchor', () => {
  const days = new Set(rowsOf('production').map((row) => row.delivered_at?.slice(0, 10)));
  const expected = Array.from({ length: 365 }, (_, index) => dayBefore(SEED_ANCHOR_DATE, 365 - index));
  assert.deepEqual([...days].sort(), expected);
});

test('crops keep their seasons and usual quantities', () => {
  // Product, first and last month, entries a member, mean kilograms a member.
  const crops: [string, string, string, number, number, number, number][] = [
    ['coffee cherries', '03', '07', 1, 60, 600, 860],
    ['green tea leaf', '01', '12', 1, 100, 1_200, 6_000],
    ['milk', '01', '12', 1, 730, 300, 1_500],
    ['maize', '01', '07', 1, 4, 500, 2_000],
    ['dry beans', '01', '06', 1, 4, 100, 800],
    ['paddy rice', '05', '12', 1, 4, 500, 3_000],
  ];
  for (const [product, firstMonth, lastMonth, fewest, most, lightest, heaviest] of crops) {
    const rows = rowsOf('production').filter((row) => row.product === product);
    const producers = groupBy(rows, 'cooperative_code', 'member_code');
    for (const [key, entries] of producers)
      assertBetween(entries.length, fewest, most, `${product} of ${key}`);
    const total = rows.reduce((sum, row) => sum + Number(row.kg), 0);
    assertBetween(total / producers.size, lightest, heaviest, `mean kilograms of ${product}`);
    for (const row of rows) {
      const month = row.delivered_at?.slice(5, 7) ?? '';
      assert.ok(month >= firstMonth && month <= lastMonth, `${product} in month ${month}`);
    }
  }
});

test('cows give half in July and August', () => {
  const milk = rowsOf('production').filter(
    (row) => row.product === 'milk' && !row.member_code?.endsWith('-00001'),
  );
  const mean = (rows: Row[]) => rows.reduce((sum, row) => sum + Number(row.kg), 0) / rows.length;
  const isDry = (row: Row) => /^\d{4}-0[78]/.test(row.delivered_at ?? '');
  assertBetween(mean(milk.filter(isDry)) / mean(milk.filter((row) => !isDry(row))), 0.4, 0.6, 'dry to usual');
  assertBetween(mean(milk.filter((row) => !isDry(row))), 9, 11, 'kilograms a day');
});

test('one member delivers milk twice a day: 730 entries', () => {
  const producers = groupBy(rowsOf('production'), 'cooperative_code', 'member_code');
  const twiceDaily = [...producers.values()].filter((rows) => rows.length === 730);
  assert.equal(twiceDaily.length, 1);
  assert.equal(groupBy(twiceDaily[0] ?? [], 'product').size, 1);
  const days = Map.groupBy(twiceDaily[0] ?? [], (row) => row.delivered_at?.slice(0, 10));
  assert.ok([...days.values()].every((rows) => rows.length === 2));
});

test('the first member is a showcase: active in several cooperatives, with everything in each', () => {
  const own = persons.get(rowsOf('members')[0]?.identity_card ?? '') ?? [];
  assert.ok(own.length >= 2);
  for (const membership of own) {
    assert.equal(membership.status, 'active');
    const mine = (name: string) =>
      rowsOf(name).filter((row) => membershipKey(row) === membershipKey(membership));
    assert.ok(mine('production').length > 0, `production in ${membership.cooperative_code}`);
    assert.ok(mine('savings').length > 0, `savings in ${membership.cooperative_code}`);
    const running = mine('loans').filter((row) => row.status === 'approved');
    assert.ok(running.length > 0, `approved loan in ${membership.cooperative_code}`);
  }
});

test('loans go to 4 to 10 % of memberships, a few of which have more than ten', () => {
  const borrowers = groupBy(rowsOf('loans'), 'cooperative_code', 'member_code');
  assertShare(borrowers.size, memberships.size, 0.04, 0.1, 'borrowers');
  const frequent = [...borrowers.values()].filter((rows) => rows.length > 10);
  assertBetween(frequent.length, 2, 6, 'frequent borrowers');
});

test('loan amounts are between 50,000 and 10,000,000 with a median near 400,000', () => {
  const amounts = rowsOf('loans')
    .map((row) => Number(row.amount))
    .sort((left, right) => left - right);
  assert.ok((amounts[0] ?? 0) >= 50_000, 'smallest');
  assert.ok((amounts.at(-1) ?? 0) <= 10_000_000, 'largest');
  assertBetween(amounts[Math.floor(amounts.length / 2)] ?? 0, 350_000, 450_000, 'median');
});

test('loan fields agree with the status', () => {
  // For each status: approved_at, loan_start_date with loan_end_date, and the paid share.
  const rules: Record<string, [boolean, boolean | undefined, (share: number) => boolean]> = {
    pending: [false, false, (share) => share === 0],
    rejected: [false, false, (share) => share === 0],
    cancelled: [false, false, (share) => share === 0],
    approved: [true, undefined, (share) => share < 1],
    paid: [true, true, (share) => share === 1],
    defaulted: [true, true, (share) => share > 0 && share < 1],
  };
  for (const row of rowsOf('loans')) {
    const [isApproved, isStarted = row.loan_start_date !== '', paidFits] =
      rules[row.status ?? ''] ?? assert.fail();
    const text = JSON.stringify(row);
    assert.equal(DATE_TIME.test(row.approved_at ?? ''), isApproved, text);
    assert.equal(DATE_TIME.test(row.loan_start_date ?? ''), isStarted, text);
    assert.equal(DATE_TIME.test(row.loan_end_date ?? ''), isStarted, text);
    assert.ok(paidFits(cents(row.paid_amount) / cents(row.amount)), text);
    if (!isStarted) assert.equal(row.paid_amount, '0.00', text);
  }
  assert.deepEqual([...groupBy(rowsOf('loans'), 'status').keys()].sort(), Object.keys(rules).sort());
  const unstarted = rowsOf('loans').filter((row) => row.status === 'approved' && row.loan_start_date === '');
  assertBetween(unstarted.length, 1, 30, 'approved loans not yet started');
});

test('loan dates follow each other: joined, approved, started, ended 6 to 36 months later', () => {
  for (const row of rowsOf('loans').filter((one) => one.approved_at !== '')) {
    const { approved_at: approved = '', loan_start_date: start = '', loan_end_date: end = '' } = row;
    const joined = memberships.get(membershipKey(row))?.registration_date ?? '9999';
    assert.ok(joined < approved, `approved before joining: ${JSON.stringify(row)}`);
    if (start === '') continue;
    assert.ok(approved <= start, `started before approval: ${JSON.stringify(row)}`);
    const days = (Date.parse(end) - Date.parse(start)) / 86_400_000;
    assertBetween(days, 6 * 30 - 4, 36 * 30.5 + 1, `days of ${JSON.stringify(row)}`);
    if (row.status !== 'approved') assert.ok(end < SEED_ANCHOR_DATE, `ended: ${JSON.stringify(row)}`);
  }
});

test('savings stay under 12,000 rows: about 60 % of memberships, about RWF 41,000 each', () => {
  const savers = groupBy(rowsOf('savings'), 'cooperative_code', 'member_code');
  const accounts = groupBy(rowsOf('savings'), 'cooperative_code', 'account_number');
  assertBetween(rowsOf('savings').length, 1, 11_999, 'rows');
  assertShare(savers.size, memberships.size, 0.57, 0.63, 'savers');
  assertBetween(accounts.size - savers.size, 10, 100, 'second accounts');
  const balance = rowsOf('savings').reduce(
    (sum, row) => sum + (row.kind === 'withdrawal' ? -1 : 1) * cents(row.amount),
    0,
  );
  assertBetween(balance / 100 / savers.size, 39_000, 43_000, 'mean balance');
});

test('a savings account belongs to one member, who had joined', () => {
  for (const [account, rows] of groupBy(rowsOf('savings'), 'cooperative_code', 'account_number')) {
    assert.equal(groupBy(rows, 'member_code').size, 1, account);
    const joined = memberships.get(membershipKey(rows[0]))?.registration_date ?? '9999';
    for (const row of rows) assert.ok((row.transacted_at ?? '') > joined, JSON.stringify(row));
  }
});

test('withdrawals never exceed what was contributed before', () => {
  let withdrawals = 0;
  for (const [account, rows] of groupBy(rowsOf('savings'), 'cooperative_code', 'account_number')) {
    let balance = 0;
    for (const row of rows.toSorted((a, b) => ((a.transacted_at ?? '') < (b.transacted_at ?? '') ? -1 : 1))) {
      if (row.kind === 'withdrawal') withdrawals += 1;
      balance += (row.kind === 'withdrawal' ? -1 : 1) * cents(row.amount);
      assert.ok(balance >= 0, `${account} at ${row.reference}`);
    }
  }
  assertShare(withdrawals, rowsOf('savings').length, 0.02, 0.15, 'withdrawals');
});
