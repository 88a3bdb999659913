/** Opening a file waits for another process's lock; checking it changes nothing. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { checkStorage } from '../../../src/check/check.ts';
import { openImportSession } from '../../../src/import/staging/import-session.ts';
import type { Schema } from '../../../src/sqlite/open-database.ts';
import { REGISTRY_SCHEMA } from '../../../src/sqlite/schemas.ts';
import { StorageError } from '../../../src/sqlite/sqlite-errors.ts';
import { temporaryFolder } from '../../support/app.ts';
import { openFile, openKeyStore, openStore } from '../../support/sqlite.ts';
import { storageAt } from '../../support/storage.ts';

/** A file that lacks the newest migration. */
function createOld(file: string, { applicationId, migrations }: Schema): void {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  for (const sql of migrations.slice(0, -1)) db.exec(sql);
  db.pragma(`application_id = ${applicationId}`);
  db.pragma(`user_version = ${migrations.length - 1}`);
  db.close();
}

/** Locks a file for writing in another thread. @returns once the file is locked */
async function holdLock(context: TestContext, file: string, holdMs: number): Promise<void> {
  const worker = new Worker(
    `const { workerData, parentPort } = require('node:worker_threads');
     const db = new (require('better-sqlite3'))(workerData.file);
     db.exec('BEGIN IMMEDIATE');
     parentPort.postMessage('held');
     setTimeout(() => { db.exec('COMMIT'); db.close(); }, workerData.holdMs);`,
    { eval: true, workerData: { file, holdMs } },
  );
  context.after(() => worker.terminate());
  await once(worker, 'message');
}

const contentOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

test('a start that must migrate waits for the import that holds the lock, and then serves without waiting', async (context) => {
  const file = join(temporaryFolder(context), 'registry.db');
  createOld(file, REGISTRY_SCHEMA);
  await holdLock(context, file, 800);
  const start = performance.now();
  const store = openStore(file);
  context.after(() => store.close());
  assert.ok(performance.now() - start > 100);
  const { raw } = store.connection;
  assert.equal(raw.pragma('user_version', { simple: true }), REGISTRY_SCHEMA.migrations.length);
  assert.equal(raw.pragma('busy_timeout', { simple: true }), 0);
});

test('a check of a file of an older release changes nothing and says what to do', async (context) => {
  const file = join(temporaryFolder(context), 'registry.db');
  createOld(file, REGISTRY_SCHEMA);
  const before = contentOf(file);
  await assert.rejects(
    async () => checkStorage(storageAt(file)),
    (error) =>
      error instanceof StorageError &&
      error.kind === 'unusable' &&
      /written by an older release .*Open it once with this release/.test(error.message),
  );
  assert.equal(contentOf(file), before);
});

test('a dry run of an import refuses a file of an older release too; an import migrates it', async (context) => {
  const file = join(temporaryFolder(context), 'registry.db');
  createOld(file, REGISTRY_SCHEMA);
  const before = contentOf(file);
  assert.throws(() => openImportSession(storageAt(file), 'dryRun'), /Open it once with this release/);
  assert.equal(contentOf(file), before);
  await openImportSession(storageAt(file)).close();
  await openImportSession(storageAt(file), 'dryRun').close();
});

test('a file of an unreleased version is refused, with what to do', async (context) => {
  const file = join(temporaryFolder(context), 'registry.db');
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE members (id INTEGER PRIMARY KEY)');
  db.pragma(`application_id = ${0x63727231}`);
  db.pragma('user_version = 8');
  db.close();
  const before = contentOf(file);
  const message =
    `${file} was created by a version before 1.0.0. ` +
    'Export everything with that version, and import it into a new file.';
  assert.throws(() => openStore(file), { name: 'StorageError', message });
  assert.throws(() => openImportSession(storageAt(file)), { message });
  await assert.rejects(async () => checkStorage(storageAt(file)), { message });
  assert.equal(contentOf(file), before);
});

test('a file of keys of an unreleased version is refused, with what to do', (context) => {
  const file = join(temporaryFolder(context), 'registry.keys.db');
  const db = new Database(file);
  db.exec('CREATE TABLE api_keys (id INTEGER PRIMARY KEY)');
  db.pragma(`application_id = ${0x63726b31}`);
  db.pragma('user_version = 4');
  db.close();
  const message = `${file} was created by a version before 1.0.0. Move it away, and create the keys again.`;
  assert.throws(() => openKeyStore(file), { message });
});

test("the keys' file is recognized where a registry is expected", async (context) => {
  const folder = temporaryFolder(context);
  const file = join(folder, 'registry.keys.db');
  openKeyStore(file).close();
  await assert.rejects(async () => checkStorage(storageAt(file)), {
    message: `${file} holds the keys of a registry. Name the registry's file instead.`,
  });
});

test('a check leaves the files as they were, and nothing beside them', async (context) => {
  const folder = temporaryFolder(context);
  const file = join(folder, 'registry.db');
  const keysFile = join(folder, 'registry.keys.db');
  await openStore(file).close();
  openKeyStore(keysFile).close();
  const before = [contentOf(file), contentOf(keysFile), readdirSync(folder)];
  assert.ok((await checkStorage(storageAt(file))).every(({ fault }) => fault === null));
  assert.deepEqual([contentOf(file), contentOf(keysFile), readdirSync(folder)], before);
});

test('a connection that reads only refuses to write', async (context) => {
  const file = join(temporaryFolder(context), 'registry.db');
  await openStore(file).close();
  const db = openFile(file, { readOnly: true, schema: REGISTRY_SCHEMA });
  context.after(() => db.close());
  assert.deepEqual(db.wrongSettings(), []);
  assert.throws(() => db.exec('DELETE FROM members'), /readonly/);
});

test('a check reads a file of a backup, which has no log, and does not convert it', async (context) => {
  const file = join(temporaryFolder(context), 'registry.keys.db');
  await openStore(file.replace('.keys', '')).close();
  openKeyStore(file).close();
  const other = new Database(file);
  other.pragma('journal_mode = DELETE');
  other.close();
  const before = contentOf(file);
  const findings = await checkStorage(storageAt(file.replace('.keys', '')));
  assert.ok(findings.every(({ fault }) => fault === null));
  assert.equal(contentOf(file), before);
});
