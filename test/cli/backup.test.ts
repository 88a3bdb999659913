/** `backup` and `backup verify`: the content of a backup, and every kind of damage to one. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/app.ts';
import { CHILD_LIMIT, command, plainEnvironment } from '../support/command.ts';
import { copyBackup, copyRegistry } from '../support/sample-registry.ts';
import { openFile } from '../support/sqlite.ts';

const modeOf = (path: string): number => statSync(path).mode & 0o777;

/** A registry, and a backup of it. */
async function backedUp(context: TestContext) {
  const root = temporaryFolder(context);
  const db = await copyRegistry(root);
  const folder = join(root, 'backup');
  await copyBackup(folder);
  return { root, db, folder };
}

const verify = (folder: string) => command(['backup', 'verify', folder]);

test('a backup has the registry, the keys and a manifest, for its owner only', async (context) => {
  const root = temporaryFolder(context);
  const db = await copyRegistry(root);
  const folder = join(root, 'backup');
  const outcome = await command(['backup', folder, '--db', db]);
  assert.equal(outcome.status, 0, outcome.err);
  assert.deepEqual(readdirSync(folder).sort(), ['manifest.json', 'registry.db', 'registry.keys.db']);
  assert.equal(modeOf(folder), 0o700);
  for (const name of readdirSync(folder)) assert.equal(modeOf(join(folder, name)), 0o600, name);
  assert.deepEqual(readdirSync(root).sort(), ['backup', 'live']);
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  assert.equal(manifest.format, 2);
  assert.match(manifest.registry_id, /^[0-9a-f]{32}$/);
  assert.equal(manifest.rows.cooperatives, 1);
  for (const { name, bytes, sha256 } of manifest.files) {
    const content = readFileSync(join(folder, name));
    assert.equal(content.length, bytes);
    assert.equal(createHash('sha256').update(content).digest('hex'), sha256);
  }
  assert.match(outcome.out, new RegExp(`^${db} is backed up in ${folder}: .*${manifest.instant}\\.$`, 'm'));
  const sound = await verify(folder);
  assert.equal(sound.status, 0);
  assert.match(sound.out, /is a sound backup/);
});

test('backup and backup verify print one JSON document with --json', async (context) => {
  const { root, db, folder } = await backedUp(context);
  const second = join(root, 'second');
  const written = JSON.parse((await command(['backup', second, '--db', db, '--json'])).out);
  assert.equal(written.database, db);
  assert.equal(written.folder, second);
  assert.deepEqual(
    written.files.map(({ name }: { name: string }) => name),
    ['registry.db', 'registry.keys.db'],
  );
  const sound = await command(['backup', 'verify', folder, '--json']);
  assert.equal(JSON.parse(sound.out).sound, true);
  rmSync(join(folder, 'registry.db'));
  const spoilt = await command(['backup', 'verify', folder, '--json']);
  assert.equal(spoilt.status, 1);
  assert.equal(JSON.parse(spoilt.out).fault, 'registry.db: it is missing.');
});

test('a registry without keys has a backup without keys', async (context) => {
  const { root, db } = await backedUp(context);
  rmSync(join(root, 'live', 'registry.keys.db'));
  const folder = join(root, 'no-keys');
  const { status, err } = await command(['backup', folder, '--db', db]);
  assert.deepEqual([status, /Keys that were in use/.test(err)], [0, false]);
  assert.deepEqual(readdirSync(folder).sort(), ['manifest.json', 'registry.db']);
  assert.equal((await verify(folder)).status, 0);
});

test('backup refuses a folder with anything in it, a file, and a place without a registry', async (context) => {
  const { root, db, folder } = await backedUp(context);
  const again = await command(['backup', folder, '--db', db]);
  assert.equal(again.status, 2);
  assert.equal(again.err, `${folder} is not empty. Choose a new or an empty folder.\n`);
  assert.equal((await verify(folder)).status, 0);
  const file = join(root, 'file');
  writeFileSync(file, '');
  assert.equal((await command(['backup', file, '--db', db])).err, `${file} is not a folder.\n`);
  const nowhere = join(root, 'nowhere.db');
  const missing = await command(['backup', join(root, 'new'), '--db', nowhere]);
  assert.equal(missing.status, 2);
  assert.equal(missing.err, `There is no database at ${nowhere}.\n`);
  assert.deepEqual(readdirSync(root).sort(), ['backup', 'file', 'live']);
  const unwritable = await command(['backup', '/proc/backup', '--db', db]);
  assert.equal(unwritable.status, 2);
  assert.match(unwritable.err, /^\/proc\/backup cannot be written: .*\n$/);
});

