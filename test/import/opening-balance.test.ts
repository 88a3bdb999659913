/** The opening balance of loans, and until when it runs (docs/import-reference.md#opening-balances). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { checkStorage } from '../../src/check/check.ts';
import { openRegistry } from '../../src/open-registry.ts';
import { type ImportPlace, startedPlace } from '../support/importing.ts';
import { storageAt } from '../support/storage.ts';

const HEADER = 'cooperative_code,member_code,reference,amount,interest_rate,status,paid_amount,paid_until';
const loan = (paid: string, until = '', reference = 'L-1') =>
  `A-1,M-1,${reference},1000,5,approved,${paid},${until}`;
const file = (...rows: string[]) => `${[HEADER, ...rows].join('\n')}\n`;
const MARCH = Date.UTC(2025, 1, 28, 22) / 1000;

async function accept(place: ImportPlace, content: string, kind = 'loans', ...args: string[]) {
  const { status, out, err } = await place.load(kind, content, ...args);
  assert.equal(status, 0, err);
  return out;
}

async function refuse(place: ImportPlace, content: string, ...args: string[]): Promise<string[]> {
  const { status, out } = await place.load('loans', content, '--json', ...args);
  assert.equal(status, 1, out);
  return JSON.parse(out).files[0].errors.map(
    ({ line, column, message }: Record<string, string>) => `${line} ${column}: ${message}`,
  );
}

/** Opening balance, end and paid amount of each loan, in the order of their ids. */
const balances = (place: ImportPlace) =>
  place
    .query('SELECT opening_balance_minor, paid_until, paid_amount_minor FROM loans ORDER BY id')
    .map((row) => Object.values(row));
const pay = (place: ImportPlace, rows: readonly string[], ...args: string[]) =>
  accept(
    place,
    `cooperative_code,loan_reference,reference,amount,method,paid_at,status\n${rows.join('\n')}\n`,
    'payments',
    ...args,
  );

async function lendingPlace(context: TestContext, ...rows: string[]): Promise<ImportPlace> {
  const place = await startedPlace(context);
  await accept(place, file(...rows));
  return place;
}

test('a paid amount is the opening balance until paid_until, else until the import', async (context) => {
  const place = await startedPlace(context);
  const now = Math.floor(place.clock.now() / 1000);
  await accept(
    place,
    file(
      loan('250.5', '01/03/2025', 'L-1'),
      loan('250.5', '', 'L-2'),
      loan('', '', 'L-3'),
      loan('0', '2025-03-01', 'L-4'),
    ),
  );
  const expected = [
    [25_050, MARCH, 25_050],
    [25_050, now, 25_050],
    [0, null, 0],
    [0, null, 0],
  ];
  assert.deepEqual(balances(place), expected);
  assert.equal(place.value('SELECT performed_at FROM operations WHERE id = 3'), now);
  // A stored loan gets one likewise.
  place.clock.advance(60_000);
  await accept(place, file(loan('7', '', 'L-3'), loan('8', '2025-03-01', 'L-4')));
  assert.deepEqual(balances(place).slice(2), [
    [700, now + 60, 700],
    [800, MARCH, 800],
  ]);
});

test('a loans file without paid_until gives its opening balances the time of the import as end', async (context) => {
  const place = await startedPlace(context);
  await accept(
    place,
    'cooperative_code,member_code,reference,amount,interest_rate,paid_amount\nA-1,M-1,L-1,10,5,3\n',
  );
  assert.deepEqual(balances(place), [[300, Math.floor(place.clock.now() / 1000), 300]]);
});

test('the same paid amount changes nothing, the end of the balance included', async (context) => {
  const place = await lendingPlace(context, loan('250', '2025-03-01'));
  const before = place.query('SELECT * FROM loans');
  place.clock.advance(60_000);
  for (const row of [loan('250', '2025-03-01'), loan('250', '2025-02-01'), loan('250'), loan('')]) {
    assert.match(await accept(place, file(row)), /0 new, 0 changed, 1 unchanged/, row);
    assert.deepEqual(place.query('SELECT * FROM loans'), before, row);
  }
});

test('another paid amount moves the end, and 0 removes balance and end', async (context) => {
  const place = await lendingPlace(context, loan('250', '2025-03-01'));
  place.clock.advance(60_000);
  const [preview] =
    (await accept(place, file(loan('300')), 'loans', '--dry-run')).match(/^.*paid_amount.*$/m) ?? [];
  assert.match(preview ?? '', /paid_amount changes in 1 row: L-1 250\.00 → 300\.00/);
  await accept(place, file(loan('300')));
  assert.deepEqual(balances(place), [[30_000, Math.floor(place.clock.now() / 1000), 30_000]]);
  await accept(place, file(loan('0')));
  assert.deepEqual(balances(place), [[0, null, 0]]);
});

test('a paid_until needs a paid amount, and must be in the past', async (context) => {
  const place = await startedPlace(context);
  const without = 'Give the paid amount until then as well.';
  assert.deepEqual(
    await refuse(
      place,
      file(loan('', '2025-03-01', 'L-1'), loan('5', '2099-01-01', 'L-2'), loan('x', '2025-03-01', 'L-3')),
    ),
    [
      `2 paid_until: ${without}`,
      '3 paid_until: This date is in the future.',
      '4 paid_amount: A valid number is required.',
    ],
  );
  const header = 'cooperative_code,member_code,reference,amount,interest_rate,paid_until';
  assert.deepEqual(await refuse(place, `${header}\nA-1,M-1,L-1,10,5,2025-03-01\n`), [
    `2 paid_until: ${without}`,
  ]);
});

