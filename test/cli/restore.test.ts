/** `restore`: the place of the restored files, and refusals. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { packageVersion } from '../../src/runtime/process.ts';
import { temporaryFolder } from '../support/app.ts';
import { command } from '../support/command.ts';
import { members, nid, startedPlace } from '../support/importing.ts';
import { copyBackup, copyRegistry } from '../support/sample-registry.ts';
import { serveProcess } from '../support/serving.ts';
import { openFile } from '../support/sqlite.ts';

/** A registry with a backup, and an empty location. */
async function prepare(context: TestContext) {
  const root = temporaryFolder(context);
  const db = await copyRegistry(root);
  const backup = join(root, 'backup');
  await copyBackup(backup);
  return { root, db, backup, elsewhere: join(root, 'elsewhere', 'coop.db') };
}

const restore = (backup: string, db: string, ...more: string[]) =>
  command(['restore', backup, '--db', db, ...more]);

test('a backup is restored under another name, complete, checked and for its owner only', async (context) => {
  const { backup, elsewhere } = await prepare(context);
  const outcome = await restore(backup, elsewhere);
  assert.equal(outcome.status, 0, outcome.err);
  assert.match(outcome.out, /^rows of members +ok, 56$/m);
  assert.match(
    outcome.out,
    /^\S+backup is restored to \S+coop\.db: every write acknowledged before \S+Z\.$/m,
  );
  assert.match(
    outcome.err,
    new RegExp(
      '^Erasures since \\S+Z are unknown: persons erased since are back\\. .*\\n' +
        'The keys are those of \\S+Z: a key disabled, .* is as it was\\. ' +
        'Look at npm run -s registry -- keys list --db \\S+coop\\.db\\n$',
    ),
  );
  assert.deepEqual(readdirSync(dirname(elsewhere)).sort(), ['coop.db', 'coop.keys.db']);
  for (const name of ['coop.db', 'coop.keys.db'])
    assert.equal(statSync(join(dirname(elsewhere), name)).mode & 0o777, 0o600);
  assert.equal((await command(['check', '--db', elsewhere])).status, 0);
  assert.equal((await command(['backup', 'verify', backup])).status, 0);
});

test('restore --json is one document with the checks', async (context) => {
  const { backup, db } = await prepare(context);
  const document = JSON.parse((await restore(backup, db, '--replace', '--json')).out);
  assert.equal(document.database, db);
  assert.equal(document.sound, true);
  assert.equal(document.migrates_at_next_start, false);
  assert.equal(document.rows.cooperatives, 1);
  assert.ok(document.checks.length > 10);
  assert.deepEqual(readdirSync(document.replaced).sort(), ['registry.db', 'registry.keys.db']);
});

test('restore refuses a place with a registry, or with keys only, and --replace moves them aside', async (context) => {
  const { backup, db } = await prepare(context);
  const refused = await restore(backup, db);
  assert.equal(refused.status, 1);
  const keys = join(dirname(db), 'registry.keys.db');
  const message = (files: string) =>
    `There are files of a registry already: ${files}. To move them aside, add --replace.\n`;
  assert.equal(refused.err, message(`${db}, ${keys}`));
  rmSync(db);
  assert.equal((await restore(backup, db)).err, message(keys));
  const replaced = await restore(backup, db, '--replace');
  assert.equal(replaced.status, 0);
  const [, folder = ''] = /^The files that were there are in (\S+)\.$/m.exec(replaced.out) ?? [];
  assert.deepEqual(readdirSync(folder), ['registry.keys.db']);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
});

test('a service that does nothing is noticed, and restore changes nothing', async (context) => {
  const { backup, db } = await prepare(context);
  const { server } = await serveProcess(context, db);
  for (const more of [['--replace'], []]) {
    const refused = await restore(backup, db, ...more);
    assert.equal(refused.status, 1);
    if (more.length > 0)
      assert.equal(
        refused.err,
        `A process has ${db} open. Stop the service and every command on ${db}, then restore.\n`,
      );
  }
  assert.ok(!existsSync(`${db}.restoring`));
  server.child.kill('SIGTERM');
  assert.equal(await server.ended, 0);
  assert.equal((await restore(backup, db, '--replace')).status, 0);
});

test('a command that has only the keys open is noticed', async (context) => {
  const { backup, db } = await prepare(context);
  const keys = openFile(join(dirname(db), 'registry.keys.db'));
  keys.raw.prepare('SELECT count(*) FROM api_keys').get();
  const refused = await restore(backup, db, '--replace');
  keys.close();
  assert.equal(refused.status, 1);
  assert.match(refused.err, /^A process has \S+registry\.keys\.db open\./);
});

