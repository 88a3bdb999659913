/**
 * What a row does to what is stored: natural keys, empty cells, references, ownership
 * (docs/import-reference.md#columns).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ImportPlace,
  importPlace,
  LOANS_HEADER,
  MEMBERS_HEADER,
  member,
  members,
  nid,
  SAVINGS_HEADER,
  startedPlace,
} from '../support/importing.ts';

const FINANCIAL = {
  production:
    'cooperative_code,member_code,reference,delivered_at,kg,product\nA-1,M-1,R-1,2025-03-01,12.5,coffee\n',
  loans: `${LOANS_HEADER}\nA-1,M-1,R-1,1000,18,approved,250,2025-01-01,2026-01-01,2024-12-01\n`,
  savings: `${SAVINGS_HEADER}\nA-1,M-1,S-1,R-1,contribution,500,2025-03-01\n`,
};
const OPTIONAL_COLUMNS = 'first_name,last_name,gender,date_of_birth,mobile,role,status,registration_date';
const FULL_MEMBER = `${MEMBERS_HEADER},${OPTIONAL_COLUMNS}`;
const fullMember = (tail: string) => `${FULL_MEMBER}\nA-1,${nid(1)},M-1,Person 1,${tail}\n`;
const FULL_TAIL = 'Aline,Uwase,F,1985-03-01,+250781234567,TREASURER,suspended,2020-05-01';

const stored = (place: ImportPlace) =>
  place.query("SELECT * FROM members WHERE member_code = 'M-1'")[0] as Record<string, unknown>;

test('importing a file twice changes nothing the second time, updated_at included', async (context) => {
  const place = await startedPlace(context);
  const files = {
    cooperatives: 'code,name,sector,status\nA-1,Abahuje,trading,inactive\n',
    members: fullMember(FULL_TAIL),
    ...FINANCIAL,
  };
  for (const [kind, content] of Object.entries(files)) {
    assert.equal((await place.load(kind, content)).status, 0, kind);
  }
  const everything = () =>
    [
      'cooperatives',
      'members',
      'production_entries',
      'loans',
      'savings_accounts',
      'savings_transactions',
      'member_counts',
    ].map((table) => place.query(`SELECT * FROM ${table}`));
  const before = everything();
  place.clock.advance(86_400_000);
  for (const [kind, content] of Object.entries(files)) {
    const { files: shown } = JSON.parse((await place.load(kind, content, '--json')).out);
    assert.deepEqual([shown[0].created, shown[0].changed, shown[0].unchanged], [0, 0, 1], kind);
  }
  assert.deepEqual(everything(), before);
});

test('a row whose natural key exists updates it and keeps its id', async (context) => {
  const place = await startedPlace(context);
  const before = stored(place);
  place.clock.advance(5_000);
  const result = await place.load(
    'members',
    members(`A-1,${nid(1)},M-1,Corrected Name`, member(2)),
    '--json',
  );
  const [shown] = JSON.parse(result.out).files;
  assert.deepEqual([shown.created, shown.changed, shown.unchanged], [0, 1, 1]);
  const after = stored(place);
  assert.deepEqual(after, {
    ...before,
    full_name: 'Corrected Name',
    updated_at: (before.updated_at as number) + 5,
  });
});

test('an empty cell clears a nullable column and keeps status, role and registration_date', async (context) => {
  const place = await startedPlace(context);
  await place.load('members', fullMember(FULL_TAIL));
  const before = stored(place);
  assert.deepEqual(
    [before.role, before.status, before.gender, before.mobile],
    ['TREASURER', 'suspended', 'FEMALE', '+250781234567'],
  );
  assert.equal((await place.load('members', fullMember(',,,,,,,'))).status, 0);
  const cleared = { first_name: null, last_name: null, gender: null, date_of_birth: null, mobile: null };
  assert.deepEqual(stored(place), { ...before, ...cleared });
});

test('a missing column keeps what is stored', async (context) => {
  const place = await startedPlace(context);
  await place.load('members', fullMember(FULL_TAIL));
  const before = stored(place);
  assert.equal((await place.load('members', members(member(1)))).status, 0);
  assert.deepEqual(stored(place), before);
});

test('a new member is active, a MEMBER, and registered now, also when those cells are empty', async (context) => {
  const place = await startedPlace(context);
  await place.load('members', `${FULL_MEMBER}\nA-1,${nid(8)},M-8,Person 8,,,,,,,,\n`);
  for (const { role, status, registration_date } of place.query('SELECT * FROM members')) {
    assert.deepEqual([role, status, registration_date], ['MEMBER', 'active', place.clock.now() / 1000]);
  }
});

test('a cooperative is updated by its code; an empty status is kept, an empty sector cleared', async (context) => {
  const place = importPlace(context);
  const header = 'code,name,sector,province,district,registration_date,status';
  await place.load('cooperatives', `${header}\nA-1,Abahuje,trading,South,Huye,2010-01-01,dissolved\n`);
  await place.load('cooperatives', `${header}\nA-1,Abahuje,,,,2010-01-01,\n`);
  const [row] = place.query(
    'SELECT code, sector, province, district, registration_date, status FROM cooperatives',
  );
  assert.deepEqual(row, {
    code: 'A-1',
    sector: null,
    province: null,
    district: null,
    registration_date: '2010-01-01',
    status: 'dissolved',
  });
});

test('an empty cell keeps the registration_date of a cooperative', async (context) => {
  const place = importPlace(context);
  await place.load('cooperatives', 'code,name,registration_date\nA-1,Abahuje,2010-01-01\n');
  await place.load('cooperatives', 'code,name,registration_date\nA-1,Abahuje,\n');
  assert.equal(place.value('SELECT registration_date FROM cooperatives'), '2010-01-01');
});

test('loans, production and savings are updated by cooperative and reference', async (context) => {
  const place = await startedPlace(context);
  for (const [kind, content] of Object.entries(FINANCIAL)) await place.load(kind, content);
  await place.load('loans', FINANCIAL.loans.replace('approved,250,2025-01-01,2026-01-01,2024-12-01', ',,,,'));
  const [loan] = place.query(
    'SELECT status, paid_amount_minor, loan_start_date, loan_end_date, approved_at FROM loans',
  );
  assert.deepEqual(loan, {
    status: 'approved',
    paid_amount_minor: 25_000,
    loan_start_date: null,
    loan_end_date: null,
    approved_at: null,
  });
  await place.load('production', FINANCIAL.production.replace('12.5,coffee', '13,'));
  assert.deepEqual(place.query('SELECT grams, product FROM production_entries'), [
    { grams: 13_000, product: null },
  ]);
  await place.load(
    'savings',
    FINANCIAL.savings.replace('S-1,R-1,contribution,500', 'S-2,R-1,withdrawal,400'),
  );
  const saved = `SELECT account_number, kind, amount_minor
    FROM savings_transactions t JOIN savings_accounts a ON a.id = t.account_id`;
  assert.deepEqual(place.query(saved), [{ account_number: 'S-2', kind: 'withdrawal', amount_minor: 40_000 }]);
});

for (const [kind, column, content] of [
  ['cooperatives', 'code', 'code,name\nA-1,One\nC-3,Two\nA-1,Three\n'],
  ['members', 'identity_card', members(member(50), member(51), `A-1,${nid(50)},M-59,Other`)],
  [
    'production',
    'reference',
    `${FINANCIAL.production}A-1,M-2,R-2,2025-03-01,1,\nA-1,M-2,R-1,2025-03-01,1,\n`,
  ],
  ['loans', 'reference', `${FINANCIAL.loans}A-1,M-2,R-2,5,5,,,,,\nA-1,M-2,R-1,5,5,,,,,\n`],
  [
    'savings',
    'reference',
    `${FINANCIAL.savings}A-1,M-2,S-2,R-2,withdrawal,5,2025-01-01\nA-1,M-2,S-2,R-1,withdrawal,5,2025-01-01\n`,
  ],
] as const) {
  test(`a natural key twice in one file is a fault: ${kind}`, async (context) => {
    const place = await startedPlace(context);
    const result = await place.load(kind, content);
    assert.equal(result.status, 1);
    assert.match(result.err, new RegExp(`^${kind}\\.csv line 4, column ${column}: Same as line 2\\.$`, 'm'));
  });
}

test('the same reference in two cooperatives is not a repetition', async (context) => {
  const place = await startedPlace(context);
  await place.load('members', members(member(1, 'B-2')));
  const content = `${FINANCIAL.production}B-2,M-1,R-1,2025-03-01,1,\n`;
  assert.equal((await place.load('production', content)).status, 0);
});

test('one row per cooperative and NID: the same person may be in two cooperatives', async (context) => {
  const place = await startedPlace(context);
  assert.equal((await place.load('members', members(member(1, 'B-2')))).status, 0);
  assert.equal(place.value(`SELECT count(*) FROM members WHERE identity_card = '${nid(1)}'`), 2);
});

test('a member_code that another person of the cooperative has is a fault', async (context) => {
  const place = await startedPlace(context);
  // A known person, and a new one beside the holder of the code.
  for (const rows of [[`A-1,${nid(2)},M-1,Known`], [`A-1,${nid(90)},M-1,New`, member(1)]]) {
    const result = await place.load('members', members(...rows));
    assert.equal(result.status, 1);
    assert.match(result.err, /line 2, column member_code: /);
  }
  assert.equal((await place.load('members', members(`B-2,${nid(90)},M-1,Elsewhere`))).status, 0);
});

test('two rows of a file with one member_code and two persons are a fault of the second', async (context) => {
  const place = await startedPlace(context);
  const result = await place.load('members', members(`A-1,${nid(91)},X-1,One`, `A-1,${nid(92)},X-1,Two`));
  assert.equal(result.status, 1);
  assert.match(result.err, /line 3, column member_code: .*line 2/);
  assert.doesNotMatch(result.err, /line 2, column/);
});

test('member codes that pass between persons in one file are all imported or all refused', async (context) => {
  for (const rows of [
    [`A-1,${nid(1)},M-2,Person 1`, `A-1,${nid(2)},M-1,Person 2`],
    [`A-1,${nid(1)},M-2,Person 1`, `A-1,${nid(2)},M-3,Person 2`, `A-1,${nid(3)},M-1,Person 3`],
    [`A-1,${nid(1)},M-9,Person 1`, `A-1,${nid(93)},M-1,New`],
  ]) {
    const place = await startedPlace(context);
    const before = place.query('SELECT identity_card, member_code FROM members ORDER BY id');
    const result = await place.load('members', members(...rows));
    const after = place.query('SELECT identity_card, member_code FROM members ORDER BY id');
    if (result.status === 1) {
      assert.match(result.err, /\bcolumn member_code\b/);
      assert.deepEqual(after, before);
    } else {
      assert.equal(result.status, 0);
      for (const row of rows) {
        const [, identityCard, code] = row.split(',');
        assert.ok(after.some((held) => held.identity_card === identityCard && held.member_code === code));
      }
    }
  }
});

test('references must resolve', async (context) => {
  const place = await startedPlace(context);
  const unknownCooperative = await place.load('members', members(member(40, 'Z-9')));
  assert.match(unknownCooperative.err, /line 2, column cooperative_code: There is no cooperative/);
  for (const [kind, content] of Object.entries(FINANCIAL)) {
    const elsewhere = await place.load(kind, content.replace('A-1,M-1', 'B-2,M-1'));
    assert.deepEqual(
      [elsewhere.status, /line 2, column member_code: There is no member/.test(elsewhere.err)],
      [1, true],
      kind,
    );
    const nowhere = await place.load(kind, content.replace('A-1,M-1', 'Z-9,M-1'));
    assert.deepEqual(
      [nowhere.status, /line 2, column cooperative_code: /.test(nowhere.err)],
      [1, true],
      kind,
    );
  }
});

test('a reference that belongs to another member is refused, and nothing moves', async (context) => {
  const place = await startedPlace(context);
  for (const [kind, content] of Object.entries(FINANCIAL)) {
    await place.load(kind, content);
    const result = await place.load(kind, content.replace('A-1,M-1', 'A-1,M-2').replace('S-1', 'S-2'));
    assert.equal(result.status, 1, kind);
    assert.match(result.err, /line 2, column reference: .*another member/, kind);
  }
  assert.equal(place.value('SELECT count(*) FROM savings_accounts'), 1);
});

test('an account number belongs to one member per cooperative', async (context) => {
  const place = await startedPlace(context);
  const [header, row] = FINANCIAL.savings.trimEnd().split('\n') as [string, string];
  const inOneFile = await place.load(
    'savings',
    `${header}\n${row}\n${row.replace('M-1,S-1,R-1', 'M-2,S-1,R-2')}\n`,
  );
  assert.equal(inOneFile.status, 1);
  assert.match(inOneFile.err, /line 3, column account_number: .*another member/);
  assert.equal(place.value('SELECT count(*) FROM savings_accounts'), 0);
  assert.equal((await place.load('savings', FINANCIAL.savings)).status, 0);
  const later = await place.load('savings', `${header}\n${row.replace('M-1,S-1,R-1', 'M-2,S-1,R-2')}\n`);
  assert.equal(later.status, 1);
  assert.match(later.err, /line 2, column account_number: .*another member/);
});

test('a member may have several accounts, and several transactions in one', async (context) => {
  const place = await startedPlace(context);
  const [header, row] = FINANCIAL.savings.trimEnd().split('\n') as [string, string];
  const rows = ['S-1,R-1', 'S-2,R-2', 'S-1,R-3'].map((cells) => row.replace('S-1,R-1', cells));
  assert.equal((await place.load('savings', [header, ...rows].join('\n'))).status, 0);
  assert.deepEqual(place.query('SELECT account_number FROM savings_accounts ORDER BY id'), [
    { account_number: 'S-1' },
    { account_number: 'S-2' },
  ]);
  assert.equal(place.value('SELECT count(*) FROM savings_transactions'), 3);
});
