/** Uses of what is deprecated are counted in memory, and written at most once a minute. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../support/app.ts';
import { openKeyStore } from '../../support/sqlite.ts';
import { createSecret, KEY } from '../conformance/sample.ts';

test('counts are written a minute after the first, wait for a lock, and are written by close', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const file = join(temporaryFolder(context), 'keys.db');
  const [serving, operator] = [openKeyStore(file), openKeyStore(file)];
  context.after(() => operator.close());
  for (let i = 0; i < 2; i++) serving.create(KEY, createSecret(), 1);
  const stored = () =>
    operator
      .deprecatedUses()
      .map(({ keyId, name, requests, lastUsedAt }) => [keyId, name, requests, lastUsedAt]);

  serving.countDeprecatedUse(2, 'GET /b', 10);
  context.mock.timers.tick(30_000);
  serving.countDeprecatedUse(2, 'GET /a', 40);
  serving.countDeprecatedUse(2, 'GET /b', 41);
  serving.countDeprecatedUse(1, 'GET /b', 42);
  context.mock.timers.tick(29_999);
  assert.deepEqual(stored(), []);
  context.mock.timers.tick(1);
  const first = [
    [1, 'GET /b', 1, 42],
    [2, 'GET /a', 1, 40],
    [2, 'GET /b', 2, 41],
  ];
  assert.deepEqual(stored(), first);

  serving.countDeprecatedUse(1, 'GET /b', 70);
  operator.connection.exec('BEGIN IMMEDIATE');
  context.mock.timers.tick(60_000);
  operator.connection.exec('COMMIT');
  assert.deepEqual(stored(), first);
  context.mock.timers.tick(60_000);
  assert.deepEqual(stored()[0], [1, 'GET /b', 2, 70]);

  serving.countDeprecatedUse(1, 'GET /b', 140);
  serving.close();
  assert.deepEqual(stored()[0], [1, 'GET /b', 3, 140]);
});
