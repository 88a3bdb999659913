/** `entries list` and `entries remove`: single deliveries, savings transactions and loans. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { fieldsOfBits, typeOfCode } from '../../src/registry/changes/event-types.ts';
import { type ImportPlace, LOANS_HEADER, SAVINGS_HEADER, startedPlace } from '../support/importing.ts';

const WHY = ['--reason', 'Recorded twice by the clerk'];
const ONE = ['--cooperative', 'A-1', '--reference'];

/** Two deliveries, two savings transactions and a loan of member 1; a delivery of member 2. */
async function start(context: TestContext): Promise<ImportPlace> {
  const place = await startedPlace(context);
  await place.load(
    'production',
    'cooperative_code,member_code,reference,delivered_at,kg,product\n' +
      'A-1,M-1,P-1,2025-06-01,10.5,Coffee\nA-1,M-1,P-2,2025-06-02,7,\nA-1,M-2,P-3,2025-06-02,1,\n',
  );
  await place.load(
    'savings',
    `${SAVINGS_HEADER}\nA-1,M-1,S-1,T-1,contribution,100,2025-06-01\n` +
      'A-1,M-1,S-1,T-2,withdrawal,40,2025-06-02\n',
  );
  await place.load('loans', `${LOANS_HEADER}\nA-1,M-1,L-1,1000,12,approved,,2025-01-01,,2025-01-01\n`);
  return place;
}

const TABLES = ['production_entries', 'savings_transactions', 'loans', 'production_counts', 'loan_counts'];
const rowsOf = (place: ImportPlace) => TABLES.map((table) => place.query(`SELECT * FROM ${table}`));
const lookup = (place: ImportPlace) =>
  place.query('SELECT production, loans, savings FROM members ORDER BY id');

test('entries list shows the entries of a member, or the one with a reference, with their values', async (context) => {
  const place = await start(context);
  const text = await place.command('entries', 'list', 'production', '--member', '1');
  assert.equal(text.status, 0, text.err);
  assert.equal(
    text.out,
    'ID  COOPERATIVE  MEMBER_ID  MEMBER_CODE  REFERENCE  DELIVERED_AT               KG      PRODUCT\n' +
      '1   A-1          1          M-1          P-1        2025-06-01T00:00:00+02:00  10.500  Coffee\n' +
      '2   A-1          1          M-1          P-2        2025-06-02T00:00:00+02:00  7.000\n',
  );
  const listed = async (...args: string[]) =>
    JSON.parse((await place.command('entries', 'list', ...args, '--json')).out).entries;
  assert.deepEqual(await listed('savings', ...ONE, 'T-2'), [
    {
      ...{ id: '2', cooperative: 'A-1', member_id: '1', member_code: 'M-1', account_number: 'S-1' },
      ...{ reference: 'T-2', kind: 'withdrawal', amount: '40.00' },
      transacted_at: '2025-06-02T00:00:00+02:00',
    },
  ]);
  const [loan] = await listed('loans', '--member', '1');
  assert.deepEqual(
    [loan.reference, loan.amount, loan.opening_balance, loan.payments],
    ['L-1', '1000.00', '0.00', '0'],
  );
  assert.deepEqual(await listed('loans', '--member', '2'), []);
});

