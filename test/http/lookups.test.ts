/** Many lookups in one request (docs/api.md#many-lookups-at-once). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { MOST_LOOKUPS } from '../../src/registry/routes/lookup.ts';
import { startApp } from '../support/app.ts';
import { correct } from '../support/correct.ts';
import { nid } from '../support/importing.ts';
import { startLending } from '../support/lending.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

/** Members 1 and 2 are in the first cooperative; 3, the same person as 1, is in the second. */
async function start(context: TestContext) {
  const ledger = memoryLedger();
  const lending = await startLending(context, { ledger });
  const { app } = lending;
  const look = (identityCards: unknown, key = app.fullKey) =>
    app.send('/members/lookups', { method: 'POST', key, body: { identity_cards: identityCards } });
  return { ...lending, ledger, look };
}

test('each result is what a lookup of its number answers, in the order of the request', async (context) => {
  const { app, look, ledger } = await start(context);
  await correct(app, (store, options) =>
    store.run('replaceIdentityCard', { old: nid(2), current: nid(8) }, options),
  );
  const asked = [nid(9), nid(2), nid(1)];
  for (const key of [
    app.fullKey,
    app.issue(['members:read']).key,
    app.issue(['members:read'], { cooperatives: [2] }).key,
    app.issue(['members:read'], { isLookupOnly: true }).key,
  ]) {
    const single = await Promise.all(asked.map((number) => app.send(`/members/${number}`, { key })));
    const members = single.map(({ status, json }) => (status === 404 ? null : json));
    assert.ok(members.some((member) => member !== null));
    const before = ledger.readings.length;
    const alone = ledger.readings.slice(before - asked.length);
    const { status, json, headers } = await look(asked, key);
    const results = asked.map((number, i) => ({ identity_card: number, member: members[i] }));
    assert.deepEqual([status, json], [200, { results }]);
    assert.equal(ledger.readings.length, before + 1);
    assert.ok(headers['x-access-receipt']);
    const { subject, fields } = ledger.readings[before] ?? {};
    const union = (values: readonly (readonly unknown[] | undefined)[]) => [...new Set(values.flat())].sort();
    const of = (name: 'identityCards' | 'memberIds') => alone.map((reading) => reading.subject[name] ?? []);
    assert.deepEqual(union([subject?.identityCards]), union(of('identityCards')));
    assert.deepEqual(union([subject?.memberIds]), union(of('memberIds')));
    assert.deepEqual(fields, alone.find((reading) => reading.fields.length > 0)?.fields);
  }
});

test('a list that finds nobody is recorded as having shown no fields', async (context) => {
  const { look, ledger } = await start(context);
  assert.equal((await look([nid(8), nid(9)])).status, 200);
  assert.deepEqual(ledger.readings.at(-1)?.fields, []);
});

test('a list that is refused says which numbers are wrong, and shows nobody', async (context) => {
  const { look, ledger } = await start(context);
  const before = ledger.readings.length;
  const wrong = 'Expected a national ID of exactly 16 digits.';
  for (const [identityCards, faults] of [
    [[nid(1), nid(2), nid(3), '123', 7], { 3: [wrong], 4: [wrong] }],
    [[nid(1), nid(2), nid(1)], { 2: ['This national ID is in the list twice.'] }],
    [[], ['This list may not be empty.']],
    [
      Array.from({ length: MOST_LOOKUPS + 1 }, (_, i) => nid(i + 1)),
      ['Send at most 100 national IDs at once.'],
    ],
    [nid(1), ['Expected a list of national IDs.']],
    [null, ['This field may not be null.']],
    [undefined, ['This field is required.']],
  ] as const) {
    const { status, json } = await look(identityCards);
    assert.deepEqual([status, json], [400, { identity_cards: faults }]);
  }
  assert.equal(ledger.readings.length, before);
});

test('as many requests as numbers are taken from both windows, or none', async (context) => {
  const app = await startApp(context);
  const { key } = app.issue(['members:read'], { limits: { perHour: 10, perDay: 15 } });
  const look = (numbers: readonly unknown[], method = 'POST') =>
    app.send('/members/lookups', { method, key, body: { identity_cards: numbers } });
  const numbers = (count: number) => Array.from({ length: count }, (_, i) => nid(i + 1));
  const remaining = async () => (await app.send('/me', { key })).headers['x-ratelimit-remaining'];

  const first = await look(numbers(6));
  assert.deepEqual([first.status, first.headers['x-ratelimit-remaining']], [200, '4']);
  app.clock.advance(600_000);
  const refused = await look(numbers(5));
  assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '3000']);
  assert.equal(refused.headers['x-ratelimit-remaining'], '4', 'a refused request takes nothing');
  assert.equal((await look(numbers(4))).status, 200);
  app.clock.advance(3_000_000);
  assert.equal(await remaining(), '4', 'of the day, after 10 lookups and this request');
  assert.equal((await look(['wrong', 'too', nid(1)])).status, 400);
  assert.equal(await remaining(), '0', 'of a list that is refused, each item counts');

  app.clock.advance(86_400_000);
  const never = await look(numbers(11));
  assert.deepEqual(never.json, {
    detail: 'The limits of this key admit 10 requests at once, not 11.',
  });
  assert.deepEqual([never.status, never.headers['x-ratelimit-remaining']], [400, '9'], 'it is one request');
});

test('a body that cannot be read is one request, and refused with 429 like others', async (context) => {
  const app = await startApp(context);
  const { key } = app.issue(['members:read'], { limits: { perHour: 3, perDay: 30 } });
  const sent = { method: 'POST', key, headers: { 'Content-Type': 'application/json' } };
  const attempts = [
    { ...sent, raw: '{' },
    { ...sent, raw: 'x', headers: { 'Content-Type': 'text/plain' } },
    { ...sent, raw: `"${'x'.repeat(70_000)}"` },
  ];
  const statuses = async () => {
    const all: number[] = [];
    for (const attempt of attempts) all.push((await app.send('/members/lookups', attempt)).status);
    return all;
  };
  assert.deepEqual(await statuses(), [400, 415, 413]);
  assert.deepEqual(await statuses(), [429, 429, 429]);
});

test('the log names the window that has no room for a list', async (context) => {
  const app = await startApp(context);
  const { key } = app.issue(['members:read'], { limits: { perHour: 100, perDay: 150 } });
  const look = (count: number) => {
    const body = { identity_cards: Array.from({ length: count }, (_, i) => nid(i + 1)) };
    return app.send('/members/lookups', { method: 'POST', key, body });
  };
  assert.equal((await look(100)).status, 200);
  app.clock.advance(3_600_000);
  assert.equal((await look(60)).status, 429);
  assert.match(app.logLines.at(-1) ?? '', /"reason":"throttled_day"/);
  assert.equal((await look(50)).status, 200);
});

test('a key without the scope is refused before its body is read', async (context) => {
  const app = await startApp(context);
  const { key } = app.issue(['cooperatives:read']);
  assert.equal((await app.send('/members/lookups', { method: 'POST', key, raw: 'x' })).status, 403);
  assert.equal((await app.send('/members/lookups', { key: app.fullKey })).status, 405);
});