test('a backup that is not sound is not restored, and the old registry stays', async (context) => {
  const { root, backup, db } = await prepare(context);
  truncateSync(join(backup, 'registry.keys.db'), 4_096);
  const refused = await restore(backup, db, '--replace');
  assert.equal(refused.status, 1);
  assert.equal(
    refused.err,
    `${backup} is not a sound backup. Nothing was restored. ` +
      'registry.keys.db: it has 4096 bytes instead of 28672.\n',
  );
  const flipped = join(root, 'flipped');
  assert.equal((await command(['backup', flipped, '--db', db])).status, 0);
  const content = readFileSync(join(flipped, 'registry.db'));
  content[100_000] = (content[100_000] as number) ^ 1;
  writeFileSync(join(flipped, 'registry.db'), content);
  assert.match(
    (await restore(flipped, db, '--replace')).err,
    /Nothing was restored\. registry\.db: its content has changed: the SHA-256 differs\.\n$/,
  );
  writeFileSync(join(flipped, 'manifest.json'), '{}');
  assert.match((await restore(flipped, db, '--replace')).err, /Nothing was restored\. manifest\.json: /);
  assert.equal((await restore(join(root, 'none'), db, '--replace')).status, 2);
  const left = ['registry.backups.json', 'registry.db', 'registry.keys.db'];
  assert.deepEqual(readdirSync(dirname(db)).sort(), left);
  assert.equal((await command(['check', '--db', db])).status, 0);
});

test('restore does not follow a symbolic link in the place of the database', async (context) => {
  const { root, backup, db } = await prepare(context);
  const link = join(root, 'link.db');
  symlinkSync(db, link);
  const refused = await restore(backup, link, '--replace');
  assert.equal(refused.status, 2);
  assert.equal(refused.err, `${link} is a symbolic link. Name the file that it points to.\n`);
});

test('a damaged registry is replaced, and a registry that is no database too', async (context) => {
  const { root, backup } = await prepare(context);
  const db = join(root, 'broken', 'registry.db');
  mkdirSync(dirname(db));
  writeFileSync(db, 'not a database');
  assert.equal((await restore(backup, db, '--replace')).status, 0);
  assert.equal((await command(['check', '--db', db])).status, 0);
});

/** Gives a backup other versions of the schema, with a manifest that says so. */
function setVersion(folder: string, version: number): void {
  const file = join(folder, 'registry.db');
  const db = openFile(file);
  db.raw.pragma(`user_version = ${version}`);
  db.raw.pragma('journal_mode = DELETE');
  db.close();
  const { manifest_sha256: _, ...manifest } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  const content = readFileSync(file);
  const sha256 = createHash('sha256').update(content).digest('hex');
  Object.assign(manifest.files[0], { bytes: content.length, sha256, schema_version: version });
  const manifest_sha256 = createHash('sha256').update(JSON.stringify(manifest)).digest('hex');
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, manifest_sha256 }));
}

test('a backup of a newer release is refused, one of an older release is restored and says so', async (context) => {
  const { backup, elsewhere } = await prepare(context);
  const known = JSON.parse(readFileSync(join(backup, 'manifest.json'), 'utf8')).files[0].schema_version;
  setVersion(backup, known + 1);
  const newer = await restore(backup, elsewhere);
  assert.equal(newer.status, 1);
  assert.match(
    newer.err,
    /registry\.db: it was written by a newer release \(schema [0-9]+, this one knows [0-9]+\)\.\n$/,
  );
  assert.ok(!existsSync(elsewhere));
  setVersion(backup, known - 1);
  const older = await restore(backup, elsewhere);
  assert.equal(older.status, 0, older.err);
  assert.ok(
    older.out.includes(`An older release (${packageVersion()}) has written it: the next start migrates it.`),
    older.out,
  );
  assert.match((await command(['check', '--db', elsewhere])).err, /was written by an older release/);
});

test('each restore lets ids leap, so that none is given twice, those of keys and operations included', async (context) => {
  const place = await startedPlace(context);
  const folder = join(place.folder, 'backup');
  const key = ['keys', 'create', '--name', 'a', '--scope', 'members:read', '--json'];
  assert.equal((await place.command('backup', folder)).status, 0);
  const given = new Map<string, Set<number>>();
  const take = async (n: number) => {
    const idOf = (sql: string) => Number(place.value(sql));
    assert.equal((await place.load('members', members(`A-1,${nid(n)},M-${n},Person ${n}`))).status, 0);
    const ids = {
      members: idOf('SELECT max(id) FROM members'),
      operations: idOf('SELECT max(id) FROM operations'),
      keys: Number(JSON.parse((await place.command(...key)).out).id),
    };
    for (const [name, id] of Object.entries(ids)) {
      const before = given.get(name) ?? new Set();
      assert.ok(!before.has(id), `${name}: ${id} was given twice`);
      given.set(name, before.add(id));
    }
    return ids;
  };
  await take(12);
  for (const n of [13, 14]) {
    // Also if the replaced registry is older than the backup, or missing.
    if (n === 14) rmSync(place.databaseFile);
    assert.equal((await place.command('restore', folder, '--replace')).status, 0);
    const ids = await take(n);
    for (const [name, id] of Object.entries(ids)) assert.ok(id > 1_000_000, `${name}: ${id}`);
    assert.equal((await place.command('check')).status, 0);
    const { out } = await place.command('ledger', 'person', nid(n));
    assert.match(out, /no entry for this person/);
  }
});
