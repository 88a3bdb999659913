/** A second machine, which is a second folder here (docs/standby.md). */
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/app.ts';
import { command, spawnPlainly } from '../support/command.ts';
import { createEmptyRegistry } from '../support/empty-registry.ts';
import { post, serveProcess } from '../support/serving.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const SCOPES = 'cooperatives:read,cooperatives:write,webhooks:receive';

/** A service on the first machine, a second machine with nothing yet, and what the script needs to know. */
async function prepare(context: TestContext) {
  const root = temporaryFolder(context);
  const machine = (name: string) => {
    mkdirSync(join(root, name));
    return join(root, name, 'registry.db');
  };
  const [first, second] = [machine('first'), machine('second')];
  createEmptyRegistry(first);
  const created = await on(first, 'keys', 'create', '--name', 'follower', '--scope', SCOPES, '--json');
  const { key } = JSON.parse(created.out) as { key: string };
  const { server, port } = await serveProcess(context, first);
  const copies = join(root, 'copies');
  mkdirSync(join(root, 'out'));
  const settings = {
    ...{ PRIMARY: '', PRIMARY_DB: first, PRIMARY_OUT: join(root, 'out') },
    ...{ REGISTRY_DB: second, COPIES: copies, KEEP: '2', REGISTRY: `${process.execPath} ${MAIN}` },
  };
  const standby = async (args: string, more: Partial<typeof settings> = {}, env: NodeJS.ProcessEnv = {}) => {
    const lines = Object.entries({ ...settings, ...more }).map(([name, value]) => `${name}='${value}'\n`);
    writeFileSync(join(root, 'standby.conf'), lines.join(''));
    const STANDBY_SETTINGS = join(root, 'standby.conf');
    const running = spawnPlainly(['sh', 'deploy/standby.sh', ...args.split(' ')], {
      STANDBY_SETTINGS,
      ...env,
    });
    return { status: await running.ended, output: running.output() };
  };
  const backups = () => readdirSync(copies).filter((name) => /Z(?:-[0-9]+)?$/.test(name));
  return { first, second, key, server, port, copies, standby, backups };
}

const on = (db: string, ...args: string[]) => command([...args, '--db', db]);

/** Adds a cooperative, acknowledged. */
async function add(port: number, key: string, code: string): Promise<void> {
  assert.equal((await post(port, '/cooperatives', { key, body: { code, name: code } })).status, 201);
}

async function get(port: number, key: string, path: string) {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  return { status: response.status, json: JSON.parse(await response.text()) };
}

const codesAt = async (port: number, key: string): Promise<string[]> =>
  (await get(port, key, '/cooperatives')).json.results.map(({ code }: { code: string }) => code).sort();

const lastSequence = (output: string): number => Number(/Events up to ([0-9]+) of epoch/.exec(output)?.[1]);

async function assertFenced(db: string): Promise<void> {
  const { status, err } = await on(db, 'keys', 'list');
  assert.deepEqual([status, err.startsWith(`${db} is fenced: `)], [2, true]);
}

test('a planned switch fences a service that runs, loses nothing and begins a new epoch, there and back', async (context) => {
  const { first, second, key, server, port, copies, standby, backups } = await prepare(context);
  await add(port, key, 'A-1');
  const copied = await standby('copy');
  assert.equal(copied.status, 0, copied.output);
  assert.equal(backups().length, 1);
  await add(port, key, 'B-2');
  const { epoch } = (await get(port, key, '/events')).json;
  const promoted = await standby('promote');
  assert.equal(promoted.status, 0, promoted.output);
  assert.equal(await server.ended, 2);
  assert.match(server.output(), /registry\.db was fenced: another machine takes over\.\n/);
  await assertFenced(first);
  assert.equal((await on(first, 'check')).status, 0);
  const next = await serveProcess(context, second);
  assert.deepEqual(await codesAt(next.port, key), ['A-1', 'B-2']);
  assert.equal((await get(next.port, key, `/events?after=1&epoch=${epoch}`)).status, 410);
  for (const args of ['copy', 'promote']) {
    const refused = await standby(args);
    assert.deepEqual([refused.status, refused.output.includes('is in use here')], [1, true], args);
  }
  // Back again: the machine that was fenced is the second one now.
  await add(next.port, key, 'C-3');
  const turned = { PRIMARY_DB: second, REGISTRY_DB: first, COPIES: `${copies}-back` };
  const returned = await standby('promote', turned);
  assert.equal(returned.status, 0, returned.output);
  await assertFenced(second);
  assert.match((await on(first, 'statistics')).out, /^- +3 +0$/m);
});

test('of a first machine that cannot be reached, the second has the last copy, and fences it once it is back', async (context) => {
  const { first, second, key, server, port, copies, standby } = await prepare(context);
  await add(port, key, 'A-1');
  assert.equal((await standby('copy')).status, 0);
  await add(port, key, 'B-2');
  server.child.kill('SIGKILL');
  await server.ended;
  const away = { PRIMARY: 'nobody@127.0.0.1' };
  const refused = await standby('promote', away);
  assert.equal(refused.status, 1);
  assert.match(refused.output, /could not be fenced\. Nothing was promoted\..*promote --unreachable/);
  assert.ok(!existsSync(second));
  const promoted = await standby('promote --unreachable', away);
  assert.equal(promoted.status, 0, promoted.output);
  assert.match(promoted.output, /Erasures since \S+ are unknown/);
  const next = await serveProcess(context, second);
  assert.deepEqual(await codesAt(next.port, key), ['A-1']);
  assert.match((await standby('copy', away)).output, /still not fenced/);
  const back = await standby('copy');
  assert.match(back.output, /The first machine is fenced now\. Stop this timer\./);
  await assertFenced(first);
  // What was lost: the events of the old machine after those of the copy.
  const [name = ''] = readdirSync(copies).filter((each) => each.endsWith('Z'));
  const restored = lastSequence((await on(second, 'backup', 'verify', join(copies, name))).out);
  const old = lastSequence((await on(first, 'backup', join(copies, '..', 'left'))).out);
  assert.deepEqual([restored, old], [1, 2]);
});

