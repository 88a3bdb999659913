/** `openRegistry`, for programs that embed the registry (docs/embedding.md). */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError, openRegistry, StorageError } from '../src/index.ts';
import { temporaryFolder } from './support/app.ts';

test('an empty option is an error, and not the default that an empty setting means', () => {
  const options = { db: '', publicUrl: ' ', timeZoneOffset: '' };
  assert.throws(
    () => openRegistry(options),
    (error) =>
      error instanceof ConfigError &&
      error.faults.join() === 'db: It is empty.,publicUrl: It is empty.,timeZoneOffset: It is empty.',
  );
});

test('all invalid options are reported together, and no file is created', (context) => {
  const db = join(temporaryFolder(context), 'registry.db');
  assert.throws(
    () =>
      openRegistry({
        db,
        port: 65_536,
        publicUrl: 'x',
        trustedProxies: ['10.0.0.0/33'],
        timeZoneOffset: '2',
      }),
    (error) => error instanceof ConfigError && error.faults.length === 4,
  );
  assert.ok(!existsSync(db));
});

test('two registries in one process share neither files, log nor end', async (context) => {
  const folder = temporaryFolder(context);
  const open = (name: string, timeZoneOffset: string) => {
    let log = '';
    const writeLog = (lines: string) => {
      log += lines;
    };
    const registry = openRegistry({
      db: join(folder, name, 'registry.db'),
      timeZoneOffset,
      logLevel: 'info',
      writeLog,
    });
    return { registry, log: () => log };
  };
  const one = open('one', '+02:00');
  const two = open('two', '+03:00');
  context.after(() => Promise.all([one.registry.close(), two.registry.close()]));
  const running = await one.registry.listen();
  const other = await two.registry.listen();
  const statusOf = async (port: number) => (await fetch(`http://127.0.0.1:${port}/readyz`)).status;
  assert.deepEqual([await statusOf(running.address.port), await statusOf(other.address.port)], [200, 200]);
  await one.registry.close();
  assert.equal(await statusOf(other.address.port), 200);
  assert.equal((await two.registry.request('GET', '/readyz')).status, 200);
  await assert.rejects(one.registry.request('GET', '/readyz'), /closed/);
  await two.registry.close();
  for (const { log } of [one, two]) assert.equal(log().match(/"\/readyz"/g)?.length, log === one.log ? 1 : 3);
});

test('an embedding program gets what is documented, and no way around the rules', async (context) => {
  const registry = openRegistry({ db: join(temporaryFolder(context), 'registry.db') });
  context.after(() => registry.close());
  assert.deepEqual(Object.keys(registry).sort(), ['close', 'failed', 'handler', 'listen', 'request']);
  const document = readFileSync(new URL('../docs/embedding.md', import.meta.url), 'utf8');
  const [, functions = ''] = document.split('## Functions\n');
  const documented = [...(functions.split('\n## ')[0] ?? '').matchAll(/^- `(\w+)[(`]/gm)];
  assert.deepEqual(documented.map(([, name]) => name).sort(), Object.keys(registry).sort());
});

test('a location that cannot be used is a StorageError', (context) => {
  // A folder is not a file.
  assert.throws(() => openRegistry({ db: temporaryFolder(context) }), StorageError);
});

test('a file that is not a registry gets no keys beside it', (context) => {
  const folder = temporaryFolder(context);
  const db = join(folder, 'README.md');
  writeFileSync(db, 'A text that is long enough to be looked at.\n'.repeat(200));
  assert.throws(() => openRegistry({ db }), StorageError);
  assert.deepEqual(readdirSync(folder), ['README.md']);
});

test('options of a wrong type, unknown ones and a missing db are reported together', () => {
  const faultsOf = (options: unknown): readonly string[] => {
    try {
      openRegistry(options as never);
    } catch (error) {
      assert.ok(error instanceof ConfigError);
      assert.equal(error.name, 'ConfigError');
      return error.faults;
    }
    return assert.fail('it opened');
  };
  assert.deepEqual(faultsOf(undefined), ['db: It is required.']);
  assert.deepEqual(faultsOf({}), ['db: It is required.']);
  assert.deepEqual(faultsOf('registry.db'), ['options: Expected an object.']);
  assert.deepEqual(faultsOf({ db: 'x.db', clock: { now: 5 } }), [
    'clock: Expected an object with the functions now() and monotonicMs().',
  ]);
  const both = faultsOf({ timeZoneOffset: '2', port: 70_000 });
  assert.deepEqual(
    both.map((fault) => fault.split(':')[0]),
    ['db', 'port', 'timeZoneOffset'],
  );
  assert.deepEqual(
    faultsOf({ db: 5, port: 'x', trustedProxies: '10.0.0.0/8', writeLog: 5, base: 1, host: '' }),
    [
      'db: Expected a value of type string.',
      'port: Expected a value of type number.',
      'trustedProxies: Expected a value of type array.',
      'writeLog: Expected a value of type function.',
      'base: There is no such option.',
      'host: It is empty.',
    ],
  );
});
