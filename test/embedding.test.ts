/** What an embedding program can call. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError, openRegistry, StorageError } from '../src/index.ts';
import { temporaryFolder } from './support/app.ts';

test('an embedding program is given a handler, listen, close and failed, and no way around the rules', async (context) => {
  const registry = openRegistry({ db: join(temporaryFolder(context), 'registry.db') });
  context.after(() => registry.close());
  assert.deepEqual(Object.keys(registry).sort(), ['close', 'failed', 'handler', 'listen']);
});

test('a location that cannot be used is a StorageError, a wrong option a ConfigError', (context) => {
  const folder = temporaryFolder(context);
  // The folder itself is no file.
  assert.throws(() => openRegistry({ db: folder }), StorageError);
  assert.throws(() => openRegistry({ db: join(folder, 'r.db'), timeZoneOffset: '2' }), ConfigError);
});