test('a paid_until that a map gives for all rows is for those with a paid amount', async (context) => {
  const place = await startedPlace(context);
  const map = place.write(
    'map.json',
    JSON.stringify({ kind: 'loans', constants: { paid_until: '2025-03-01' } }),
  );
  const header = 'cooperative_code,member_code,reference,amount,interest_rate,paid_amount';
  await accept(place, `${header}\nA-1,M-1,L-1,10,5,3\nA-1,M-1,L-2,10,5,\n`, 'loans', '--map', map);
  assert.deepEqual(balances(place), [
    [300, MARCH, 300],
    [0, null, 0],
  ]);
});

test('a loan with recorded payments takes its balance or its total as the paid amount, and no other', async (context) => {
  const place = await lendingPlace(context, loan('250', '2025-03-01'));
  await pay(place, ['A-1,L-1,P-1,50,cash,2025-04-01,']);
  const expected = [[25_000, MARCH, 30_000]];
  for (const row of [loan('250'), loan('300'), loan('300', '2025-05-01'), loan('')]) {
    assert.match(await accept(place, file(row)), /0 new, 0 changed, 1 unchanged/, row);
    assert.deepEqual(balances(place), expected, row);
  }
  const message = 'The paid amount is computed from the recorded payments. Leave the cell empty.';
  for (const paid of ['0', '299.99', '500'])
    assert.deepEqual(await refuse(place, file(loan(paid))), [`2 paid_amount: ${message}`]);
  // Other columns may change.
  await accept(place, file(loan('300').replace('1000', '2000')));
  assert.deepEqual(balances(place), expected);
  // A void payment does not count.
  await pay(place, ['A-1,L-1,P-1,50,cash,2025-04-01,void']);
  await accept(place, file(loan('500', '2025-05-01')));
  assert.deepEqual(balances(place), [[50_000, Date.UTC(2025, 3, 30, 22) / 1000, 50_000]]);
});

test('the undo of a loans file puts back balance, end and paid amount', async (context) => {
  const place = await lendingPlace(context, loan('250', '2025-03-01'), loan('', '', 'L-2'));
  const before = balances(place);
  place.clock.advance(60_000);
  await accept(place, file(loan('0'), loan('40', '2025-02-01', 'L-2')));
  assert.notDeepEqual(balances(place), before);
  const { status, err } = await place.command('imports', 'undo', '--yes', '4');
  assert.equal(status, 0, err);
  assert.deepEqual(balances(place), before);
});

test('an undo that would count a payment twice is refused until the balance is undone', async (context) => {
  const kept = 'A-1,L-2,P-2,7,cash,2025-04-01,';
  const paid = ['A-1,L-1,P-1,50,cash,2025-04-01,', kept];
  for (const [made, rows, ...args] of [
    ['void', [`${paid[0]}void`]],
    ['removed', [kept], '--replaces', '4', '--yes'],
  ] as const) {
    const place = await lendingPlace(context, loan(''), loan('', '', 'L-2'));
    await pay(place, paid);
    await pay(place, rows, ...args);
    await accept(place, file(loan('500', '2025-05-01')));
    const refused = await place.command('imports', 'undo', '--yes', '5');
    assert.equal(refused.status, 1, made);
    assert.match(refused.err, /loan L-1 was changed since, by import 6\nFirst undo import 6\./);
    for (const id of ['6', '5'])
      assert.equal((await place.command('imports', 'undo', '--yes', id)).status, 0);
    assert.deepEqual(balances(place)[0], [0, null, 5_000]);
    const faults = (await checkStorage(storageAt(place.databaseFile))).filter(({ fault }) => fault !== null);
    assert.deepEqual(faults, []);
  }
});

test('a loans file is not undone below the payments of its loans', async (context) => {
  const place = await lendingPlace(context, loan(''));
  await pay(place, ['A-1,L-1,P-1,50,cash,2025-04-01,void']);
  const refused = await place.command('imports', 'undo', '--yes', '3');
  assert.match(refused.err, /payment P-1, from import 4, belongs to a row that the import created/);
  for (const id of ['4', '3']) assert.equal((await place.command('imports', 'undo', '--yes', id)).status, 0);
});

test('a paid amount that the file sets back to before a payment became void is kept, with its end', async (context) => {
  const place = await lendingPlace(context, loan(''));
  await pay(place, ['A-1,L-1,P-1,50,cash,2025-04-01,']);
  const registry = openRegistry(storageAt(place.databaseFile));
  const now = Math.floor(place.clock.now() / 1000);
  await registry.payments.update(1, (stored) => ({ ...stored, status: 'void' }), now, 'key:1');
  await registry.close();
  const { files } = JSON.parse(await accept(place, file(loan('50', '2025-03-01')), 'loans', '--json'));
  assert.deepEqual(files[0].conflicts, [
    { line: 2, column: 'paid_amount' },
    { line: 2, column: 'paid_until' },
  ]);
  assert.deepEqual(balances(place), [[0, null, 0]]);
  await accept(place, file(loan('50', '2025-03-01')), 'loans', '--overwrite-corrections');
  assert.deepEqual(balances(place), [[5_000, MARCH, 5_000]]);
});
