/** Payments files: which loans take them, and what is paid then (docs/import-reference.md#payments). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { checkStorage } from '../../src/check/check.ts';
import { type ImportPlace, incoming, startedPlace } from '../support/importing.ts';
import { quickOrLong } from '../support/quick-or-long.ts';
import { storageAt } from '../support/storage.ts';

const LOANS = 'cooperative_code,member_code,reference,amount,interest_rate,status,paid_amount,paid_until';
const PAYMENTS = 'cooperative_code,loan_reference,reference,amount,method,paid_at,status';
const loans = (...rows: string[]) => `${[LOANS, ...rows].join('\n')}\n`;
const payments = (...rows: string[]) => `${[PAYMENTS, ...rows].join('\n')}\n`;
/** A payment of an approved loan L-1 or of another one, in cash. */
const pay = (reference: string, amount: string, { loan = 'L-1', at = '2025-02-01', status = '' } = {}) =>
  `A-1,${loan},${reference},${amount},cash,${at},${status}`;

/** A place with an approved loan of member 1 without an opening balance, and the given others. */
async function lendingPlace(context: TestContext, ...others: string[]): Promise<ImportPlace> {
  const place = await startedPlace(context);
  await accept(place, 'loans', loans('A-1,M-1,L-1,1000,5,approved,,', ...others));
  return place;
}

async function accept(place: ImportPlace, kind: string, content: string, ...args: string[]): Promise<string> {
  const { status, out, err } = await place.load(kind, content, ...args);
  assert.equal(status, 0, err);
  return out;
}

/** The faults of a file, as `line column message`. */
async function refuse(place: ImportPlace, kind: string, content: string, ...args: string[]) {
  const { status, out } = await place.load(kind, content, '--json', ...args);
  assert.equal(status, 1, out);
  return JSON.parse(out).files[0].errors.map(
    ({ line, column, message }: Record<string, string>) => `${line} ${column}: ${message}`,
  );
}

const LARGEST = '999999999999.99';
const paidOf = (place: ImportPlace, loan = 'L-1') =>
  place.value(`SELECT paid_amount_minor FROM loans WHERE reference = '${loan}'`);

async function assertSound(place: ImportPlace): Promise<void> {
  const faults = (await checkStorage(storageAt(place.databaseFile))).filter(({ fault }) => fault !== null);
  assert.deepEqual(faults, []);
  const differing = `SELECT l.id FROM loans l WHERE paid_amount_minor <> opening_balance_minor +
    (SELECT coalesce(sum(amount_minor), 0) FROM payments WHERE loan_id = l.id AND status = 'recorded')`;
  assert.deepEqual(place.query(differing), []);
}

test('a payment is stored as the file has it, and counts in the paid amount of its loan', async (context) => {
  const place = await lendingPlace(context);
  const out = await accept(
    place,
    'payments',
    payments(
      pay('P-1', '"1,250,000.50"', { at: '2025-02-01T08:30:00' }),
      'A-1,L-1,P-2,10.05,MoMo,2025-02-02,recorded',
      pay('P-3', '7', { status: 'annulé' }),
    ),
  );
  assert.match(out, /payments\.csv: 3 new, 0 changed, 0 unchanged/);
  assert.match(out, /1 loan, 3 payments, 0 savings transactions\n$/);
  assert.deepEqual(
    place
      .query(`SELECT cooperative_id, loan_id, reference, amount_minor, method, status, paid_at,
      created_at = updated_at AS untouched FROM payments ORDER BY id`)
      .map((row) => Object.values(row)),
    [
      [1, 1, 'P-1', 125_000_050, 'cash', 'recorded', Date.UTC(2025, 1, 1, 6, 30) / 1000, 1],
      [1, 1, 'P-2', 1_005, 'mobile_money', 'recorded', Date.UTC(2025, 1, 1, 22) / 1000, 1],
      [1, 1, 'P-3', 700, 'cash', 'void', Date.UTC(2025, 0, 31, 22) / 1000, 1],
    ],
  );
  assert.equal(paidOf(place), 125_001_055);
  // A lookup shows it without computing it.
  assert.match(String(place.value('SELECT loans FROM members WHERE id = 1')), /"paid_amount":"1250010\.55"/);
  await assertSound(place);
});

