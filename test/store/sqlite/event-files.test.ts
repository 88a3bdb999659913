/** The sequence of changes in backups, after a restore, and in `check`. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { verifyAndRecordBackup, writeAndRecordBackup } from '../../../src/backup/numbered-backups.ts';
import { restore } from '../../../src/backup/restore-backup.ts';
import { checkStorage } from '../../../src/check/check.ts';
import { openRegistry } from '../../../src/open-registry.ts';
import { temporaryFolder } from '../../support/app.ts';
import { command } from '../../support/command.ts';
import { openFile } from '../../support/sqlite.ts';
import { storageAt } from '../../support/storage.ts';
import { COOPERATIVE, memberOf } from '../conformance/sample.ts';

const ASKED = { after: 0, limit: 100, epoch: undefined };
const OPTIONS = { program: 'test', now: () => 1_750_000_000_000 };

/** A registry with three events and its backup. */
async function prepare(context: TestContext) {
  const root = temporaryFolder(context);
  const file = join(root, 'registry.db');
  const storage = storageAt(file);
  const store = openRegistry(storage);
  await store.cooperatives.create(COOPERATIVE, 1, 'key:1');
  await Promise.all([1, 2].map((n) => store.members.create(memberOf(n), 1, 'key:1')));
  await store.close();
  const folder = join(root, 'backup');
  return { root, file, storage, folder, backup: await writeAndRecordBackup(storage, folder, OPTIONS) };
}

async function readFeed(file: string) {
  const store = openRegistry(storageAt(file));
  try {
    return await store.events.read(ASKED);
  } finally {
    await store.close();
  }
}

test('a backup names the last event that is in it, and its epoch', async (context) => {
  const { file, folder, storage, backup } = await prepare(context);
  const { epoch } = await readFeed(file);
  assert.deepEqual(backup.sequence, { epoch, lastSequence: 3 });
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  assert.deepEqual([manifest.epoch, manifest.last_sequence], [epoch, 3]);
  const checked = await verifyAndRecordBackup(storage, folder, Date.now);
  assert.deepEqual([checked.fault, checked.backup?.sequence], [null, { epoch, lastSequence: 3 }]);
  const { out } = await command(['backup', 'verify', folder]);
  assert.match(out, new RegExp(`^Events up to 3 of epoch ${epoch}\\.$`, 'm'));
  const json = JSON.parse((await command(['backup', 'verify', folder, '--json'])).out);
  assert.deepEqual([json.epoch, json.last_sequence], [epoch, 3]);
});

/** Changes a manifest, with a hash that matches. */
function rewrite(folder: string, change: (document: { [name: string]: unknown }) => void): void {
  const file = join(folder, 'manifest.json');
  const { manifest_sha256: _, ...document } = JSON.parse(readFileSync(file, 'utf8'));
  change(document);
  const hash = createHash('sha256').update(JSON.stringify(document)).digest('hex');
  writeFileSync(file, JSON.stringify({ ...document, manifest_sha256: hash }));
}

test('a registry that has lost its epoch can be backed up, and the backup names no event', async (context) => {
  const { root, file, storage } = await prepare(context);
  const db = openFile(file);
  db.exec('DELETE FROM feed');
  db.close();
  const folder = join(root, 'without-epoch');
  await writeAndRecordBackup(storage, folder, OPTIONS);
  const { fault, backup } = await verifyAndRecordBackup(storage, folder, Date.now);
  assert.deepEqual([fault, backup?.sequence], [null, undefined]);
  const { out } = await command(['backup', 'verify', folder]);
  assert.doesNotMatch(out, /Events/);
});

for (const [name, value, fault] of [
  ['last_sequence', 4, 'registry.db: its sequence of changes is not the one that the manifest names.'],
  ['epoch', 'another', 'registry.db: its sequence of changes is not the one that the manifest names.'],
  ['last_sequence', '3', 'registry.db: its sequence of changes is not the one that the manifest names.'],
  ['epoch', undefined, 'registry.db: its sequence of changes is not the one that the manifest names.'],
] as const) {
  test(`a backup whose manifest has ${name} ${value} is not sound`, async (context) => {
    const { folder, storage } = await prepare(context);
    rewrite(folder, (document) => {
      document[name] = value;
    });
    assert.equal((await verifyAndRecordBackup(storage, folder, Date.now)).fault, fault);
  });
}

test('a restored registry has another epoch and goes on after the last event of the backup', async (context) => {
  const { root, file, folder } = await prepare(context);
  const before = await readFeed(file);
  const epochs = new Set([before.epoch]);
  for (const name of ['second.db', 'third.db']) {
    const restored = storageAt(join(root, name));
    await restore(restored, folder, { replace: false, systemUser: 'operator', now: OPTIONS.now });
    const store = openRegistry(restored);
    const { epoch, events } = await store.events.read(ASKED);
    assert.deepEqual(events, before.events);
    epochs.add(epoch);
    await assert.rejects(
      async () => store.events.read({ ...ASKED, epoch: before.epoch }),
      /Start again from an export\./,
    );
    await store.cooperatives.create({ ...COOPERATIVE, code: 'NEW' }, 2, 'key:1');
    await store.close();
    assert.equal((await readFeed(join(root, name))).lastSequence, 4);
    assert.ok((await checkStorage(restored)).every(({ fault }) => fault === null));
  }
  assert.equal(epochs.size, 3);
  // The backup itself is as it was.
  assert.equal((await verifyAndRecordBackup(storageAt(file), folder, Date.now)).fault, null);
});

for (const [what, sql, check] of [
  ['an event is missing', 'DELETE FROM events WHERE sequence = 2', 'sequence of events'],
  ['the newest event is missing', 'DELETE FROM events WHERE sequence = 3', 'sequence of events'],
  [
    'the newest events of an operation are missing',
    'INSERT INTO operation_events SELECT actor, 3, 4 FROM events WHERE sequence = 3',
    'sequence of events',
  ],
  ['all events are missing', 'DELETE FROM events', 'sequence of events'],
  ['there is no epoch', 'DELETE FROM feed', 'epoch of events'],
  ['the epoch is empty', "UPDATE feed SET epoch = ''", 'epoch of events'],
  ['a type is unknown', 'UPDATE events SET type = 12 WHERE sequence = 2', 'rows of events'],
  ['a new row has changed fields', 'UPDATE events SET fields = 1 WHERE sequence = 2', 'rows of events'],
  ['a field is unknown', 'UPDATE events SET type = 1, fields = 128 WHERE sequence = 1', 'rows of events'],
  [
    'a cooperative is in another',
    'UPDATE events SET cooperative_id = 2 WHERE sequence = 1',
    'rows of events',
  ],
  [
    'an operation has events of another',
    'INSERT INTO operation_events VALUES (5, 2, 3)',
    'events of operations',
  ],
  ['a row has no id', 'UPDATE events SET row_id = 0 WHERE sequence = 2', 'rows of events'],
] as const) {
  test(`check reports when ${what}`, async (context) => {
    const { file, storage } = await prepare(context);
    assert.ok((await checkStorage(storage)).every(({ fault }) => fault === null));
    const db = openFile(file);
    db.exec(sql);
    db.close();
    const faults = (await checkStorage(storage)).filter(({ fault }) => fault !== null);
    assert.deepEqual(
      faults.map((finding) => finding.check),
      [check],
    );
  });
}
