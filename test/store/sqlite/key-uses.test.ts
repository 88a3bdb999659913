/** What requests of keys did is counted in memory, and written at most once a minute. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../support/app.ts';
import { openKeyStore } from '../../support/sqlite.ts';
import { createSecret, KEY } from '../conformance/sample.ts';

const DAY = 86_400;

/** A service and an operator, two keys, and time that only the test lets pass. */
function open(context: TestContext) {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const file = join(temporaryFolder(context), 'keys.db');
  const [serving, operator] = [openKeyStore(file), openKeyStore(file)];
  context.after(() => operator.close());
  for (let i = 0; i < 2; i++) serving.create(KEY, createSecret(), 1);
  const stored = (now = 100) =>
    operator
      .uses(now)
      .map(({ keyId, kind, name, requests, lastAt }) => [keyId, kind, name, requests, lastAt]);
  return { serving, operator, stored, pass: (ms: number) => context.mock.timers.tick(ms) };
}

test('counts are written a minute after the first, wait for a lock, and are written by close', (context) => {
  const { serving, operator, stored, pass } = open(context);
  serving.countUse(2, 'deprecated', 'GET /b', 10);
  pass(30_000);
  serving.countUse(2, 'admitted', '', 40);
  serving.countUse(2, 'deprecated', 'GET /a', 40);
  serving.countUse(2, 'deprecated', 'GET /b', 41);
  serving.countUse(1, 'admitted', '', 42);
  serving.countUse(1, 'admitted', '', 43);
  pass(29_999);
  assert.deepEqual(stored(), []);
  pass(1);
  const first = [
    [1, 'admitted', '', 2, 43],
    [2, 'admitted', '', 1, 40],
    [2, 'deprecated', 'GET /a', 1, 40],
    [2, 'deprecated', 'GET /b', 2, 41],
  ];
  assert.deepEqual(stored(), first);

  serving.countUse(1, 'admitted', '', 70);
  operator.connection.exec('BEGIN IMMEDIATE');
  pass(60_000);
  operator.connection.exec('COMMIT');
  assert.deepEqual(stored(), first);
  pass(60_000);
  assert.deepEqual(stored()[0], [1, 'admitted', '', 3, 70]);

  serving.countUse(1, 'admitted', '', 140);
  serving.close();
  assert.deepEqual(stored()[0], [1, 'admitted', '', 4, 140]);

  serving.countUse(1, 'admitted', '', 200);
  pass(60_000);
  assert.deepEqual(stored()[0], [1, 'admitted', '', 4, 140]);
});

test('refusals of the last day are shown, and older ones are removed', (context) => {
  const { serving, operator, stored, pass } = open(context);
  serving.countUse(1, 'refused', 'scope', 10);
  serving.countUse(1, 'refused', 'scope', 4_000);
  serving.countUse(1, 'refused', 'address', 4_001);
  serving.countUse(1, 'admitted', '', 4_002);
  pass(60_000);
  const admitted = [1, 'admitted', '', 1, 4_002];
  assert.deepEqual(stored(4_002), [
    admitted,
    [1, 'refused', 'address', 1, 4_001],
    [1, 'refused', 'scope', 2, 4_000],
  ]);
  assert.deepEqual(stored(DAY), [
    admitted,
    [1, 'refused', 'address', 1, 4_001],
    [1, 'refused', 'scope', 1, 4_000],
  ]);
  assert.deepEqual(stored(DAY + 4_000), [admitted]);
  assert.equal(operator.connection.count('key_uses'), 4);
  serving.countUse(2, 'refused', 'host', DAY + 4_000);
  serving.close();
  assert.equal(operator.connection.count('key_uses'), 2);
});