test('the same payments imported again change nothing', async (context) => {
  const place = await lendingPlace(context);
  const file = payments(pay('P-1', '5'), pay('P-2', '6', { status: 'void' }));
  await accept(place, 'payments', file);
  const before = [place.query('SELECT * FROM payments'), place.query('SELECT * FROM loans')];
  place.clock.advance(60_000);
  assert.match(await accept(place, 'payments', file), /0 new, 0 changed, 2 unchanged/);
  assert.deepEqual([place.query('SELECT * FROM payments'), place.query('SELECT * FROM loans')], before);
});

test('approved, defaulted and paid loans take payments from a file, others do not', async (context) => {
  const place = await lendingPlace(
    context,
    ...['pending', 'approved', 'rejected', 'cancelled', 'paid', 'defaulted'].map(
      (status) => `A-1,M-1,${status},1000,5,${status},,`,
    ),
  );
  const statuses = ['pending', 'approved', 'rejected', 'cancelled', 'paid', 'defaulted'];
  const file = payments(...statuses.map((loan, i) => pay(`P-${i}`, '5', { loan })));
  assert.deepEqual(await refuse(place, 'payments', file), [
    '2 loan_reference: This loan takes no payments: it is pending.',
    '4 loan_reference: This loan takes no payments: it is rejected.',
    '5 loan_reference: This loan takes no payments: it is cancelled.',
  ]);
  await place.load('payments', file, '--skip-invalid');
  assert.equal(place.value('SELECT count(*) FROM payments'), 3);
  await assertSound(place);
});

test('a payment is refused for an unknown or another loan, and for a reference that comes twice', async (context) => {
  const place = await lendingPlace(context, 'A-1,M-2,L-2,1000,5,approved,,');
  await accept(place, 'payments', payments(pay('P-1', '5')));
  const file = payments(
    pay('P-1', '5', { loan: 'L-2' }),
    pay('P-2', '5', { loan: 'L-9' }),
    pay('P-3', '5', { loan: '1198589000123042' }),
    pay('P-4', '5'),
    pay('P-4', '6'),
    pay('P-5', '0', { at: '2099-01-01' }),
    'Z-9,L-1,P-6,5,barter,2025-02-01,',
  );
  assert.deepEqual(await refuse(place, 'payments', file), [
    '2 reference: This reference belongs to a payment of another loan.',
    '3 loan_reference: There is no loan with the reference "L-9" in the cooperative. Import its loans first.',
    '4 loan_reference: There is no loan with this reference in the cooperative. Import its loans first.',
    '6 reference: Same as line 5.',
    '7 amount: Ensure this value is greater than 0.',
    '7 paid_at: This date is in the future.',
    '8 method: "barter" is not a valid choice. Known: cash, bank, mobile_money, deduction.',
    '8 cooperative_code: There is no cooperative with the code "Z-9". Import the cooperatives first.',
  ]);
});

test('a payment that the opening balance includes is refused, with the end of the balance', async (context) => {
  const place = await lendingPlace(context, 'A-1,M-2,L-2,1000,5,approved,100,2025-01-31T18:00:00');
  const file = payments(
    pay('P-1', '5', { loan: 'L-2', at: '2025-01-31T18:00:00' }),
    pay('P-2', '6', { loan: 'L-2', at: '2025-01-31T18:00:01' }),
    pay('P-3', '7', { loan: 'L-2', at: '2025-01-01', status: 'void' }),
  );
  const message =
    'Already counted in the opening balance of this loan, which runs until 2025-01-31T18:00:00+02:00.';
  assert.deepEqual(await refuse(place, 'payments', file), [`2 paid_at: ${message}`]);
  await place.load('payments', file, '--skip-invalid');
  assert.equal(paidOf(place, 'L-2'), 10_600);
  // A correction is checked too.
  const corrected = payments(pay('P-2', '6', { loan: 'L-2', at: '2025-01-30' }));
  assert.deepEqual(await refuse(place, 'payments', corrected), [`2 paid_at: ${message}`]);
  await assertSound(place);
});

