/** Statistics over HTTP and by the command (docs/api.md#statistics). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { SCOPES } from '../../src/access/api-keys.ts';
import { command } from '../support/command.ts';
import { nid } from '../support/importing.ts';
import { startLending } from '../support/lending.ts';
import { openFile } from '../support/sqlite.ts';

const NO_LOANS = { count: 0, amount: '0.00', paid_amount: '0.00', outstanding: '0.00' };

/** Members 1 and 2 are of A-1, 3 of B-2; of two approved loans of 1000, 100 and 1050 are paid; one is new. */
async function start(context: TestContext) {
  const lending = await startLending(context);
  const { app, lend, pay, put } = lending;
  for (const [reference, amounts] of [
    ['L-1', ['100.00']],
    ['L-2', ['900.00', '150.00']],
  ] as const) {
    const { id } = await lend({ reference });
    await put(`/loans/${id}`, {
      ...{ member_id: '1', reference, amount: '1000.00', interest_rate: '18.00', status: 'approved' },
    });
    for (const amount of amounts) await pay(id, { amount });
  }
  await lend({ member_id: '3' });
  const patch = (path: string, body: object) => app.send(path, { method: 'PATCH', body });
  await patch('/cooperatives/2', { district: 'Huye', sector: 'livestock' });
  await patch('/members/2', { gender: 'FEMALE', role: 'TREASURER', registration_date: '2024-12-31' });
  await patch('/members/3', { status: 'inactive' });
  return lending;
}

const ofFirst = {
  total: 2,
  by_status: { active: 2, inactive: 0, suspended: 0, withdrawn: 0, deceased: 0 },
  by_gender: { MALE: 0, FEMALE: 1, OTHER: 0, unknown: 1 },
  by_role: {
    ...{ MEMBER: 1, PRESIDENT: 0, VICE_PRESIDENT: 0, SECRETARY: 0, TREASURER: 1, ADVISOR: 0 },
    ...{ AUDITOR: 0, MANAGER: 0 },
  },
  by_joining_year: { '2024': 1, '2025': 1 },
};
const APPROVED = { count: 2, amount: '2000.00', paid_amount: '1150.00', outstanding: '900.00' };

test('the sums of a cooperative, and of all with its districts and sectors, as of the last event', async (context) => {
  const { app, get } = await start(context);
  const { last_sequence } = (await get('/events')).json;
  const { json: one } = await get('/cooperatives/1/statistics');
  assert.deepEqual(one, {
    ...{ as_of: '2025-06-15T12:00:00+02:00', sequence: last_sequence, members: ofFirst, production: [] },
    loans: {
      ...{ pending: NO_LOANS, approved: APPROVED, rejected: NO_LOANS, cancelled: NO_LOANS },
      ...{ paid: NO_LOANS, defaulted: NO_LOANS },
    },
    savings: {
      ...{ accounts: 0, total_contributions_rwf: '0.00', total_withdrawals_rwf: '0.00' },
      balance_rwf: '0.00',
    },
  });
  const { json: all } = await get('/statistics');
  assert.deepEqual([all.members.total, all.members.by_status.inactive], [3, 1]);
  assert.equal(all.loans.pending.amount, '1000.00');
  assert.deepEqual(all.districts, [
    { district: 'Huye', cooperatives: 1, active_members: 0 },
    { district: null, cooperatives: 1, active_members: 2 },
  ]);
  assert.deepEqual(all.sectors, [
    { sector: 'livestock', cooperatives: 1, active_members: 0 },
    { sector: null, cooperatives: 1, active_members: 2 },
  ]);
  assert.equal((await get('/cooperatives/9/statistics')).status, 404);
  const member = { identity_card: nid(9), member_code: 'M-9', full_name: 'Nine', cooperative_id: '2' };
  await app.send('/members', { method: 'POST', body: member });
  const later = (await get('/statistics')).json;
  assert.deepEqual([later.members.total, later.sequence], [4, last_sequence + 1]);
  assert.equal(later.districts[0].active_members, 1);
});

