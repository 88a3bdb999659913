/** Writes over HTTP are recorded under the key that made them. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openHistory } from '../../src/journal/history-commands.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { storageAt } from '../support/storage.ts';

const NID = '1198589000123042';

async function entriesOf(app: TestApp, id: string, kind: 'members' | 'cooperatives'): Promise<unknown[][]> {
  const history = openHistory(storageAt(app.config.storage));
  const [found] = kind === 'members' ? history.ofMember(Number(id)) : history.ofCooperative(id);
  history.close();
  return (found?.entries ?? []).map(({ field, old, new: value, actor }) => [field, old, value, actor]);
}

async function start(context: TestContext) {
  const app = await startApp(context);
  const [first, second] = [0, 1].map(() =>
    app.issue(['members:write', 'cooperatives:write', 'members:read']),
  );
  const sendAs = (issued: typeof first, method: string, path: string, body: unknown) =>
    app.send(path, { method, body, key: issued?.key ?? null });
  return { app, first, second, sendAs };
}

test('POST and PUT record the key, and each field that PUT changed', async (context) => {
  const { app, first, second, sendAs } = await start(context);
  const cooperative = await sendAs(first, 'POST', '/cooperatives', { code: 'A-1', name: 'One' });
  const body = {
    cooperative_id: cooperative.json.id,
    identity_card: NID,
    member_code: 'M-1',
    full_name: 'Keza',
  };
  const created = await sendAs(first, 'POST', '/members', body);
  assert.equal(created.status, 201, created.text);
  const path = `/members/${created.json.id}`;
  const changed = { ...body, full_name: 'Keza Aline', status: 'suspended' };
  for (const issued of [second, first])
    assert.equal((await sendAs(issued, 'PUT', path, changed)).status, 200);
  const [one, two] = [`key:${first?.id}`, `key:${second?.id}`];
  // The second PUT changes nothing and is not recorded.
  assert.deepEqual(await entriesOf(app, created.json.id, 'members'), [
    ['created', null, null, one],
    ['full_name', 'Keza', 'Keza Aline', two],
    ['status', 'active', 'suspended', two],
  ]);
  const renamed = { code: 'A-1', name: 'Two' };
  await sendAs(second, 'PUT', `/cooperatives/${cooperative.json.id}`, renamed);
  assert.deepEqual(await entriesOf(app, 'A-1', 'cooperatives'), [
    ['created', null, null, one],
    ['name', 'One', 'Two', two],
  ]);
});

test('a refused write leaves no trace in the history', async (context) => {
  const { app, first, sendAs } = await start(context);
  const cooperative = await sendAs(first, 'POST', '/cooperatives', { code: 'A-1', name: 'One' });
  const body = { cooperative_id: cooperative.json.id, full_name: 'Keza' };
  const people = [
    { ...body, identity_card: NID, member_code: 'M-1' },
    { ...body, identity_card: NID.replace('042', '043'), member_code: 'M-2' },
  ];
  const ids: string[] = [];
  for (const person of people) ids.push((await sendAs(first, 'POST', '/members', person)).json.id);
  const taken = { ...people[1], member_code: 'M-1' };
  assert.equal((await sendAs(first, 'PUT', `/members/${ids[1]}`, taken)).status, 400);
  assert.deepEqual(await entriesOf(app, ids[1] ?? '', 'members'), [
    ['created', null, null, `key:${first?.id}`],
  ]);
});
