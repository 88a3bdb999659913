/** What embedding programs read is recorded, where they ask for it (docs/ledger.md). */
import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { type TestContext, test } from 'node:test';
import type { Reading } from '../src/store/contract/access-ledger.ts';
import { nid } from './support/importing.ts';
import { startLending } from './support/lending.ts';
import { memoryLedger } from './support/memory-ledger.ts';

async function start(context: TestContext) {
  const ledger = memoryLedger();
  const { app, lend } = await startLending(context, { ledger });
  await lend({ reference: 'L-1' });
  /** The readings of a call. */
  const during = async (call: () => Promise<unknown>): Promise<Reading[]> => {
    const before = ledger.readings.length;
    await call();
    return ledger.readings.slice(before);
  };
  return { ledger, registry: app.registry.embedded, clock: app.clock, during };
}

const collect = async (rows: AsyncIterable<unknown>) => {
  for await (const _ of rows);
};

test('each reading of persons is recorded with the user, and what the program says of it', async (context) => {
  const { registry, clock, during } = await start(context);
  const { members, loans, payments } = registry;
  const said = { purpose: 'Audit', endUser: 'A. A.' };
  const last = (await registry.events()).last_sequence;
  const cases: [() => Promise<unknown>, string, Reading['subject'], ...Partial<Reading>[]][] = [
    [() => registry.lookUp(nid(1), said), '/members/{id}', { identityCards: [nid(1)], memberIds: [3, 1] }],
    [() => registry.lookUp(nid(8), said), '/members/{id}', { identityCards: [nid(8)] }, { status: 404 }],
    [
      () => registry.lookUpMembership(2, nid(1), said),
      '/cooperatives/{id}/members/{nid}',
      { identityCards: [nid(1)], memberIds: [3] },
    ],
    [() => members.get(2, said), '/members/{id}', { memberIds: [2] }],
    [() => members.list({ cooperative: '1', ...said }), '/members', { memberIds: [1, 2] }],
    [
      () => loans.list({ identityCard: nid(8), ...said }),
      '/loans',
      { identityCards: [nid(8)], memberIds: [] },
    ],
    [() => members.deliveries(2, said), '/members/{id}/deliveries', { memberIds: [2] }],
    [
      () => collect(payments.all({ cooperative: '2', ...said })),
      '/payments/export',
      { all: { asOfSequence: last, cooperativeIds: [2] } },
    ],
  ];
  for (const [call, path, subject, { status = 200 } = {}] of cases) {
    const [{ requestId, fields, ...reading } = {} as Reading, ...others] = await during(call);
    assert.deepEqual(reading, {
      timeMs: clock.now(),
      reader: { user: userInfo().username },
      route: `GET /api/v1${path}`,
      status,
      ...(['/members', '/loans'].includes(path) ? { isPage: true } : {}),
      address: null,
      ...said,
      subject,
    });
    assert.deepEqual([requestId.length, others, fields.length === 0], [36, [], status === 404]);
  }
  const [plain] = await during(() => registry.lookUp(nid(1)));
  assert.deepEqual([plain?.purpose, plain?.endUser], [null, null]);
  assert.deepEqual(plain?.fields, ['identity', 'contact']);
  const [rich] = await during(() => registry.lookUp(nid(1), { financials: true }));
  assert.deepEqual(rich?.fields, ['identity', 'contact', 'financials']);
  assert.deepEqual(await during(() => registry.statistics({ financials: true })), []);
  assert.deepEqual(await during(() => members.get(99)), []);
});

test('what cannot be recorded is not given', async (context) => {
  const { ledger, registry, during } = await start(context);
  ledger.isFull = true;
  const refused = { name: 'RegistryError', code: 'unavailable', reason: 'ledger' };
  await assert.rejects(registry.lookUp(nid(1)), refused);
  await assert.rejects(registry.lookUp(nid(8)), refused);
  await assert.rejects(registry.members.list(), refused);
  await assert.rejects(collect(registry.members.all()), refused);
  assert.equal((await registry.cooperatives.list()).count, 2);
  ledger.isFull = false;
  const wrong = { code: 'invalid', message: 'purpose: Expected one text of 1 to 200 printable characters.' };
  for (const purpose of ['x'.repeat(201), 'a\nb'])
    for (const call of [
      () => registry.lookUp(nid(1), { purpose }),
      () => registry.members.get(1, { purpose }),
      () => registry.members.list({ purpose }),
    ])
      assert.deepEqual(await during(() => assert.rejects(call(), wrong)), []);
});