test('a backup goes into an empty folder, and with --yes into one in a folder that is missing', async (context) => {
  const { root, db } = await backedUp(context);
  const empty = join(root, 'empty');
  mkdirSync(empty);
  const deep = join(root, 'a', 'b');
  const refused = await command(['backup', deep, '--db', db]);
  assert.equal(refused.status, 2);
  assert.match(
    refused.err,
    /^There is no folder .*\/a\. Mount its disk, or create it first; --yes creates it\.$/m,
  );
  assert.ok(!existsSync(join(root, 'a')));
  for (const folder of [empty, deep]) {
    assert.equal((await command(['backup', folder, '--db', db, '--yes'])).status, 0);
    assert.equal(modeOf(folder), 0o700);
    assert.equal((await verify(folder)).status, 0);
  }
});

test('a backup beside the registry, or on its disk, is made, and that is said', async (context) => {
  const { root, db } = await backedUp(context);
  const note = async (folder: string) => (await command(['backup', folder, '--db', db])).err;
  assert.equal(
    await note(join(dirname(db), 'backup')),
    'This backup is in the folder of the registry: keep another one elsewhere.\n',
  );
  const there = 'This backup is on the disk of the registry: copy it to another one.\n';
  assert.equal(await note(join(root, 'there')), there);
  const memory = '/dev/shm';
  if (!existsSync(memory) || statSync(memory).dev === statSync(root).dev) return;
  const away = mkdtempSync(join(memory, 'registry-test-'));
  context.after(() => rmSync(away, { recursive: true }));
  assert.equal(await note(join(away, 'backup')), '');
});

test('what a killed backup has left is no backup, and the next one removes it', async (context) => {
  const { root, db } = await backedUp(context);
  const target = join(root, 'next');
  // No process has this id.
  const left = `${target}.incomplete-4194305`;
  mkdirSync(left);
  writeFileSync(join(left, 'registry.db'), 'half');
  assert.equal((await verify(left)).status, 2);
  assert.equal((await command(['backup', target, '--db', db])).status, 0);
  assert.ok(!existsSync(left));
});

test('verify ends with 2 where there is no backup, and says which release can read a newer one', async (context) => {
  const { root, folder } = await backedUp(context);
  const none = await verify(join(root, 'nothing'));
  assert.equal(none.status, 2);
  assert.equal(none.err, `There is no backup in ${join(root, 'nothing')}.\n`);
  const manifest = join(folder, 'manifest.json');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"format": 2', '"format": 3'));
  const newer = await verify(folder);
  assert.equal(newer.status, 2);
  assert.match(
    newer.err,
    /was written by a newer release \(format 3, this one knows 2\)\. Use that release\./,
  );
});

function flipByte(file: string, position: number): void {
  const content = readFileSync(file);
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.from([(content[position] as number) ^ 1]), 0, 1, position);
  closeSync(handle);
}

/** Writes a manifest as an attacker would, with a hash that matches. */
function forge(folder: string, change: (text: string) => string): void {
  const file = join(folder, 'manifest.json');
  const { manifest_sha256: _, ...document } = JSON.parse(change(readFileSync(file, 'utf8')));
  const hash = createHash('sha256').update(JSON.stringify(document)).digest('hex');
  writeFileSync(file, JSON.stringify({ ...document, manifest_sha256: hash }));
}

