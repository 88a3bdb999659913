/**
 * An empty value given explicitly, as by a script whose variable is not set, never means something that
 * nobody wrote.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Command } from 'commander';
import { createProgram } from '../../src/program.ts';
import { temporaryFolder, testClock } from '../support/app.ts';
import { command } from '../support/command.ts';

function place(context: TestContext) {
  const folder = temporaryFolder(context);
  // An address that this machine does not have: a server that starts nevertheless ends at once.
  const env = { REGISTRY_DB: join(folder, 'registry.db'), HOST: '203.0.113.7' };
  const keys = (...args: string[]) => command(['keys', ...args], env);
  const show = async () => JSON.parse((await keys('show', '1', '--json')).out);
  return { folder, env, keys, show };
}

const program = await createProgram({
  env: {},
  clock: testClock(0),
  out: () => {},
  err: () => {},
  terminal: undefined,
});

/** Every command line `command option` whose option takes a value, and every command with arguments. */
function valuesOf(each: Command, path: readonly string[]): { args: string[]; flag: string }[] {
  const args = each.registeredArguments.map(() => '1');
  const options = each.options.filter((option) => option.required || option.optional);
  // Missing options are reported before the arguments are looked at.
  const needed = options.flatMap(({ long, mandatory }) => (mandatory ? [long ?? '', '1'] : []));
  return [
    ...options.map(({ long }) => ({ args: [...path, ...args, long ?? ''], flag: long ?? '' })),
    ...(args.length > 0 ? [{ args: [...path, ...needed, ...args.slice(1)], flag: 'argument' }] : []),
    ...each.commands.flatMap((inner) => valuesOf(inner, [...path, inner.name()])),
  ];
}

test('an empty value of any option or argument is wrong usage and changes nothing', async (context) => {
  const { env, folder } = place(context);
  const values = valuesOf(program, []);
  assert.ok(values.length > 25, `${values.length} values`);
  for (const { args } of values) {
    for (const empty of ['', ' ', '\t']) {
      const outcome = await command([...args, empty], env);
      assert.equal(outcome.status, 2, args.join(' '));
      assert.match(outcome.err, /is invalid.*\. It is empty\. Give a value\./, args.join(' '));
      assert.equal(outcome.out, '');
    }
  }
  assert.ok(!existsSync(join(folder, 'registry.keys.db')));
});

for (const option of ['--scope', '--allow-ip', '--allow-host']) {
  test(`${option} refuses an empty value between commas`, async (context) => {
    const { folder, keys } = place(context);
    const good = { '--scope': 'members:read', '--allow-ip': '10.0.0.1', '--allow-host': 'a.rw' }[option];
    const rest = option === '--scope' ? [] : ['--scope', 'members:read'];
    for (const value of [',', ' , ', `${good},`, `,${good}`, `${good},,${good}`]) {
      const outcome = await keys('create', '--create', '--name', 'a', ...rest, option, value);
      assert.equal(outcome.status, 2, value);
      assert.match(outcome.err, /A value between the commas is empty\./);
    }
    assert.ok(!existsSync(join(folder, 'registry.keys.db')));
    assert.equal(
      (await keys('create', '--create', '--name', 'a', ...rest, option, `${good}, ${good}`)).status,
      0,
    );
  });
}

test('only --any-ip and --any-host remove an allowlist, and an empty list says so', async (context) => {
  const { keys, show } = place(context);
  const created = await keys(
    ...[
      'create',
      '--create',
      '--name',
      'a',
      '--scope',
      'members:read',
      '--allow-ip',
      '10.0.0.1',
      '--allow-host',
      'a.rw',
    ],
  );
  assert.equal(created.status, 0, created.err);
  for (const [option, remover] of [
    ['--allow-ip', '--any-ip'],
    ['--allow-host', '--any-host'],
    ['--expires', '--never-expires'],
  ] as const) {
    const outcome = await keys('update', '1', option, '');
    assert.equal(outcome.status, 2);
    assert.ok(outcome.err.includes(`To remove what is stored, use ${remover}.`), outcome.err);
  }
  const kept = await show();
  assert.deepEqual([kept.allowed_addresses, kept.allowed_hosts], [['10.0.0.1/32'], ['a.rw']]);
  assert.equal((await keys('update', '1', '--any-ip', '--any-host')).status, 0);
  const freed = await show();
  assert.deepEqual([freed.allowed_addresses, freed.allowed_hosts], [[], []]);
});

test('setting and removing the same restriction in one command is wrong usage', async (context) => {
  const { keys, show } = place(context);
  await keys('create', '--create', '--name', 'a', '--scope', 'members:read', '--allow-ip', '10.0.0.1');
  for (const args of [
    ['--any-ip', '--allow-ip', '10.0.0.2'],
    ['--allow-host', 'a.rw', '--any-host'],
    ['--never-expires', '--expires', '2030-01-01'],
  ]) {
    const outcome = await keys('update', '1', ...args);
    assert.equal(outcome.status, 2, args.join(' '));
    assert.match(outcome.err, /cannot be used with option/);
  }
  assert.deepEqual((await show()).allowed_addresses, ['10.0.0.1/32']);
});
