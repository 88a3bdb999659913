/** Backups of a registry under as many writes as it accepts. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../support/app.ts';
import { command, spawnPlainly } from '../support/command.ts';
import { issueWriter, post, serveProcess, writeMembers } from '../support/serving.ts';
import { openFile } from '../support/sqlite.ts';

async function seed(root: string): Promise<string> {
  const db = join(root, 'live', 'registry.db');
  assert.equal((await command(['seed', '--db', db])).status, 0);
  return db;
}

test('a backup under load contains every write acknowledged before its instant, and is sound', async (context) => {
  const root = temporaryFolder(context);
  const db = await seed(root);
  const key = await issueWriter(db);
  const { port } = await serveProcess(context, db);
  const body = { code: 'LOAD', name: 'Load' };
  const { json: cooperative } = await post(port, '/cooperatives', { key, body });
  const writing = writeMembers(port, key, cooperative.id);
  const { acknowledged } = writing;
  /** The machine may be busy: what is written is counted, not timed. */
  const reach = async (writes: number) => {
    while (acknowledged.length < writes) await sleep(10);
  };
  await reach(300);
  const folders = ['first', 'second'].map((name) => join(root, name));
  const instants: number[] = [];
  for (const folder of folders) {
    const backup = spawnPlainly(['node', 'src/main.ts', 'backup', folder, '--db', db, '--json']);
    assert.equal(await backup.ended, 0, backup.output());
    // A warning about the disk follows the document.
    const document = backup.output().replace(/^\}\n[\s\S]*$/m, '}');
    instants.push(Date.parse(JSON.parse(document).instant));
  }
  await reach(Math.max(501, acknowledged.length + 1));
  await writing.stop();
  assert.ok(acknowledged.length > 500, `only ${acknowledged.length} writes`);
  for (const [i, folder] of folders.entries()) {
    const before = acknowledged.filter(({ atMs }) => atMs < (instants[i] as number));
    assert.ok(before.length > 200 && before.length < acknowledged.length, `${before.length} writes before`);
    assert.equal((await command(['backup', 'verify', folder])).status, 0);
    const restored = join(root, `restored-${i}`, 'registry.db');
    const outcome = await command(['restore', folder, '--db', restored]);
    assert.equal(outcome.status, 0, outcome.out + outcome.err);
    const registry = openFile(restored);
    const complete =
      "identity_card = '11985' || printf('%011d', substr(member_code, 3)) AND full_name = 'Uwase'";
    const members = registry.raw.prepare(`SELECT member_code FROM members WHERE ${complete}`).pluck().all();
    registry.close();
    const codes = new Set(members);
    assert.deepEqual(
      before.filter(({ memberCode }) => !codes.has(memberCode)),
      [],
    );
  }
});

test('SIGTERM ends a backup with 1, and nothing is left of it', async (context) => {
  const root = temporaryFolder(context);
  const db = await seed(root);
  const folder = join(root, 'backup');
  const backup = spawnPlainly(['node', 'src/main.ts', 'backup', folder, '--db', db]);
  while (!readdirSync(root).some((name) => name.startsWith('backup.incomplete-'))) await sleep(1);
  backup.child.kill('SIGTERM');
  await once(backup.child, 'close');
  // The backup may have ended before the signal.
  if (backup.child.exitCode === 0) assert.ok(existsSync(folder));
  else {
    assert.equal(backup.child.exitCode, 1);
    assert.match(backup.output(), /Interrupted\. No backup was written\./);
    assert.deepEqual(readdirSync(root), ['live']);
  }
});
