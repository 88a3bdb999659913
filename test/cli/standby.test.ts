/** `fence`, and the document of a second machine; its script is run by standby.long.test.ts. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../support/app.ts';
import { command } from '../support/command.ts';
import { createEmptyRegistry } from '../support/empty-registry.ts';
import { copyRegistry } from '../support/sample-registry.ts';
import { serveProcess } from '../support/serving.ts';

const on = (db: string, ...args: string[]) => command([...args, '--db', db]);

test('fence refuses what is no registry, and fences nothing then', async (context) => {
  const root = temporaryFolder(context);
  const fence = (file: string) => on(file, 'fence');
  const [folder, text] = [join(root, 'folder.db'), join(root, 'text.db')];
  mkdirSync(folder);
  writeFileSync(text, 'no database');
  const keys = join(dirname(await copyRegistry(root)), 'registry.keys.db');
  assert.deepEqual(await fence(folder), { status: 2, out: '', err: `${folder} is not a file.\n` });
  assert.match((await fence(text)).err, /text\.db cannot be used as a database: /);
  assert.match((await fence(keys)).err, /registry\.keys\.db /);
  assert.deepEqual(
    readdirSync(root, { recursive: true }).filter((name) => /fenced/.test(String(name))),
    [],
  );
});

test('fence ends a service, and names what is not there; then nothing but check opens the registry', async (context) => {
  const folder = temporaryFolder(context);
  const db = join(folder, 'registry.db');
  createEmptyRegistry(db);
  const { server } = await serveProcess(context, db);
  const { status, out } = await on(db, 'fence', '--json');
  assert.deepEqual([status, JSON.parse(out)], [0, { database: db, fenced: true }]);
  assert.equal(await server.ended, 2);
  assert.match(server.output(), /registry\.db was fenced: another machine takes over\.\n/);
  assert.equal((await on(db, 'fence')).out, `${db} is fenced: nothing uses it.\n`);
  const message =
    `${db} is fenced: another machine has taken over from it. ` +
    'To use it here again, restore a backup of that machine with --replace.\n';
  for (const args of [['serve', '--port', '0'], ['keys', 'list'], ['statistics'], ['summarize']]) {
    const refused = await on(db, ...args);
    assert.deepEqual([refused.status, refused.err], [2, message], args.join());
  }
  assert.equal((await on(db, 'check')).status, 0);
  const none = join(folder, 'none.db');
  const missing = await on(none, 'fence');
  assert.deepEqual([missing.status, missing.err], [2, `There is no database at ${none}.\n`]);
});

test('docs/standby.md has every command of the script, and every setting', () => {
  const text = readFileSync('docs/standby.md', 'utf8');
  const script = readFileSync('deploy/standby.sh', 'utf8');
  for (const use of ['copy', 'promote', 'promote --unreachable'])
    assert.ok(text.includes(`standby.sh ${use}`), use);
  const settings = [...script.matchAll(/^([A-Z_]+)=\$\{\1/gm)].map(([, name]) => name as string);
  assert.equal(settings.length, 7);
  for (const name of settings) assert.ok(text.includes(`\`${name}\``), name);
});
