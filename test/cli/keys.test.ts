/** `keys`: what the operator's command prints and stores (docs/keys.md#keys). */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isApiKey } from '../../src/access/api-keys.ts';
import { COOPERATIVE } from '../store/conformance/sample.ts';
import { NOON, temporaryFolder, testClock } from '../support/app.ts';
import { command } from '../support/command.ts';
import { createEmptyRegistry } from '../support/empty-registry.ts';
import { openStore } from '../support/sqlite.ts';

function place(context: TestContext) {
  const folder = temporaryFolder(context);
  const clock = testClock(NOON);
  createEmptyRegistry(join(folder, 'registry.db'));
  const run = (...args: string[]) =>
    command(['keys', ...args], { REGISTRY_DB: join(folder, 'registry.db') }, clock);
  const json = async (...args: string[]) => {
    const outcome = await run(...args, '--json');
    assert.equal(outcome.status, 0, outcome.err);
    return JSON.parse(outcome.out);
  };
  return { folder, clock, run, json };
}

test('create prints the key once, and the file never contains it', async (context) => {
  const { folder, run, json } = place(context);
  const created = await json('create', '--name', 'Union portal', '--scope', 'members:read');
  assert.match(created.key, /^crs_[0-9A-Za-z]{36}$/);
  assert.ok(isApiKey(created.key));
  assert.equal(created.prefix, created.key.slice(0, 10));
  assert.deepEqual(created.prefixes, [created.prefix]);
  const shown = await run('show', created.id);
  assert.ok(shown.out.includes(created.prefix));
  assert.ok(!shown.out.includes(created.key));
  const file = join(folder, 'registry.keys.db');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.ok(!readFileSync(file).includes(created.key.slice(10)));
});

test('create for a person prints what the key may do and the key on a line of its own', async (context) => {
  const { run } = place(context);
  const outcome = await run(
    'create',
    '--name',
    'Bank',
    '--scope',
    'members:read,members:financials',
    '--allow-ip',
    '10.20.0.0/16',
    '--allow-ip',
    '2001:db8::/32,192.0.2.7',
    '--allow-host',
    '*.Example.rw.',
    '--per-hour',
    '5',
    '--expires',
    '2025-12-31',
  );
  assert.equal(outcome.status, 0);
  assert.match(outcome.out, /^scopes {7}members:read, members:financials$/m);
  assert.match(outcome.out, /^addresses {4}10\.20\.0\.0\/16, 2001:db8::\/32, 192\.0\.2\.7\/32$/m);
  assert.match(outcome.out, /^hosts {8}\*\.example\.rw$/m);
  assert.match(outcome.out, /^requests {5}5 an hour, 10000 a day$/m);
  assert.match(outcome.out, /^expires {6}2026-01-01T00:00:00\+02:00$/m);
  assert.match(outcome.out, /^crs_[0-9A-Za-z]{36}$/m);
  assert.match(outcome.err, /only time the key is shown/);
});

test('create and update warn of what makes no sense, and do it', async (context) => {
  const { clock, run, json } = place(context);
  const one = ['--name', 'Bank', '--scope', 'members:read'];
  assert.deepEqual((await json('create', ...one)).warnings, []);
  const again = await run('create', ...one, '--per-day', '5');
  assert.equal(again.status, 0);
  assert.match(again.err, /^Warning: The limit of an hour, 1000, .*\n?/m);
  assert.match(again.err, /^Warning: Key 1 has the same name\.$/m);
  const updated = await run('update', '1', '--scope', 'members:write');
  assert.equal(updated.status, 0);
  assert.match(updated.err, /^Warning: Key 2 has the same name\.\nWarning: members:write without reading: /);
  const over = new Date(clock.now() - 1000).toISOString();
  const { state, warnings } = await json('update', '1', '--expires', over, '--name', 'Union');
  assert.equal(state, 'expired');
  assert.match(warnings[0], /^The key has expired already/);
});

test('list shows every key with its state', async (context) => {
  const { run, json, clock } = place(context);
  await json('create', '--name', 'first', '--scope', 'members:read');
  await json(
    'create',
    '--name',
    'second',
    '--scope',
    'cooperatives:read',
    '--expires',
    '2025-06-15T13:00:00+02:00',
  );
  await json('disable', '1');
  clock.advance(2 * 3_600_000);
  const { out } = await run('list');
  assert.match(out, /^1 +first +disabled +crs_\S+ +members:read +1000\/10000 +never$/m);
  assert.match(out, /^2 +second +expired /m);
  const listed = await json('list');
  assert.deepEqual(
    listed.keys.map((key: { id: string; is_active: boolean }) => [key.id, key.is_active]),
    [
      ['1', false],
      ['2', true],
    ],
  );
});

