/** The condition of a registry: the facts of `status` and metrics. */
import assert from 'node:assert/strict';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openKeys } from '../../../src/access/api-key-store.ts';
import { isServed } from '../../../src/backup/in-use.ts';
import { verifyAndRecordBackup, writeAndRecordBackup } from '../../../src/backup/numbered-backups.ts';
import { restore } from '../../../src/backup/restore-backup.ts';
import { readStatus } from '../../../src/health/registry-status.ts';
import { openImportSession } from '../../../src/import/staging/import-session.ts';
import { openJournal } from '../../../src/journal/undo.ts';
import { openRegistry } from '../../../src/open-registry.ts';
import { openWebhooks } from '../../../src/webhooks/open-webhook-store.ts';
import { readWebhooks } from '../../../src/webhooks/webhook-status.ts';
import { temporaryFolder } from '../../support/app.ts';
import { copyRegistry } from '../../support/sample-registry.ts';
import { openFile } from '../../support/sqlite.ts';
import { storageAt } from '../../support/storage.ts';

const OPTIONS = { program: '1.0.0', now: () => 5_000 };

async function open(context: TestContext) {
  const root = temporaryFolder(context);
  const file = await copyRegistry(root);
  return { root, file, storage: storageAt(file) };
}

test('sizes, rows, the last import and the sequence are those of the registry', async (context) => {
  const { root, file, storage } = await open(context);
  const condition = await readStatus(storage);
  const names = ['registry.db', 'registry.keys.db'];
  const sizes = names.map((name) => statSync(join(root, 'live', name)).size);
  assert.equal(
    condition.bytes,
    sizes.reduce((a, b) => a + b),
  );
  assert.ok(condition.freeBytes > condition.reservedBytes);
  const db = openFile(file);
  assert.equal(condition.rows.cooperatives, 1);
  assert.equal(condition.rows.members, db.count('members'));
  assert.equal(condition.rows.transactions, db.count('savings_transactions'));
  assert.equal(condition.sequence?.lastSequence, db.value('SELECT max(sequence) FROM events'));
  assert.equal(condition.lastImport?.id, db.value('SELECT max(id) FROM operations'));
  assert.equal(condition.lastImport?.kind, 'savings');
  db.close();
});

test('of an empty registry nothing is made up', async (context) => {
  const file = join(temporaryFolder(context), 'registry.db');
  await openRegistry(storageAt(file)).close();
  const condition = await readStatus(storageAt(file));
  assert.equal(condition.lastImport, undefined);
  assert.equal(condition.sequence?.lastSequence, 0);
  assert.deepEqual(condition.readModel, { stale: 0, hasOtherRules: false, unindexed: 0 });
  assert.equal(condition.lastBackup, null);
});

test('members whose read model is stale are counted, and one of other rules is seen', async (context) => {
  const { file, storage } = await open(context);
  assert.deepEqual((await readStatus(storage)).readModel, {
    stale: 0,
    hasOtherRules: false,
    unindexed: 0,
  });
  const db = openFile(file);
  db.run("UPDATE members SET loans = '' WHERE id <= 3");
  db.close();
  assert.deepEqual((await readStatus(storage)).readModel, {
    stale: 3,
    hasOtherRules: false,
    unindexed: 0,
  });
  const again = openFile(file);
  again.exec(`INSERT INTO members (cooperative_id, identity_card, member_code, full_name, role, status,
      registration_date, created_at, updated_at, loans)
    WITH RECURSIVE steps(step) AS (SELECT 1 UNION ALL SELECT step + 1 FROM steps WHERE step < 2000)
    SELECT cooperative_id, printf('%016d', step), 'of step ' || step, full_name, role, status,
      registration_date, created_at, updated_at, iif(step BETWEEN 900 AND 920, 'other rules', NULL)
      FROM (SELECT * FROM members LIMIT 1), steps`);
  again.close();
  assert.equal((await readStatus(storage)).readModel.hasOtherRules, true);
});