test('a file of a part that this program does not have is named, verified, and stays in the backup', async (context) => {
  const { root, folder } = await backedUp(context);
  const all = join(root, 'all');
  const backup = join(all, '000001-2026-01-01T06-00-00Z');
  mkdirSync(all);
  renameSync(folder, backup);
  const file = join(backup, 'registry.notes.db');
  writeFileSync(file, 'notes');
  const sha256 = createHash('sha256').update('notes').digest('hex');
  const entry = { name: 'registry.notes.db', bytes: 5, sha256, application_id: 1, schema_version: 9 };
  forge(backup, (text) => {
    const document = JSON.parse(text);
    return JSON.stringify({ ...document, files: [...document.files, entry] });
  });
  const verified = await verify(backup);
  const note = 'This program does not know registry.notes.db, which another one has written: ';
  assert.deepEqual([verified.status, verified.err], [0, `${note}its bytes are as they were written.\n`]);
  const elsewhere = join(root, 'elsewhere', 'registry.db');
  const restored = await command(['restore', '--newest', all, '--db', elsewhere]);
  assert.equal(restored.status, 0, restored.err);
  assert.ok(restored.err.includes(`${note}it is not restored, and stays in the backup.\n`), restored.err);
  assert.deepEqual(readdirSync(dirname(elsewhere)).sort(), ['registry.db', 'registry.keys.db']);
  assert.equal(readFileSync(file, 'utf8'), 'notes');
  writeFileSync(file, 'other');
  assert.match((await verify(backup)).out, /^registry\.notes\.db: its content has changed/m);
  // It takes no room where it is not restored.
  forge(backup, (text) => text.replace('.notes.db","bytes":5', '.notes.db","bytes":1000000000000000'));
  const third = await command(['restore', backup, '--db', join(root, 'third', 'registry.db')]);
  assert.equal(third.status, 0, third.err);
});