for (const [kind, reference, text, event] of [
  ['production', 'P-1', '1 delivery removed', { type: 'member', fields: ['production_summary'] }],
  ['savings', 'T-1', '1 savings transaction removed', { type: 'member', fields: ['savings_summary'] }],
  ['loans', 'L-1', '1 loan removed', { type: 'loan', fields: [] }],
] as const) {
  test(`entries remove ${kind} takes the entry out of lookups and counts, and its undo puts it back`, async (context) => {
    const place = await start(context);
    const [rows, shown] = [rowsOf(place), lookup(place)];
    const dry = await place.command(
      'entries',
      'remove',
      '--yes',
      kind,
      ...ONE,
      reference,
      ...WHY,
      '--dry-run',
    );
    assert.equal(dry.status, 0, dry.err);
    assert.deepEqual(rowsOf(place), rows);
    const done = await place.command('entries', 'remove', '--yes', kind, ...ONE, reference, ...WHY);
    assert.equal(done.status, 0, done.err);
    assert.ok(done.out.includes(text), done.out);
    assert.notDeepEqual(rowsOf(place), rows);
    assert.notDeepEqual(lookup(place), shown);
    assert.doesNotMatch(JSON.stringify(lookup(place)), /""/);
    assert.equal((await place.command('check')).status, 0);
    const { type, fields } = place.query<{ type: number; fields: number }>(
      'SELECT type, fields FROM events ORDER BY sequence DESC LIMIT 1',
    )[0] as { type: number; fields: number };
    assert.equal(typeOfCode(type), event.type === 'loan' ? 'loan.deleted' : 'member.updated');
    assert.deepEqual(fieldsOfBits(event.type, fields), event.fields);
    assert.equal((await place.command('imports', 'undo', '--yes', '6')).status, 0);
    assert.deepEqual(
      rowsOf(place).map((each) => each.map(({ updated_at: _, ...row }) => row)),
      rows.map((each) => each.map(({ updated_at: _, ...row }) => row)),
    );
    assert.equal((await place.command('check')).status, 0);
  });
}

test('entries remove removes all entries of a kind of a member, and of nobody else', async (context) => {
  const place = await start(context);
  const done = await place.command('entries', 'remove', '--yes', 'production', '--member', '1', ...WHY);
  assert.match(done.out, / {2}member 1: A-1 M-1, Person 1 \(stays\)\n {2}2 deliveries removed\n/);
  assert.match(done.out, /Note: Total: 17\.500 kg, from 2025-06-01 to 2025-06-02\.\n/);
  assert.deepEqual(place.query('SELECT reference FROM production_entries'), [{ reference: 'P-3' }]);
  const sums = async (kind: string) =>
    (await place.command('entries', 'remove', kind, '--member', '1', ...WHY, '--dry-run')).out
      .split('\n')
      .filter((line) => line.includes('Note'));
  assert.deepEqual(await sums('savings'), [
    '  Note: Total: 100.00 Frw of contributions, on 2025-06-01.',
    '  Note: Total: 40.00 Frw of withdrawals, on 2025-06-02.',
  ]);
  assert.deepEqual(await sums('loans'), ['  Note: Total: 1000.00 Frw, on 2025-01-01.']);
});

test('a loan with payments is not removed: the payments are listed', async (context) => {
  const place = await start(context);
  place.query(
    `INSERT INTO payments (cooperative_id, loan_id, reference, amount_minor, method, status, paid_at,
       created_at, updated_at) VALUES (1, 1, 'Y-1', 5, 'cash', 'void', 1, 1, 1) RETURNING id`,
  );
  const refused = await place.command('entries', 'remove', '--yes', 'loans', '--member', '1', ...WHY);
  assert.equal(refused.status, 1);
  assert.equal(
    refused.err,
    'A loan with payments cannot be removed. Nothing was changed.\n' +
      '  payment Y-1: It belongs to the loan L-1.\n',
  );
  assert.equal(place.value('SELECT count(*) FROM loans'), 1);
});

test('entries are refused when nothing or too much is selected', async (context) => {
  const place = await start(context);
  const run = async (...args: string[]) => (await place.command('entries', ...args)).status;
  assert.equal(await run('remove', 'production', ...ONE, 'P-9', ...WHY), 1);
  assert.equal(await run('remove', 'production', ...WHY), 2);
  assert.equal(await run('remove', 'production', '--member', '1', ...ONE, 'P-1', ...WHY), 2);
  assert.equal(await run('remove', 'payments', '--member', '1', ...WHY), 2);
  assert.equal(await run('remove', 'production', '--member', 'x', ...WHY), 2);
  assert.equal(await run('remove', 'production', '--member', '1'), 2);
  assert.equal(await run('list', 'production', '--cooperative', 'A-1'), 2);
});