test('the last backup and its check are remembered, and a failed attempt changes nothing', async (context) => {
  const { root, storage } = await open(context);
  const remembered = async () => (await readStatus(storage)).lastBackup;
  const [first, second] = [join(root, 'first'), join(root, 'second')];
  await writeAndRecordBackup(storage, first, OPTIONS);
  await writeAndRecordBackup(storage, second, { ...OPTIONS, now: () => 6_000 });
  const last = await remembered();
  assert.deepEqual(
    { ...last, bytes: 0, epoch: '' },
    {
      ...{ epoch: '', folder: second, instantMs: 6_000, bytes: 0, verifiedAtMs: null, fault: null },
      place: 'same_disk',
    },
  );
  const sizes = ['registry.db', 'registry.keys.db'].map((name) => statSync(join(second, name)).size);
  assert.equal(
    last?.bytes,
    sizes.reduce((a, b) => a + b),
  );

  const blocked = join(root, 'blocked');
  writeFileSync(blocked, '');
  for (const folder of [first, blocked])
    await assert.rejects(writeAndRecordBackup(storage, folder, { ...OPTIONS, now: () => 7_000 }));
  assert.deepEqual(await remembered(), last);

  await verifyAndRecordBackup(storage, first, () => 8_000);
  await assert.rejects(verifyAndRecordBackup(storage, join(root, 'none'), () => 8_000));
  assert.equal((await remembered())?.verifiedAtMs, null);
  await verifyAndRecordBackup(storage, second, () => 9_000);
  assert.deepEqual(await remembered(), { ...last, verifiedAtMs: 9_000 });
  rmSync(join(second, 'registry.keys.db'));
  await verifyAndRecordBackup(storage, second, () => 10_000);
  const fault = 'registry.keys.db: it is missing.';
  assert.deepEqual(await remembered(), { ...last, verifiedAtMs: 10_000, fault });
  rmSync(second, { recursive: true });
  assert.equal((await remembered())?.place, 'missing');
  await assert.rejects(verifyAndRecordBackup(storage, second, () => 11_000));
  assert.equal((await remembered())?.fault, `There is no backup in ${second}.`);
});

test('a backup of another epoch, or of a registry that was replaced, counts as none', async (context) => {
  const { root, file, storage } = await open(context);
  const last = async () => (await readStatus(storage)).lastBackup;
  await writeAndRecordBackup(storage, join(root, 'empty'), OPTIONS);
  const options = { replace: true, now: () => 6_000, systemUser: 'test' };
  const { replacedFolder = '' } = await restore(storage, join(root, 'empty'), options);
  assert.equal(await last(), null);
  assert.ok(existsSync(join(replacedFolder, 'registry.backups.json')));

  await writeAndRecordBackup(storage, join(root, 'second'), OPTIONS);
  assert.equal((await last())?.folder, join(root, 'second'));
  const db = openFile(file);
  db.run("UPDATE feed SET epoch = 'another'");
  db.close();
  assert.equal(await last(), null);
});

test('what cannot be read of backups counts as none, and is written anew', async (context) => {
  const { root, storage } = await open(context);
  for (const text of ['{', '{}', 'null', '[]', '{"folder": 1}']) {
    writeFileSync(join(root, 'live', 'registry.backups.json'), text);
    assert.equal((await readStatus(storage)).lastBackup, null, text);
  }
  await writeAndRecordBackup(storage, join(root, 'new'), OPTIONS);
  assert.equal((await readStatus(storage)).lastBackup?.instantMs, 5_000);
  assert.equal(statSync(join(root, 'live', 'registry.backups.json')).mode & 0o777, 0o600);
});

test('imports under way are counted with what they have staged, and not those that were killed', async (context) => {
  const { file, storage } = await open(context);
  writeFileSync(`${file}.importing-1-0123abcd`, 'left by one that was killed');
  assert.deepEqual((await readStatus(storage)).imports, { running: 0, stagedBytes: 0 });
  const session = openImportSession(storage);
  const staging = await session.stage('members', new Set(['full_name']));
  const { running } = (await readStatus(storage)).imports;
  assert.equal(running, 1);
  assert.ok(staging);
  await session.close();
  assert.equal((await readStatus(storage)).imports.running, 0);
});

test('whether the registry is served is seen from outside, not whether commands have it open', async (context) => {
  const { storage } = await open(context);
  const log = openJournal(storage);
  assert.equal(await isServed(storage.location), false);
  const keys = openKeys(storage, 'serve');
  assert.equal(await isServed(storage.location), true);
  await keys.close();
  assert.equal(await isServed(storage.location), false);
  await log.close();
});

test('how far an endpoint is behind, and since when; nothing of one that starts again', async (context) => {
  const { storage } = await open(context);
  const { sequence } = await readStatus(storage);
  const { epoch, lastSequence } = sequence ?? assert.fail();
  const values = { keyId: 1, url: 'https://example.rw/hook', types: null, allowsPrivate: false };
  const webhooks = openWebhooks(storage, 'issue');
  const positions = [
    { epoch, sequence: lastSequence },
    { epoch, sequence: lastSequence - 2 },
    { epoch: 'another', sequence: 1 },
  ];
  for (const position of positions) await webhooks.add(values, new Uint8Array(24), position, 1);
  await webhooks.close();
  const [added = assert.fail()] = (await readStatus(storage, [readWebhooks])).added;
  const { webhooks: endpoints } = added.document as {
    webhooks: { behind: number | null; oldest_at: unknown }[];
  };
  assert.deepEqual(
    endpoints.map(({ behind, oldest_at }) => [behind, oldest_at === null]),
    [
      [0, true],
      [2, false],
      [null, true],
    ],
  );
});