test('a copy that is damaged or cannot be made is no copy, and the newest ones stay', async (context) => {
  const { first, second, copies, standby, backups } = await prepare(context);
  const old = ['2026-01-01T00-00-00Z', '2026-01-02T00-00-00Z'];
  mkdirSync(join(copies, 'mine'), { recursive: true });
  for (const name of old) assert.equal((await on(first, 'backup', join(copies, name))).status, 0);
  const missing = await standby('copy', { PRIMARY_DB: join(first, '..', 'none.db') });
  assert.equal(missing.status, 1);
  assert.match(missing.output, /No copy was made\./);
  // What arrives is not what was sent.
  const damaging = join(copies, 'cp');
  writeFileSync(damaging, '#!/bin/sh\n/bin/cp "$@"; printf x >>"$3/registry.db"\n', { mode: 0o755 });
  const damaged = await standby('copy', {}, { PATH: `${copies}:${process.env.PATH}` });
  assert.deepEqual([damaged.status, backups().sort()], [1, old]);
  assert.equal((await standby('copy')).status, 0);
  const kept = backups().sort();
  assert.deepEqual([kept.length, kept[0]], [2, old[1]]);
  assert.ok(existsSync(join(copies, 'mine')));
  assert.equal((await standby('nothing')).status, 1);
  assert.ok(!existsSync(second));
});

test('a clock that was years ahead changes neither which copy is restored nor which one stays', async (context) => {
  const { first, second, key, port, copies, standby } = await prepare(context);
  await add(port, key, 'A-1');
  assert.equal((await on(first, 'backup', join(copies, '2099-01-01T00-00-00Z'), '--yes')).status, 0);
  await add(port, key, 'B-2');
  for (let i = 0; i < 2; i++) assert.equal((await standby('copy')).status, 0);
  assert.ok(!existsSync(join(copies, '2099-01-01T00-00-00Z')));
  const promoted = await standby('promote --unreachable', { PRIMARY: 'nobody@127.0.0.1' });
  assert.equal(promoted.status, 0, promoted.output);
  assert.match((await on(second, 'statistics')).out, /^- +2 +0$/m);
});

test('nothing is fenced as long as there is no copy that can be restored', async (context) => {
  const { first, key, port, standby } = await prepare(context);
  await add(port, key, 'A-1');
  const refused = await standby('promote', { PRIMARY_OUT: '/proc/none' });
  assert.equal(refused.status, 1);
  assert.match(refused.output, /There is no copy, and none could be made\. Nothing was fenced/);
  assert.equal((await on(first, 'keys', 'list')).status, 0);
  assert.equal((await standby('promote --unreachable')).status, 1);
});

test('of two copies the one that can be restored is taken, and none that is damaged fences the first machine', async (context) => {
  const { first, second, key, port, copies, standby, backups } = await prepare(context);
  await add(port, key, 'A-1');
  assert.equal((await standby('copy')).status, 0);
  const [sound = ''] = backups();
  await add(port, key, 'B-2');
  assert.equal((await standby('copy')).status, 0);
  const newer = backups().find((name) => name !== sound) as string;
  appendFileSync(join(copies, newer, 'registry.db'), 'x');
  const promoted = await standby('promote --unreachable');
  assert.equal(promoted.status, 0, promoted.output);
  assert.match((await on(second, 'statistics')).out, /^- +1 +0$/m);
  rmSync(second);
  appendFileSync(join(copies, sound, 'registry.db'), 'x');
  assert.equal((await standby('promote', { PRIMARY_OUT: '/proc/none' })).status, 1);
  assert.equal((await on(first, 'keys', 'list')).status, 0);
});

test('a damaged ledger stops neither a copy nor a promotion: all that was acknowledged is there, status 3', async (context) => {
  const { first, second, key, server, port, standby, backups } = await prepare(context);
  await add(port, key, 'A-1');
  const reader = await on(first, 'keys', 'create', '--name', 'reader', '--scope', 'members:read', '--json');
  await get(port, JSON.parse(reader.out).key, '/members/1199080000000001');
  writeFileSync(first.replace('.db', '.ledger.db'), 'damaged');
  const copied = await standby('copy');
  assert.deepEqual([copied.status, backups().length], [3, 1], copied.output);
  assert.match(copied.output, /Copied and verified.*\n.*The access ledger is damaged/);
  await add(port, key, 'B-2');
  const promoted = await standby('promote');
  assert.equal(promoted.status, 3, promoted.output);
  assert.equal(await server.ended, 2);
  const next = await serveProcess(context, second);
  assert.deepEqual(await codesAt(next.port, key), ['A-1', 'B-2']);
});