test('a stored payment is corrected or made void by a file, on a loan that takes no new ones too', async (context) => {
  const place = await lendingPlace(context);
  await accept(place, 'payments', payments(pay('P-1', '5'), pay('P-2', '6'), pay('P-3', '7')));
  await accept(place, 'loans', loans('A-1,M-1,L-1,1000,5,cancelled,,'));
  place.clock.advance(60_000);
  const file = payments(pay('P-1', '5.5'), pay('P-2', '6', { status: 'void' }), pay('P-3', '7'));
  assert.match(await accept(place, 'payments', file), /0 new, 2 changed, 1 unchanged/);
  assert.equal(paidOf(place), 1_250);
  const times = place.query<{ was: number }>(
    'SELECT updated_at > created_at AS was FROM payments ORDER BY id',
  );
  assert.deepEqual(
    times.map(({ was }) => was),
    [1, 1, 0],
  );
  assert.deepEqual(
    place
      .query(`SELECT entity, row_id, field, old, new FROM changes
      WHERE actor = 'import:6' ORDER BY id`)
      .map((row) => Object.values(row)),
    [
      ['payments', 1, 'amount', 500, 550],
      ['payments', 2, 'status', 'recorded', 'void'],
      ['loans', 1, 'paid_amount', 1_800, 1_250],
    ],
  );
  await assertSound(place);
});

test('a void payment stays void, and its other values cannot be changed', async (context) => {
  const place = await lendingPlace(context);
  const first = payments(pay('P-1', '5', { status: 'recorded' }));
  await accept(place, 'payments', first);
  await accept(place, 'payments', payments(pay('P-1', '5', { status: 'void' })));
  for (const args of [[], ['--overwrite-corrections']]) {
    const [file] = JSON.parse(await accept(place, 'payments', first, '--json', ...args)).files;
    assert.deepEqual([file.changed, file.kept, file.conflicts], [0, 1, [{ line: 2, column: 'status' }]]);
  }
  assert.equal(paidOf(place), 0);
  const changed = payments('A-1,L-1,P-1,6,bank,2025-02-02,');
  assert.deepEqual(await refuse(place, 'payments', changed), [
    '2 amount: This field cannot be changed once the payment is void.',
    '2 method: This field cannot be changed once the payment is void.',
    '2 paid_at: This field cannot be changed once the payment is void.',
  ]);
  await assertSound(place);
});

test('what is paid on a loan has at most 12 digits, however large the payments are', async (context) => {
  const place = await lendingPlace(context, 'A-1,M-2,L-2,1000,5,approved,,');
  const message = 'What is paid on this loan would have more than 12 digits before the decimal point.';
  await accept(
    place,
    'payments',
    payments(pay('P-1', '999999999999.98'), pay('P-2', LARGEST, { loan: 'L-2' })),
  );
  assert.deepEqual(await refuse(place, 'payments', payments(pay('P-3', '0.02'))), [`2 amount: ${message}`]);
  await accept(place, 'payments', payments(pay('P-3', '0.01')));
  assert.equal(paidOf(place), 99_999_999_999_999);
  // One goes as another comes.
  await accept(
    place,
    'payments',
    payments(
      pay('P-4', LARGEST),
      pay('P-1', '1', { status: 'void' }),
      pay('P-3', '0.01', { status: 'void' }),
    ).replace(',P-1,1,', ',P-1,999999999999.98,'),
  );
  assert.equal(paidOf(place), 99_999_999_999_999);
  const many = Array.from({ length: 300 }, (_, i) => pay(`Q-${i}`, LARGEST));
  assert.equal((await refuse(place, 'payments', payments(...many))).length, 300);
  await assertSound(place);
});

test('payments on loans paid beyond three times the amount are imported, with a warning', async (context) => {
  const place = await lendingPlace(context, 'A-1,M-2,L-2,1000,5,approved,,');
  await accept(place, 'payments', payments(pay('P-1', '2900')));
  const warnings = async (...rows: string[]) =>
    JSON.parse(await accept(place, 'payments', payments(...rows), '--json')).files[0].warnings;
  assert.deepEqual(await warnings(pay('P-2', '100'), pay('P-3', '5', { status: 'void' })), []);
  const overpaid = { kind: 'overpaid', stops: false };
  assert.deepEqual(await warnings(pay('Q-1', '3000', { loan: 'L-2' }), pay('P-4', '0.01')), [
    { ...overpaid, message: '1 payment is on loans paid beyond three times the amount.', lines: [3] },
  ]);
  assert.deepEqual(await warnings(pay('P-1', '2900'), pay('P-4', '0.01')), [
    { ...overpaid, message: '2 payments are on loans paid beyond three times the amount.', lines: [2, 3] },
  ]);
  assert.deepEqual(await warnings(pay('P-1', '2900', { status: 'void' })), []);
});

