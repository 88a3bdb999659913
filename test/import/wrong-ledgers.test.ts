/** Ledgers under the code of another cooperative, where the members have the same codes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COOPERATIVES, type ImportPlace, members, nid, preparedPlace } from '../support/importing.ts';

const NAMES = ['Uwase Aline', 'Habimana Jean', 'Mukamana Rose', 'Nkusi Paul', 'Ingabire Ange'];
const OTHERS = ['Gasana Yves', 'Umutoni Claire', 'Bizimana Eric', 'Keza Diane', 'Rugamba Luc'];

/** Members 1 to 5 of both cooperatives. */
const twinPlace = preparedPlace(async (place) => {
  await place.load('cooperatives', COOPERATIVES);
  const rows = (code: string, names: readonly string[], from: number) =>
    names.map((name, i) => `${code},${nid(from + i)},${i + 1},${name}`);
  const { status, err } = await place.load(
    'members',
    members(...rows('A-1', NAMES, 1), ...rows('B-2', OTHERS, 11)),
  );
  assert.equal(status, 0, err);
});

type Warned = readonly [kind: string, message: string, lines: readonly number[]];

async function warningsOf(
  place: ImportPlace,
  kind: string,
  content: string,
  code: string,
): Promise<Warned[]> {
  const { out } = await place.load(kind, content, '--cooperative', code, '--dry-run', '--json');
  const [{ warnings }] = JSON.parse(out).files;
  return warnings.map(({ kind, message, lines }: Record<string, unknown>) => [kind, message, lines]);
}

const accept = async (place: ImportPlace, kind: string, content: string, code: string, ...args: string[]) => {
  const { status, err } = await place.load(kind, content, '--cooperative', code, ...args);
  assert.equal(status, 0, err);
};

const ledger = (header: string, ...rows: string[]): string => `${header}\n${rows.join('\n')}\n`;
const named = (names: readonly string[]): string =>
  ledger(
    'N° membre,Amazina,Date,Kg',
    ...names.map((name, i) => `${i + 1},${name},2024-03-0${i + 1},${10 + i}.5`),
  );

test('a ledger is stopped whose names are not those of the members with its codes', async (context) => {
  const place = await twinPlace(context);
  const [warning, ...rest] = await warningsOf(place, 'production', named(NAMES), 'B-2');
  assert.deepEqual(warning, [
    'other_cooperative',
    '5 of the 5 members named for B-2 have other names there, and these are names of A-1: ' +
      'is this the right code?',
    [2, 3, 4, 5, 6],
  ]);
  assert.deepEqual(rest, []);
  assert.deepEqual(await warningsOf(place, 'production', named(NAMES), 'A-1'), []);
  const { status, err } = await place.load('production', named(NAMES), '--cooperative', 'B-2');
  assert.equal(status, 1);
  assert.match(err, /Nothing of production\.csv was imported\./);
  await accept(place, 'production', named(NAMES), 'B-2', '--yes');
  // Accepted once, it is not asked about again.
  await accept(place, 'production', named(NAMES), 'B-2');
});

test('fewer than half of the names, or than three, are a note about single rows', async (context) => {
  const place = await twinPlace(context);
  const note = (n: number) =>
    n === 1
      ? '1 row has a name that shares no word with that of the member.'
      : `${n} rows have a name that shares no word with that of the member.`;
  const mixed = named([...NAMES.slice(0, 3), 'Keza', 'Rugamba']);
  assert.deepEqual(await warningsOf(place, 'production', mixed, 'A-1'), [['other_name', note(2), [5, 6]]]);
  const three = named(['GASANA', 'Umutoni', 'Bizimana', ...NAMES.slice(3)]);
  assert.deepEqual(
    (await warningsOf(place, 'production', three, 'A-1')).map(([kind]) => kind),
    ['other_cooperative'],
  );
  assert.deepEqual(await warningsOf(place, 'production', named(OTHERS.slice(0, 2)), 'A-1'), [
    ['other_name', note(2), [2, 3]],
  ]);
  // In another order, case and spelling of accents; initials and an empty cell say nothing.
  const alike = named(['ALINE UWASE', 'Jean', 'J. M.', '', 'ingabiré']);
  assert.deepEqual(await warningsOf(place, 'production', alike, 'A-1'), []);
  await accept(place, 'production', mixed, 'A-1');
  assert.equal(place.value('SELECT count(*) FROM production_entries'), 5);
});

test('a name beside a code is no part of the entry: written otherwise, the ledger adds nothing', async (context) => {
  const place = await twinPlace(context);
  await accept(place, 'production', named(NAMES), 'A-1');
  const again = named(NAMES.map((name) => name.toUpperCase()));
  const { out } = await place.load('production', again, '--cooperative', 'A-1');
  assert.match(out, /0 new, 0 changed, 5 unchanged/);
  const references = () => place.query('SELECT reference FROM production_entries');
  const before = references();
  await place.command('imports', 'undo', '3', '--yes');
  const unnamed = named(NAMES).replaceAll(/,(?:Amazina|\p{L}+ \p{L}+)/gu, '');
  await accept(place, 'production', unnamed, 'A-1');
  assert.deepEqual(references(), before);
});