test('the sums of a district are those of its cooperatives, in any letter case, as far as the key sees them', async (context) => {
  const { app, get } = await start(context);
  const add = (path: string, body: object) => app.send(path, { method: 'POST', body });
  assert.equal((await add('/cooperatives', { code: 'C-3', name: 'Third', district: 'HUYE' })).status, 201);
  const member = { identity_card: nid(9), member_code: 'M-9', full_name: 'Nine', cooperative_id: '3' };
  assert.equal((await add('/members', member)).status, 201);
  const { json: of } = await get('/statistics?district=huye');
  const [second, third] = [
    (await get('/cooperatives/2/statistics')).json,
    (await get('/cooperatives/3/statistics')).json,
  ];
  assert.equal(of.members.total, second.members.total + third.members.total);
  assert.deepEqual(of.members.by_status, { ...ofFirst.by_status, active: 1, inactive: 1 });
  assert.deepEqual(of.loans, second.loans);
  assert.deepEqual(of.districts, [
    { district: 'HUYE', cooperatives: 1, active_members: 1 },
    { district: 'Huye', cooperatives: 1, active_members: 0 },
  ]);
  // What was summed before for another district, or for all, is not given again.
  assert.deepEqual((await get('/statistics')).json.members.total, 4);
  const { json: nowhere } = await get('/statistics?district=Nowhere');
  assert.deepEqual([nowhere.members.total, nowhere.districts, nowhere.sequence], [0, [], of.sequence]);
  const { key } = app.issue(SCOPES, { cooperatives: [1, 3] });
  assert.equal((await app.send('/statistics?district=Huye', { key })).json.members.total, 1);
});

test('money and weights are for keys with members:financials, the rest for every reader', async (context) => {
  const { app } = await start(context);
  const { key } = app.issue(['cooperatives:read']);
  for (const path of ['/statistics', '/cooperatives/1/statistics']) {
    const { json } = await app.send(path, { key });
    assert.deepEqual([json.production, json.loans, json.savings], [null, null, null], path);
    assert.ok(json.members.total > 0);
  }
  const lookups = app.issue(SCOPES, { isLookupOnly: true }).key;
  assert.equal((await app.send('/statistics', { key: lookups })).json.loans.approved.count, 2);
});

test('a key of some cooperatives gets their sums, and the others do not exist for it', async (context) => {
  const { app } = await start(context);
  const { key } = app.issue(SCOPES, { cooperatives: [2] });
  const { json } = await app.send('/statistics', { key });
  assert.deepEqual([json.members.total, json.loans.approved.count, json.loans.pending.count], [1, 0, 1]);
  assert.deepEqual(json.districts, [{ district: 'Huye', cooperatives: 1, active_members: 0 }]);
  const outside = await app.send('/cooperatives/1/statistics', { key });
  assert.deepEqual([outside.status, outside.json], [404, { detail: 'Not found.' }]);
  assert.equal((await app.send('/statistics')).json.members.total, 3);
  const none = app.issue(SCOPES, { cooperatives: [] }).key;
  assert.equal((await app.send('/statistics', { key: none })).json.members.total, 0);
});

test('totals of another release are not served, and a later request has those of this one', async (context) => {
  const { app } = await start(context);
  const db = openFile(app.config.storage);
  context.after(() => db.close());
  const [{ version } = {}] = db.prepare('SELECT version FROM totals_zone').all() as { version: string }[];
  const detail = 'The totals were stored by another release. On the server, run `registry summarize`.';
  const paths = ['/statistics', '/cooperatives/1/statistics'];
  for (const stored of [version, '0', version]) {
    db.prepare('UPDATE totals_zone SET version = ?').run(stored);
    for (const path of paths) {
      const { status, json } = await app.send(path);
      assert.equal(status, stored === version ? 200 : 503, path);
      if (status === 503) assert.deepEqual(json, { detail });
    }
  }
});

test('the command prints tables, the object of the response, or a number in each row', async (context) => {
  const { app, get } = await start(context);
  const run = (...args: string[]) =>
    command(['statistics', ...args], { REGISTRY_DB: app.config.storage }, app.clock);
  const { out: table } = await run('a-1');
  assert.match(table, /^Statistics of {2}A-1 Coop A-1\nAs of {10}2025-06-15T12:00:00\+02:00\nMembers {8}2\n/);
  assert.match(table, /\nRole \(active members\) {2}Members\nMEMBER {17}1\nTREASURER {14}1\n/);
  assert.match(table, /\napproved {2}2 {7}2000\.00 {7}1150\.00 {5}900\.00\n/);
  assert.match((await run()).out, /\nDistrict {2}Cooperatives {2}Active members\nHuye {6}1 {13}0\n- {9}1/);
  for (const [args, path] of [
    [['A-1'], '/cooperatives/1/statistics'],
    [[], '/statistics'],
  ] as const)
    assert.deepEqual(JSON.parse((await run(...args, '--json')).out), (await get(path)).json);
  const rows = (await run('--csv')).out.split('\n');
  for (const row of [
    'group,key,product,measure,value',
    'members,,,total,3',
    'members_by_status,inactive,,members,1',
    'loans,approved,,outstanding,900.00',
    'districts,Huye,,cooperatives,1',
  ])
    assert.ok(rows.includes(row), row);
  assert.deepEqual(await run('Z-9').then(({ status, err }) => [status, err]), [
    1,
    'There is no cooperative with this code.\n',
  ]);
  assert.equal((await run('--csv', '--json')).status, 2);
});
