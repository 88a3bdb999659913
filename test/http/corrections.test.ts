/** What clients see of corrected people: replaced numbers, merged and moved members. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openJournal } from '../../src/journal/undo.ts';
import { findContradictions } from '../../src/people/find-contradictions.ts';
import { nowSeconds } from '../../src/runtime/scheduler.ts';
import { openDatabase } from '../../src/sqlite/open-database.ts';
import { REGISTRY_SCHEMA } from '../../src/sqlite/schemas.ts';
import { startApp } from '../support/app.ts';
import { correct } from '../support/correct.ts';
import { nid } from '../support/importing.ts';

const person = (n: number, cooperative: number, more: object = {}) => ({
  ...{ cooperative_id: String(cooperative), identity_card: nid(n), member_code: `M-${n}` },
  ...{ full_name: `Person ${n}`, ...more },
});

/** Members 1 (person 1) and 2 (person 2) in cooperative 1, member 3 (person 1) in cooperative 2. */
async function start(context: TestContext) {
  const app = await startApp(context);
  const post = async (path: string, body: unknown) => {
    const response = await app.send(path, { method: 'POST', body });
    assert.equal(response.status, 201, response.text);
    return response.json;
  };
  for (const code of ['A-1', 'B-2']) await post('/cooperatives', { code, name: code });
  await post('/members', person(1, 1, { mobile: '+250781234567' }));
  await post('/members', person(2, 1));
  await post('/members', person(1, 2));
  return app;
}

test('a replaced national ID finds the person, shows the number asked for, and names the current one', async (context) => {
  const app = await start(context);
  const post = (path: string, body: object) => app.send(path, { method: 'POST', body });
  const loan = { member_id: '1', reference: 'L-1', amount: '100', interest_rate: '0', status: 'approved' };
  assert.equal((await post('/loans', loan)).status, 201);
  const payment = { loan_id: '1', reference: 'P-1', amount: '10', method: 'cash' };
  assert.equal((await post('/payments', payment)).status, 201);
  await correct(app, (store, options) =>
    store.run('replaceIdentityCard', { old: nid(1), current: nid(8) }, options),
  );
  await correct(app, (store, options) =>
    store.run('replaceIdentityCard', { old: nid(8), current: nid(9) }, options),
  );
  const current = await app.send(`/members/${nid(9)}/`);
  assert.equal(current.status, 200);
  assert.equal(current.headers['content-location'], undefined);
  assert.ok(!('current_identity_card' in current.json));
  for (const former of [nid(1), nid(8)]) {
    const found = await app.send(`/members/${former}/`);
    assert.equal(found.status, 200);
    assert.equal(found.headers['content-location'], `/api/v1/members/${nid(9)}`);
    const asked = { identity_card: former, current_identity_card: nid(9) };
    assert.deepEqual(found.json, { ...current.json, ...asked });
    const membership = await app.send(`/cooperatives/1/members/${former}/`);
    assert.equal(membership.headers['content-location'], `/api/v1/cooperatives/1/members/${nid(9)}`);
    const { json: currentMembership } = await app.send(`/cooperatives/1/members/${nid(9)}`);
    assert.deepEqual(membership.json, { ...currentMembership, current_identity_card: nid(9) });
    assert.equal(currentMembership.current_identity_card, undefined);
    const { json: list } = await app.send(`/members?identity_card=${former}`);
    assert.deepEqual(
      list.results.map((row: { id: string; identity_card: string }) => [row.id, row.identity_card]),
      [
        ['1', nid(9)],
        ['3', nid(9)],
      ],
    );
    const { json: loans } = await app.send(`/loans?identity_card=${former}`);
    assert.deepEqual([loans.count, loans.results[0]?.member.identity_card], [1, nid(9)]);
    for (const filter of [`identity_card=${former}`, `identity_card=${former}&loan=1`])
      assert.equal((await app.send(`/payments?${filter}`)).json.count, 1, filter);
    const filtered = await app.send(`/members?identity_card=${former}&cooperative=2`);
    assert.equal(filtered.json.count, 1);
  }
  assert.equal((await app.send(`/members/${nid(7)}`)).status, 404);
  assert.equal((await app.send(`/cooperatives/1/members/${nid(7)}`)).status, 404);
  assert.doesNotMatch(app.logLines.join(''), /[0-9]{16}/);
});

test('a replaced national ID cannot be given to anybody until it is released', async (context) => {
  const app = await start(context);
  await correct(app, (store, options) =>
    store.run('replaceIdentityCard', { old: nid(1), current: nid(9) }, options),
  );
  const message = ['This national ID was replaced and belongs to nobody any more.'];
  const taken = { ...person(1, 2), member_code: 'M-77' };
  const posted = await app.send('/members', { method: 'POST', body: taken });
  assert.deepEqual([posted.status, posted.json], [400, { identity_card: message }]);
  const put = await app.send('/members/2', {
    method: 'PUT',
    body: { ...person(2, 1), identity_card: nid(1) },
  });
  assert.deepEqual([put.status, put.json], [400, { identity_card: message }]);
  const patched = await app.send('/members/2', { method: 'PATCH', body: { identity_card: nid(1) } });
  assert.deepEqual([patched.status, patched.json], [400, { identity_card: message }]);
  await correct(app, (store, options) => store.run('releaseIdentityCard', { former: nid(1) }, options));
  assert.equal((await app.send(`/members/${nid(1)}`)).status, 404);
  assert.equal((await app.send('/members', { method: 'POST', body: taken })).status, 201);
  const found = await app.send(`/members/${nid(1)}`);
  assert.deepEqual([found.status, found.headers['content-location']], [200, undefined]);
});