test('update replaces what it names and keeps the rest', async (context) => {
  const { json, run } = place(context);
  await json('create', '--name', 'a', '--scope', 'members:read', '--per-hour', '7', '--allow-ip', '10.0.0.1');
  const changed = await json(
    'update',
    '1',
    '--scope',
    'members:read',
    '--scope',
    'members:write',
    '--per-day',
    '9',
  );
  assert.deepEqual(changed.scopes, ['members:read', 'members:write']);
  assert.equal(changed.per_hour, 7);
  assert.equal(changed.per_day, 9);
  assert.deepEqual(changed.allowed_addresses, ['10.0.0.1/32']);
  assert.equal(changed.name, 'a');
  const freed = await json('update', '1', '--any-ip', '--any-host', '--name', 'b', '--expires', '2026-01-01');
  assert.deepEqual([freed.allowed_addresses, freed.name], [[], 'b']);
  assert.equal((await json('update', '1', '--never-expires', '--allow-host', 'a.rw')).expires_at, null);
  const nothing = await run('update', '1');
  assert.equal(nothing.status, 2);
  assert.match(nothing.err, /Nothing to change/);
});

test('rotate keeps id and limits, with two valid secrets during the overlap', async (context) => {
  const { json } = place(context);
  const first = await json('create', '--name', 'a', '--scope', 'members:read', '--per-hour', '7');
  const second = await json('rotate', '1', '--overlap', '24h');
  assert.equal(second.id, first.id);
  assert.equal(second.per_hour, 7);
  assert.notEqual(second.key, first.key);
  assert.deepEqual([...second.prefixes].sort(), [first.prefix, second.prefix].sort());
  const third = await json('rotate', '1');
  assert.deepEqual(third.prefixes, [third.prefix]);
});

/** A registry with these cooperatives, beside the keys. */
async function addCooperatives(folder: string, ...codes: string[]): Promise<void> {
  const store = openStore(join(folder, 'registry.db'));
  for (const code of codes) await store.cooperatives.create({ ...COOPERATIVE, code }, 1, 'key:1');
  await store.close();
}

test('a key is narrowed, widened again, and keeps its restrictions when it is rotated', async (context) => {
  const { folder, run, json } = place(context);
  await addCooperatives(folder, 'A-1', 'B-2');
  const narrow = ['--lookup-only', '--cooperative', 'B-2', '--cooperative', 'a-1,B-2'];
  const created = await json('create', '--name', 'Bank', '--scope', 'members:read', ...narrow);
  assert.deepEqual([created.lookup_only, created.cooperatives], [true, ['B-2', 'A-1']]);
  const rotated = await json('rotate', '1');
  assert.deepEqual([rotated.lookup_only, rotated.cooperatives], [true, ['B-2', 'A-1']]);
  assert.match((await run('show', '1')).out, /^lookup only {2}yes\nsees {9}B-2, A-1$/m);
  await json('create', '--name', 'open', '--scope', 'members:read');
  const listed = (await run('list')).out;
  assert.match(listed, /^1 +Bank .* 1000\/10000 {4}lookups of B-2, A-1 +never$/m);
  assert.match(listed, /^2 +open .* 1000\/10000 +never$/m);
  const kept = await json('update', '1', '--name', 'Bank of B');
  assert.deepEqual([kept.lookup_only, kept.cooperatives], [true, ['B-2', 'A-1']]);
  const replaced = await json('update', '1', '--cooperative', 'A-1', '--no-lookup-only');
  assert.deepEqual([replaced.lookup_only, replaced.cooperatives], [false, ['A-1']]);
  const widened = await json('update', '1', '--any-cooperative', '--lookup-only');
  assert.deepEqual([widened.lookup_only, widened.cooperatives], [true, null]);
  const both = await run('update', '1', '--any-cooperative', '--cooperative', 'A-1');
  assert.equal(both.status, 2);
});

test('a key may export only when it is said, until it is taken back', async (context) => {
  const { run, json } = place(context);
  assert.equal((await json('create', '--name', 'a', '--scope', 'members:read')).allow_export, false);
  const created = await json('create', '--name', 'b', '--scope', 'members:read', '--allow-export');
  assert.equal(created.allow_export, true);
  assert.match((await run('show', '2')).out, /^exports {6}yes$/m);
  assert.match((await run('list')).out, /^ID .* EXPORTS {2}LAST USED\n1 .*\/10000 +never\n2 .* yes +never$/m);
  assert.equal((await json('rotate', '2')).allow_export, true);
  assert.equal((await json('update', '2', '--no-allow-export')).allow_export, false);
});

