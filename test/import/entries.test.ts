/** Entries that name their member by national ID, or have no reference (docs/import-reference.md). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { incoming, nid, startedPlace } from '../support/importing.ts';

const DELIVERIES = 'SELECT member_id, reference, grams, product FROM production_entries ORDER BY id';
const PRODUCTION = {
  byCode: 'cooperative_code,member_code,delivered_at,kg,product\n',
  byCard: 'cooperative_code,identity_card,delivered_at,kg,product\n',
  byBoth: 'cooperative_code,member_code,identity_card,delivered_at,kg,product\n',
};

test('production, loans and savings may name a member by national ID', async (context) => {
  const place = await startedPlace(context);
  for (const [kind, content] of [
    ['production', `${PRODUCTION.byCard}A-1,${nid(2)},2025-03-01,12.5,coffee\n`],
    ['loans', `cooperative_code,identity_card,reference,amount,interest_rate\nA-1,${nid(2)},L-1,1000,18\n`],
    [
      'savings',
      'cooperative_code,identity_card,account_number,reference,kind,amount,transacted_at\n' +
        `A-1,${nid(2)},S-1,R-1,contribution,500,2025-03-01\n`,
    ],
  ] as const) {
    const { status, err } = await place.load(kind, content);
    assert.equal(status, 0, err);
  }
  for (const table of ['production_entries', 'loans', 'savings_accounts'])
    assert.deepEqual(place.query(`SELECT member_id FROM ${table}`), [{ member_id: 2 }], table);
});

test('a national ID that no member of the cooperative has is a fault, which does not show it', async (context) => {
  const place = await startedPlace(context);
  const { status, err } = await place.load(
    'production',
    `${PRODUCTION.byCard}A-1,${nid(40)},2025-03-01,1,\n`,
  );
  assert.equal(status, 1);
  assert.match(err, /line 2, column identity_card: There is no member with this national ID/);
  assert.ok(!err.includes(nid(40)));
});

test('a member code and a national ID of two people are a fault', async (context) => {
  const place = await startedPlace(context);
  const row = (code: string, card: string) => `${PRODUCTION.byBoth}A-1,${code},${card},2025-03-01,1,\n`;
  const { status, err } = await place.load('production', row('M-1', nid(2)));
  assert.equal(status, 1);
  assert.match(err, /line 2, column identity_card: The member with this member code has another/);
  assert.equal((await place.load('production', row('M-1', nid(1)))).status, 0);
});

test('a row that names nobody is a fault, and so is a file that names nobody', async (context) => {
  const place = await startedPlace(context);
  const row = await place.load('production', `${PRODUCTION.byBoth}A-1,,,2025-03-01,1,\n`);
  assert.match(row.err, /line 2, column member_code: Give a member code, or a national ID/);
  const file = await place.load('production', 'cooperative_code,delivered_at,kg\nA-1,2025-03-01,1\n');
  assert.match(file.err, /column member_code: The column is missing: member_code, or identity_card/);
  assert.deepEqual([row.status, file.status], [1, 1]);
});

test('deliveries without a reference get one, and importing them again changes nothing', async (context) => {
  const place = await startedPlace(context);
  const rows = ['5,milk', '5,milk', '6,milk', '5,tea', '5,']
    .map((end) => `A-1,M-1,2025-03-01,${end}\n`)
    .join('');
  assert.equal((await place.load('production', PRODUCTION.byCode + rows)).status, 0);
  const first = place.query(DELIVERIES);
  assert.equal(new Set(first.map(({ reference }) => reference)).size, 5);
  assert.equal((await place.load('production', PRODUCTION.byCode + rows)).status, 0);
  // The same deliveries of a file that knows the member by national ID, and in another order.
  const byCard = rows.replaceAll('M-1', nid(1)).trimEnd().split('\n').reverse().join('\n');
  assert.equal((await place.load('production', PRODUCTION.byCard + byCard)).status, 0);
  assert.deepEqual(place.query(DELIVERIES), first);
});

test('savings without a reference are told apart by account, kind, amount and time', async (context) => {
  const place = await startedPlace(context);
  const header = 'cooperative_code,member_code,account_number,kind,amount,transacted_at\n';
  const rows = [
    'A-1,M-1,S-1,contribution,5,2025-03-01',
    'A-1,M-1,S-1,contribution,5,2025-03-01',
    'A-1,M-1,S-2,contribution,5,2025-03-01',
    'A-1,M-1,S-1,withdrawal,5,2025-03-01',
    'A-1,M-1,S-1,contribution,6,2025-03-01',
    'A-1,M-1,S-1,contribution,5,2025-03-02',
  ];
  const content = `${header}${rows.join('\n')}\n`;
  assert.equal((await place.load('savings', content)).status, 0);
  const stored = place.query('SELECT * FROM savings_transactions');
  const reversed = `${header}${rows.toReversed().join('\n')}\n`;
  assert.equal((await place.load('savings', reversed)).status, 0);
  const references = place.query('SELECT reference FROM savings_transactions');
  assert.deepEqual(place.query('SELECT * FROM savings_transactions'), stored);
  assert.deepEqual([references.length, new Set(references.map(({ reference }) => reference)).size], [6, 6]);
});

test('a row with a reference of its own keeps it beside rows without', async (context) => {
  const place = await startedPlace(context);
  const header = 'cooperative_code,member_code,reference,delivered_at,kg\n';
  assert.equal(
    (await place.load('production', `${header}A-1,M-1,R-1,2025-03-01,5\nA-1,M-1,,2025-03-01,5\n`)).status,
    0,
  );
  assert.match(String(place.query(DELIVERIES)[0]?.reference), /^R-1$/);
  assert.match(String(place.query(DELIVERIES)[1]?.reference), /^auto-[0-9a-f]{20}$/);
});

test('in a dry run, entries name members of an earlier file by national ID', async (context) => {
  const place = await startedPlace(context);
  const folder = incoming(place, {
    'members.csv': `cooperative_code,identity_card,member_code,full_name\nA-1,${nid(7)},M-7,Person 7\n`,
    'production.csv': `${PRODUCTION.byCard}A-1,${nid(7)},2025-03-01,5,\nA-1,${nid(8)},2025-03-01,5,\n`,
  });
  const { err } = await place.run(folder, '--dry-run');
  assert.match(err, /production.csv line 3, column identity_card: There is no member/);
  assert.doesNotMatch(err, /line 2/);
});