const edit = (folder: string, from: string | RegExp, to: string) => {
  const file = join(folder, 'manifest.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
};

const SPOILT: readonly (readonly [what: string, spoil: (folder: string) => void, fault: RegExp])[] = [
  [
    'one bit',
    (folder) => flipByte(join(folder, 'registry.db'), 100_000),
    /^registry\.db: its content has changed: the SHA-256 differs\.$/m,
  ],
  [
    'one bit of the keys',
    (folder) => flipByte(join(folder, 'registry.keys.db'), 16_000),
    /^registry\.keys\.db: its content has changed: the SHA-256 differs\.$/m,
  ],
  [
    'a missing file',
    (folder) => rmSync(join(folder, 'registry.keys.db')),
    /^registry\.keys\.db: it is missing\.$/m,
  ],
  [
    'a truncated file',
    (folder) => truncateSync(join(folder, 'registry.db'), 8_192),
    /^registry\.db: it has 8192 bytes instead of [0-9]+\.$/m,
  ],
  [
    'a file that has grown',
    (folder) => appendFileSync(join(folder, 'registry.db'), 'x'),
    /^registry\.db: it has [0-9]+ bytes instead of [0-9]+\.$/m,
  ],
  [
    'a folder in the place of a file',
    (folder) => {
      rmSync(join(folder, 'registry.keys.db'));
      mkdirSync(join(folder, 'registry.keys.db'));
    },
    /^registry\.keys\.db: it is not a file\.$/m,
  ],
  [
    'a log of another database beside a file',
    (folder) => writeFileSync(join(folder, 'registry.db-wal'), 'x'),
    /^registry\.db: a file that does not belong to the backup is beside it, with -wal\.$/m,
  ],
  [
    'another instant in the manifest',
    (folder) => edit(folder, /"instant": "2/, '"instant": "1'),
    /^manifest\.json: it was changed after it was written\.$/m,
  ],
  [
    'half a manifest',
    (folder) => truncateSync(join(folder, 'manifest.json'), 100),
    /^manifest\.json: it is not JSON\.$/m,
  ],
  [
    'a forged path',
    (folder) => forge(folder, (text) => text.replace('"registry.keys.db"', '"../live/registry.db"')),
    /^manifest\.json: it names a file that no backup has\.$/m,
  ],
  [
    'a forged absolute path',
    (folder) => forge(folder, (text) => text.replace('"registry.keys.db"', '"/etc/passwd"')),
    /^manifest\.json: it names a file that no backup has\.$/m,
  ],
  [
    'a file named twice',
    (folder) => forge(folder, (text) => text.replace('"registry.keys.db"', '"registry.db"')),
    /^manifest\.json: it names registry\.db twice\.$/m,
  ],
  [
    'a forged count of rows',
    (folder) => forge(folder, (text) => text.replace('"loans": 8', '"loans": 9')),
    /^registry\.db: it has 8 rows of loans instead of 9\.$/m,
  ],
  [
    'a forged version of the schema',
    (folder) => forge(folder, (text) => text.replace(/"schema_version": [0-9]+/, '"schema_version": 0')),
    /^registry\.db: it has schema [1-9] instead of 0\.$/m,
  ],
  [
    'a list in the place of a manifest',
    (folder) => writeFileSync(join(folder, 'manifest.json'), '[]'),
    /^manifest\.json: it is not the manifest of a backup\.$/m,
  ],
  [
    'a manifest without files',
    (folder) => forge(folder, (text) => JSON.stringify({ ...JSON.parse(text), files: [] })),
    /^manifest\.json: it names registry\.db nowhere\.$/m,
  ],
];

test('verify finds whatever is changed in a backup, and names the file', async (context) => {
  const root = temporaryFolder(context);
  for (const [i, [what, spoil, fault]] of SPOILT.entries()) {
    const folder = join(root, `spoilt-${i}`);
    await copyBackup(folder);
    spoil(folder);
    const outcome = await verify(folder);
    assert.equal(outcome.status, 1, `${what}: ${outcome.out}${outcome.err}`);
    assert.match(outcome.out, fault, what);
    assert.match(outcome.out, /is NOT sound\.$/m);
  }
});

test('verify finds damage that the hashes do not show', async (context) => {
  const { folder } = await backedUp(context);
  const file = join(folder, 'registry.db');
  const registry = openFile(file);
  // An index that does not match its table, although every page is intact.
  registry.raw.unsafeMode().pragma('writable_schema = ON');
  registry.exec(
    "UPDATE sqlite_schema SET sql = replace(sql, '(member_id)', '(id)') WHERE name = 'loans_member'",
  );
  registry.raw.pragma('journal_mode = DELETE');
  registry.close();
  const content = readFileSync(file);
  const sha256 = createHash('sha256').update(content).digest('hex');
  forge(folder, (text) =>
    text.replace(
      /("name": "registry\.db",\s*"bytes": )[0-9]+(,\s*"sha256": ")[0-9a-f]+/,
      `$1${content.length}$2${sha256}`,
    ),
  );
  const outcome = await verify(folder);
  assert.equal(outcome.status, 1);
  assert.match(outcome.out, /^registry\.db: it is damaged: .*loans_member.*\.$/m);
});

test('a damaged registry is not backed up', async (context) => {
  const { root, db } = await backedUp(context);
  const handle = openSync(db, 'r+');
  // The second page, over its header.
  writeSync(handle, Buffer.alloc(4_096, 0xee), 0, 4_096, 4_096);
  closeSync(handle);
  const folder = join(root, 'damaged');
  const outcome = await command(['backup', folder, '--db', db]);
  assert.equal(outcome.status, 1);
  assert.match(
    outcome.err,
    /^The copy of registry\.db is damaged: .* No backup was written\. Run npm .* check --db \S+\n$/,
  );
  assert.deepEqual(readdirSync(root).sort(), ['backup', 'live']);
});

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('a backup that its disk does not take is refused in one line, and nothing is left', async (context) => {
  const { root, db } = await backedUp(context);
  const folder = join(root, 'too-large');
  // Limits files of this process to 128 KiB.
  const limited = `ulimit -f 128; exec node src/main.ts backup '${folder}' --db '${db}'`;
  const { status, stderr } = spawnSync('bash', ['-c', limited], {
    ...CHILD_LIMIT,
    cwd: ROOT,
    env: plainEnvironment,
  });
  assert.equal(
    stderr.toString(),
    `The backup in ${folder} failed: disk I/O error. Nothing was kept of it.\n`,
  );
  assert.equal(status, 1);
  assert.deepEqual(readdirSync(root).sort(), ['backup', 'live']);
});