test('a key has a purpose, or must state one, until it is taken back', async (context) => {
  const { run, json } = place(context);
  const purposeOf = ({ purpose, require_purpose }: { [name: string]: unknown }) => [purpose, require_purpose];
  const create = ['create', '--name', 'Bank', '--scope', 'members:read'] as const;
  assert.deepEqual(purposeOf(await json(...create, '--purpose', 'credit checks')), ['credit checks', false]);
  assert.match((await run('show', '1')).out, /^purpose {6}credit checks$/m);
  assert.deepEqual(purposeOf(await json('rotate', '1')), ['credit checks', false]);
  assert.deepEqual(purposeOf(await json('update', '1', '--purpose', 'audit')), ['audit', false]);
  const required = await run('update', '1', '--require-purpose');
  assert.match(required.err, /^Warning: This purpose is never recorded/);
  assert.match(required.out, /^purpose {6}said by each request$/m);
  assert.deepEqual(purposeOf(await json('update', '1', '--name', 'B')), ['audit', true]);
  assert.deepEqual(purposeOf(await json('update', '1', '--no-purpose', '--no-require-purpose')), [
    null,
    false,
  ]);
  assert.equal((await run(...create, '--purpose', ' ')).status, 2);
});

test('a code that no cooperative has is refused, and no key is issued', async (context) => {
  const { folder, run, json } = place(context);
  const create = ['create', '--name', 'a', '--scope', 'members:read'];
  const early = await run(...create, '--cooperative', 'A-1');
  assert.deepEqual([early.status, early.out], [2, '']);
  await addCooperatives(folder, 'A-1');
  const unknown = await run(...create, '--cooperative', 'A-1,X-9');
  assert.deepEqual([unknown.status, unknown.out], [2, '']);
  assert.match(unknown.err, /--cooperative: There is no cooperative with the code X-9\./);
  assert.deepEqual((await json('list')).keys, []);
  await json(...create, '--cooperative', 'A-1');
  assert.equal((await run('update', '1', '--cooperative', 'X-9')).status, 2);
  assert.deepEqual((await json('show', '1')).cooperatives, ['A-1']);
});

test('a key follows its cooperative to a new code', async (context) => {
  const { folder, json } = place(context);
  await addCooperatives(folder, 'A-1', 'B-2');
  await json('create', '--name', 'a', '--scope', 'members:read', '--cooperative', 'A-1');
  const store = openStore(join(folder, 'registry.db'));
  await store.cooperatives.update(1, (stored) => ({ ...stored, code: 'C-3' }), 2, 'key:1');
  await store.cooperatives.update(2, (stored) => ({ ...stored, code: 'A-1' }), 2, 'key:1');
  await store.close();
  assert.deepEqual((await json('show', '1')).cooperatives, ['C-3']);
});

test('enable undoes disable', async (context) => {
  const { json } = place(context);
  await json('create', '--name', 'a', '--scope', 'members:read');
  assert.equal((await json('disable', '1')).is_active, false);
  assert.equal((await json('enable', '1')).is_active, true);
});

for (const [what, args, message] of [
  ['no name', ['create', '--scope', 'members:read'], /Name the holder/],
  ['a blank name', ['create', '--name', ' ', '--scope', 'members:read'], /It is empty/],
  [
    'a name that is too long',
    ['create', '--name', 'x'.repeat(101), '--scope', 'members:read'],
    /1 to 100 characters/,
  ],
  ['no scope', ['create', '--name', 'a'], /at least one --scope/],
  [
    'an unknown scope',
    ['create', '--name', 'a', '--scope', 'members:all'],
    /Known scopes: cooperatives:read/,
  ],
  [
    'a wrong address',
    ['create', '--name', 'a', '--scope', 'members:read', '--allow-ip', '10.0.0'],
    /is not an IP address/,
  ],
  [
    'a wrong host',
    ['create', '--name', 'a', '--scope', 'members:read', '--allow-host', 'a.rw:80'],
    /without a port/,
  ],
  ['a limit of 0', ['create', '--name', 'a', '--scope', 'members:read', '--per-hour', '0'], /1 to 10000000/],
  [
    'a wrong date',
    ['create', '--name', 'a', '--scope', 'members:read', '--expires', 'soon'],
    /such as 2026-12-31/,
  ],
  ['a wrong id', ['show', 'x'], /id of a key/],
  ['a wrong overlap', ['rotate', '1', '--overlap', '1w'], /24h or 7d/],
  ['an unknown option', ['list', '--all'], /unknown option/],
] as const) {
  test(`${what} is wrong usage and exits with 2`, async (context) => {
    const { run } = place(context);
    const outcome = await run(...args);
    assert.equal(outcome.status, 2);
    assert.match(outcome.err, message);
    assert.equal(outcome.out, '');
  });
}