test('of two headings for a name, the first is compared', async (context) => {
  const place = await twinPlace(context);
  const content = ledger('N° membre,Nom,Izina,Date,Kg', '1,Uwase,Keza,2024-03-01,10.5');
  assert.deepEqual(await warningsOf(place, 'production', content, 'A-1'), []);
});

test('the bytes of another cooperative’s ledger are stopped, however few the rows', async (context) => {
  const place = await twinPlace(context);
  const content = ledger('member_code,delivered_at,kg', '1,2024-03-01,10');
  await accept(place, 'production', content, 'A-1');
  assert.deepEqual(await warningsOf(place, 'production', content, 'B-2'), [
    ['other_cooperative', 'The same file was imported for A-1, as import 3: is this the right code?', [2]],
  ]);
  assert.deepEqual(await warningsOf(place, 'production', content, 'A-1'), []);
  await place.command('imports', 'undo', '3', '--yes');
  assert.deepEqual(await warningsOf(place, 'production', content, 'B-2'), []);
});

test('a ledger whose references another cooperative has too is stopped before it changes its entries', async (context) => {
  const place = await twinPlace(context);
  const loans = (names: readonly string[], amount: number) =>
    ledger(
      'member_code,full_name,reference,amount,interest_rate',
      ...names.map((name, i) => `${i + 1},${name},L-${i + 1},${amount + i},18`),
    );
  await accept(place, 'loans', loans(NAMES, 900), 'A-1');
  await accept(place, 'loans', loans(OTHERS, 100), 'B-2');
  const kinds = async (content: string) =>
    (await warningsOf(place, 'loans', content, 'B-2')).map(([kind, message]) => [kind, message.slice(0, 33)]);
  assert.deepEqual(await kinds(loans(NAMES, 900)), [
    ['other_cooperative', '5 of the 5 members named for B-2 '],
    ['other_cooperative', 'The same file was imported for A-'],
  ]);
  const unnamed = loans(NAMES, 900).replaceAll(/,(?:full_name|\p{L}+ \p{L}+)/gu, '');
  assert.deepEqual(await kinds(unnamed), [['other_cooperative', '5 of the 5 rows for B-2 are entri']]);
  assert.deepEqual(await kinds(loans(OTHERS, 200)), []);
});

/** Ten rows of each kind of ledger, and what is needed before. */
const LEDGERS: {
  readonly [kind in 'production' | 'savings' | 'loans' | 'payments']: readonly [
    string,
    (i: number) => string,
  ];
} = {
  production: [
    'member_code,delivered_at,kg,product',
    (i) => `${(i % 5) + 1},2024-03-0${i + 1},${i + 10},milk`,
  ],
  savings: [
    'member_code,account_number,kind,amount,transacted_at',
    (i) => `${(i % 5) + 1},S-${(i % 5) + 1},contribution,${i + 10}00,2024-03-0${i + 1}`,
  ],
  loans: [
    'member_code,reference,amount,interest_rate,status,loan_start_date',
    (i) => `${(i % 5) + 1},L-${i},${i + 10}000,5,approved,2024-03-0${i + 1}`,
  ],
  payments: [
    'loan_reference,reference,amount,method,paid_at',
    (i) => `L-${i},P-${i},${i + 10},cash,2024-04-0${i + 1}`,
  ],
};
/** One that no other cooperative has. */
const OWN_ROWS = {
  production: '5,2024-03-31,99,milk',
  savings: '5,S-5,withdrawal,9900,2024-03-31',
  loans: '5,L-9,99000,5,approved,2024-03-31',
  payments: 'L-8,P-9,99,cash,2024-04-30',
};
const OTHER_ROW = {
  production: '5,2024-03-31,99',
  savings: '5,SAV-5,R-5,withdrawal,9900,2024-03-31',
  loans: OWN_ROWS.loans,
  payments: OWN_ROWS.payments,
};
const rowsOf = (kind: keyof typeof LEDGERS, count: number): string[] =>
  Array.from({ length: count }, (_, i) => LEDGERS[kind][1](i));

for (const kind of ['production', 'savings', 'loans', 'payments'] as const) {
  test(`nine tenths of the rows of a ${kind} file that are another cooperative's stop it`, async (context) => {
    const place = await twinPlace(context);
    const [header] = LEDGERS[kind];
    const own = OWN_ROWS[kind];
    if (kind === 'payments')
      for (const code of ['A-1', 'B-2'])
        await accept(place, 'loans', ledger(LEDGERS.loans[0], ...rowsOf('loans', 9)), code, '--yes');
    await accept(place, kind, ledger(header, ...rowsOf(kind, 9)), 'A-1');
    const id = place.value('SELECT max(id) FROM operations');
    const wrong = await warningsOf(place, kind, ledger(header, ...rowsOf(kind, 9), own), 'B-2');
    const message = `9 of the 10 rows for B-2 are entries of A-1 already, from import ${id}`;
    assert.deepEqual(wrong, [
      ['other_cooperative', `${message}: is this the right code?`, [2, 3, 4, 5, 6, 7, 8, 9, 10]],
    ]);
    assert.deepEqual(await warningsOf(place, kind, ledger(header, ...rowsOf(kind, 8), own), 'B-2'), []);
    assert.deepEqual(await warningsOf(place, kind, ledger(header, ...rowsOf(kind, 2)), 'B-2'), []);
    assert.equal((await warningsOf(place, kind, ledger(header, ...rowsOf(kind, 3)), 'B-2')).length, 1);
  });
}