test('payments whose sum exceeds 64 bits are refused like any that are too much', async (context) => {
  const place = await lendingPlace(context);
  const rows = Array.from({ length: quickOrLong(1_000, 93_000) }, (_, i) => pay(`Q-${i}`, LARGEST));
  const { status, err } = await place.load('payments', payments(...rows));
  assert.equal(status, 1);
  assert.match(err, /more than 12 digits/);
  assert.doesNotMatch(err, /unexpected/i);
});

test('a dry run of a folder sees the loans of the files before', async (context) => {
  const place = await lendingPlace(context, 'A-1,M-2,L-2,1000,5,pending,,');
  const folder = incoming(place, {
    'loans.csv': loans(
      'A-1,M-2,L-2,1000,5,approved,,',
      'A-1,M-2,L-3,1000,5,approved,100,2025-02-01',
      'A-1,M-2,L-4,1000,5,,,',
      'A-1,M-2,L-6,1000,5,paid,999999999999.98,2025-02-01',
    ),
    'payments.csv': payments(
      pay('P-1', '1', { loan: 'L-2' }),
      pay('P-2', '2', { loan: 'L-3' }),
      pay('P-3', '3', { loan: 'L-3', at: '2025-02-02' }),
      pay('P-4', '4', { loan: 'L-4' }),
      pay('P-5', '5', { loan: 'L-5' }),
      pay('P-6', '1', { loan: 'L-6', at: '2025-02-02' }),
    ),
  });
  const [, second] = JSON.parse((await place.run(folder, '--dry-run', '--json')).out).files;
  assert.deepEqual(
    second.errors.map(({ line, column }: Record<string, string>) => `${line} ${column}`),
    ['3 paid_at', '5 loan_reference', '6 loan_reference', '7 amount'],
  );
  const [, imported] = JSON.parse((await place.run(folder, '--skip-invalid', '--json')).out).files;
  assert.deepEqual(imported.errors, second.errors);
});

test('an import of payments that is undone leaves the loans as they were, later payments counted', async (context) => {
  const place = await lendingPlace(context, 'A-1,M-2,L-2,1000,5,approved,100,2025-01-01');
  await accept(place, 'payments', payments(pay('P-1', '5'), pay('P-2', '6')));
  await accept(
    place,
    'payments',
    payments(pay('P-1', '8'), pay('P-2', '6', { status: 'void' }), pay('P-3', '9', { loan: 'L-2' })),
  );
  await accept(place, 'payments', payments(pay('P-4', '0.5'), pay('P-5', '1', { loan: 'L-2' })));
  assert.deepEqual([paidOf(place), paidOf(place, 'L-2')], [850, 11_000]);
  place.clock.advance(60_000);
  const { status, out } = await place.command('imports', 'undo', '--yes', '5');
  assert.equal(status, 0);
  assert.match(out, /^Import 5 is undone: 1 row removed, 2 put back as they were/);
  assert.deepEqual([paidOf(place), paidOf(place, 'L-2')], [1_150, 10_100]);
  assert.deepEqual(
    place
      .query(`SELECT row_id, field, old, new FROM changes WHERE actor = 'undo:5' ORDER BY id`)
      .map((row) => Object.values(row)),
    [
      [1, 'amount', 800, 500],
      [2, 'status', 'void', 'recorded'],
      [1, 'paid_amount', 850, 1_150],
      [2, 'paid_amount', 11_000, 10_100],
    ],
  );
  await assertSound(place);
});

test('an undo that would take what is paid beyond the largest amount is refused', async (context) => {
  const place = await lendingPlace(context);
  await accept(place, 'payments', payments(pay('P-1', LARGEST)));
  await accept(place, 'payments', payments(pay('P-1', LARGEST, { status: 'void' })));
  await accept(place, 'payments', payments(pay('P-2', LARGEST)));
  const refused = await place.command('imports', 'undo', '--yes', '5');
  assert.equal(refused.status, 1);
  assert.match(refused.err, /loan L-1 would have more than 12 digits paid: payments would count again/);
  await assertSound(place);
  for (const id of ['6', '5']) assert.equal((await place.command('imports', 'undo', '--yes', id)).status, 0);
  assert.equal(paidOf(place), 99_999_999_999_999);
});