test('a number that has replaced another one is not changed over HTTP', async (context) => {
  const app = await start(context);
  await correct(app, (store, options) =>
    store.run('replaceIdentityCard', { old: nid(1), current: nid(9) }, options),
  );
  const patched = await app.send('/members/1', { method: 'PATCH', body: { identity_card: nid(5) } });
  assert.deepEqual(
    [patched.status, patched.json],
    [400, { identity_card: ['This national ID has replaced another one. An operator can change it.'] }],
  );
  const other = await app.send('/members/1', { method: 'PATCH', body: { full_name: 'Keza' } });
  assert.equal(other.status, 200);
});

test('the id of a merged member is gone, and names the member that has everything now', async (context) => {
  const app = await start(context);
  const first = await correct(app, (store, options) =>
    store.run('mergeMembers', { fromId: 1, intoId: 2 }, options),
  );
  const gone = async (path: string, detail: string) => {
    for (const method of ['GET', 'PUT', 'PATCH']) {
      if (path.endsWith('s') && method !== 'GET') continue;
      const body = method === 'GET' ? {} : { body: { full_name: 'Keza' } };
      const response = await app.send(path, { method, ...body });
      assert.deepEqual([response.status, response.json], [410, { detail }], method);
    }
  };
  await gone('/members/1', 'Merged into member 2.');
  await gone('/members/1/deliveries', 'Merged into member 2.');
  assert.equal((await app.send('/cooperatives/1/members')).json.count, 1);
  const kept = await app.send('/members/2');
  assert.deepEqual([kept.json.mobile, kept.json.full_name], ['+250781234567', 'Person 2']);
  assert.equal((await app.send('/cooperatives/1')).json.members_count, 1);
  // Person 1 is still a member of cooperative 2, so the number is that membership's only.
  const person1 = await app.send(`/members/${nid(1)}`);
  assert.deepEqual([person1.json.memberships.length, person1.headers['content-location']], [1, undefined]);
  await app.send('/members', { method: 'POST', body: person(4, 1) });
  await correct(app, (store, options) => store.run('mergeMembers', { fromId: 2, intoId: 4 }, options));
  await gone('/members/1', 'Merged into member 4.');
  await gone('/members/2', 'Merged into member 4.');
  const former = await app.send(`/members/${nid(2)}`);
  assert.equal(former.headers['content-location'], `/api/v1/members/${nid(4)}`);
  const log = openJournal(app.registry.storage);
  assert.equal(
    (await log.undo(first, 20, { systemUser: 'tester', nowSeconds: nowSeconds(app.clock) })).outcome,
    'refused',
  );
  assert.equal(
    (await log.undo(first + 1, 20, { systemUser: 'tester', nowSeconds: nowSeconds(app.clock) })).outcome,
    'undone',
  );
  await log.close();
  await gone('/members/1', 'Merged into member 2.');
  assert.equal((await app.send('/members/2')).status, 200);
  assert.equal((await app.send('/members/3000')).status, 404);
});

test('a number that is taken over HTTP is found among contradictions, also of a person who was checked', async (context) => {
  const app = await start(context);
  const db = openDatabase(app.registry.storage.pathForOpening(), { waitMs: 0, schema: REGISTRY_SCHEMA });
  context.after(() => db.close());
  const found = () =>
    findContradictions(db).persons.map(({ members, contradictions }) => [
      members.map(({ id }) => id),
      contradictions,
    ]);
  const patch = async (body: object) => {
    const { status, text } = await app.send('/members/2', { method: 'PATCH', body });
    assert.equal(status, 200, text);
  };
  assert.deepEqual(found(), []);
  const other = person(4, 2, { full_name: 'Uwase Rose', gender: 'FEMALE', date_of_birth: '1970-01-01' });
  assert.equal((await app.send('/members', { method: 'POST', body: other })).status, 201);
  await patch({ identity_card: nid(4), gender: 'MALE', date_of_birth: '1985-01-01' });
  const all = [
    [2, 4],
    ['different years of birth', 'different genders', 'names without a common word'],
  ];
  assert.deepEqual(found(), [all]);
  await correct(app, (corrections, options) =>
    corrections.run('acceptContradictions', { nid: nid(4) }, options),
  );
  assert.deepEqual(found(), []);
  await patch({ role: 'SECRETARY' });
  assert.deepEqual(found(), []);
  await patch({ date_of_birth: '1985-01-02' });
  assert.deepEqual(found(), [all]);
});