test("another cooperative's loans stop a file with other references too", async (context) => {
  const place = await twinPlace(context);
  await accept(place, 'loans', ledger(LEDGERS.loans[0], ...rowsOf('loans', 9)), 'A-1');
  const renamed = rowsOf('loans', 9).map((row) => row.replace('L-', 'B/'));
  const [found] = await warningsOf(
    place,
    'loans',
    ledger(LEDGERS.loans[0], ...renamed, OWN_ROWS.loans),
    'B-2',
  );
  assert.equal(found?.[0], 'other_cooperative');
  assert.match(found?.[1] ?? '', /^9 of the 10 rows for B-2 are entries of A-1 already/);
});

for (const [kind, renamed] of [
  ['production', ['member_code,delivered_at,kg', (row: string) => row.replace(/,[^,]*$/, '')]],
  [
    'savings',
    [
      'member_code,account_number,reference,kind,amount,transacted_at',
      (row: string) => row.replace(/,S-(\d+),(.*),([^,]*)$/, ',SAV-$1,R-$3,$2,$3'),
    ],
  ],
  ['loans', [LEDGERS.loans[0], (row: string) => row.replace('L-', 'L/')]],
  ['payments', [LEDGERS.payments[0], (row: string) => row.replace('P-', 'RECEIPT ')]],
] as const)
  test(`a ${kind} file that comes again with other references or columns is stopped`, async (context) => {
    const place = await twinPlace(context);
    const [header, rename] = renamed;
    const again = (count: number) => ledger(header, ...rowsOf(kind, count).map(rename), OTHER_ROW[kind]);
    if (kind === 'payments')
      await accept(place, 'loans', ledger(LEDGERS.loans[0], ...rowsOf('loans', 9)), 'A-1', '--yes');
    await accept(place, kind, ledger(LEDGERS[kind][0], ...rowsOf(kind, 9)), 'A-1');
    const id = place.value('SELECT max(id) FROM operations');
    const stored = `have the member, day and amount of stored entries from import ${id}`;
    const message = `9 of the 10 rows for A-1 ${stored}`;
    const warnings = await warningsOf(place, kind, again(9), 'A-1');
    assert.deepEqual(
      warnings.filter(([found]) => found === 'already_stored'),
      [
        [
          'already_stored',
          `${message}: was this ledger imported before, in another form?`,
          [2, 3, 4, 5, 6, 7, 8, 9, 10],
        ],
      ],
    );
    // As the newer version of that import, its entries are those that go.
    const newer = ['--cooperative', 'A-1', '--replaces', String(id), '--dry-run', '--json'];
    assert.doesNotMatch((await place.load(kind, again(9), ...newer)).out, /already_stored/);
    // Neither is the same ledger with another row.
    const longer = ledger(LEDGERS[kind][0], ...rowsOf(kind, 9), OWN_ROWS[kind]);
    assert.deepEqual(await warningsOf(place, kind, longer, 'A-1'), []);
    const kinds = (await warningsOf(place, kind, again(7), 'A-1')).map(([found]) => found);
    assert.ok(!kinds.includes('already_stored'), `${kinds}`);
  });

test('equal amounts on equal days are no sign: every cooperative collects them', async (context) => {
  const place = await twinPlace(context);
  const collected = (more: string) =>
    ledger(
      'member_code,account_number,kind,amount,transacted_at',
      ...[1, 2, 3, 4, 5].map((n) => `${n},S-${n},contribution,1000,2024-03-31`),
      more,
    );
  await accept(place, 'savings', collected(''), 'A-1');
  assert.deepEqual(
    await warningsOf(place, 'savings', collected('5,S-5,contribution,1000,2024-03-31'), 'B-2'),
    [],
  );
});

test('national IDs of another cooperative’s members say whose ledger it is, beside the faults', async (context) => {
  const place = await twinPlace(context);
  const sent = (...people: number[]) =>
    ledger('identity_card,delivered_at,kg', ...people.map((n, i) => `${nid(n)},2024-03-0${i + 1},${10 + i}`));
  const message = '3 of the 5 people in the file for B-2 are not its members, but those of A-1';
  const skipped = await place.load(
    'production',
    sent(1, 2, 3, 11, 12),
    '--cooperative',
    'B-2',
    '--skip-invalid',
  );
  assert.equal(skipped.status, 1);
  assert.ok(skipped.err.includes(message), skipped.err);
  assert.equal(place.value('SELECT count(*) FROM production_entries'), 0);
  assert.doesNotMatch(skipped.err, /1198/);
  const few = await place.load(
    'production',
    sent(1, 2, 13, 11, 12),
    '--cooperative',
    'B-2',
    '--skip-invalid',
  );
  assert.doesNotMatch(few.err, /is this the right code/);
});