test('a key that does not exist is refused with 1, a missing database with 2', async (context) => {
  const { run, json } = place(context);
  const missing = await command(['keys', 'list', '--db', join(temporaryFolder(context), 'registry.db')]);
  assert.equal(missing.status, 2);
  await json('create', '--name', 'a', '--scope', 'members:read');
  for (const args of [
    ['show', '9'],
    ['update', '9', '--name', 'x'],
    ['disable', '9'],
    ['rotate', '9'],
  ]) {
    const outcome = await run(...args);
    assert.equal(outcome.status, 1, args.join(' '));
    assert.match(outcome.err, /no key with this id/);
  }
});

test('a key that would be over from the start is not issued', async (context) => {
  const db = join(temporaryFolder(context), 'registry.db');
  const outcome = await command([
    'keys',
    'create',
    '--db',
    db,
    '--name',
    'a',
    '--scope',
    'members:read',
    '--expires',
    '2020-01-01',
  ]);
  assert.deepEqual([outcome.status, outcome.out], [2, '']);
  assert.match(outcome.err, /--expires: This is in the past\./);
});

test('a key is not issued where there is no registry, but with --create', async (context) => {
  const db = join(temporaryFolder(context), 'registry.db');
  const create = (...args: string[]) =>
    command(['keys', 'create', '--name', 'a', '--scope', 'members:read', '--db', db, ...args]);
  const refused = await create();
  assert.deepEqual([refused.status, existsSync(db)], [2, false]);
  assert.match(refused.err, /^There is no registry at .*add --create to begin an empty one\.$/m);
  assert.equal((await create('--create')).status, 0);
  assert.equal((await command(['check', '--db', db])).status, 0);
});

test('the end of a key has a year of four digits, whatever the zone', async (context) => {
  const db = join(temporaryFolder(context), 'registry.db');
  createEmptyRegistry(db);
  const create = (expires: string, env: NodeJS.ProcessEnv = {}) =>
    command(
      [
        'keys',
        'create',
        '--db',
        db,
        '--name',
        'a',
        '--scope',
        'members:read',
        '--expires',
        expires,
        '--json',
      ],
      env,
    );
  for (const [expires, offset] of [
    ['9999-12-31', '+02:00'],
    ['9999-01-01', '-12:00'],
    ['9999-12-31T23:59:59Z', '+02:00'],
  ] as const) {
    const { status, out, err } = await create(expires, { TIME_ZONE_OFFSET: offset });
    assert.deepEqual([status, out], [2, ''], expires);
    assert.match(
      err,
      /^--expires: A key cannot expire in 9999\. Without an expiry date it never expires\.$/m,
    );
  }
  const last = await create('9998-12-31', { TIME_ZONE_OFFSET: '-12:00' });
  assert.equal(JSON.parse(last.out).expires_at, '9999-01-01T00:00:00-12:00');
  const list = await command(['keys', 'list', '--db', db, '--json'], { TIME_ZONE_OFFSET: '+14:00' });
  assert.equal(JSON.parse(list.out).keys[0].expires_at, '9999-01-02T02:00:00+14:00');
});

test('the JSON of a key has its state, and the help of update no defaults of a new key', async (context) => {
  const db = join(temporaryFolder(context), 'registry.db');
  const keys = async (...args: string[]) =>
    JSON.parse((await command(['keys', ...args, '--db', db, '--json'])).out);
  assert.equal((await keys('create', '--create', '--name', 'a', '--scope', 'members:read')).state, 'active');
  assert.equal((await keys('update', '1', '--expires', '2020-01-01')).state, 'expired');
  assert.equal((await keys('disable', '1')).state, 'disabled');
  const help = (await command(['keys', 'update', '--help'])).out.replace(/\s+/g, ' ');
  assert.match(help, /requests an hour \(default: unchanged\)/);
  assert.doesNotMatch(help, /default: (?:1000|never|from anywhere|any)\)|required/);
});
