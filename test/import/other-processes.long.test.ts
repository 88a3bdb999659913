/** An import in a process of its own: killed, stopped, beside others. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { CHILD_LIMIT } from '../support/command.ts';
import {
  type ImportPlace,
  MEMBERS_HEADER,
  member,
  members,
  nid,
  startedPlace,
} from '../support/importing.ts';
import { type Connection, countedMembers, isBusy, openFile } from '../support/sqlite.ts';

/** Enough to interrupt both the reading and the apply. */
const MANY = 60_000;

function writeMany(place: ImportPlace): string {
  const path = join(place.folder, 'members.csv');
  const file = openSync(path, 'w');
  writeSync(file, `${MEMBERS_HEADER}\n`);
  for (let i = 0; i < MANY; i += 1_000) {
    writeSync(file, Array.from({ length: 1_000 }, (_, k) => `${member(10_000 + i + k)}\n`).join(''));
  }
  closeSync(file);
  return path;
}

function startImport(context: TestContext, place: ImportPlace): ChildProcess {
  const args = ['src/main.ts', 'import', 'members', writeMany(place)];
  const child = spawn(process.execPath, args, {
    ...CHILD_LIMIT,
    env: { ...process.env, REGISTRY_DB: place.databaseFile },
    stdio: 'ignore',
  });
  context.after(() => child.kill('SIGKILL'));
  return child;
}

/** Waits for a moment of the child's work. */
async function until(child: ChildProcess, isNow: () => boolean): Promise<void> {
  while (!isNow()) {
    assert.equal(child.exitCode, null, 'The import ended before it was met at work.');
    await wait(1);
  }
}

function isLocked(db: Connection): boolean {
  try {
    db.exec('BEGIN IMMEDIATE; ROLLBACK');
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  }
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  const [, signal] = await exited;
  assert.equal(signal, 'SIGKILL', 'The import ended before it was killed.');
}

function watch(context: TestContext, place: ImportPlace): Connection {
  const db = openFile(place.databaseFile);
  context.after(() => db.close());
  return db;
}

const count = (db: Connection): unknown => db.raw.prepare('SELECT count(*) FROM members').pluck().get();

function assertSound(db: Connection): void {
  assert.equal(db.raw.pragma('integrity_check', { simple: true }), 'ok');
  assert.equal(countedMembers(db), count(db));
}

test('an import killed while it reads imports nothing, and the next start removes its staging', async (context) => {
  const place = await startedPlace(context);
  const child = startImport(context, place);
  await until(child, () => place.leftovers().length > 0);
  const [staging] = place.leftovers();
  assert.equal(statSync(join(place.folder, staging as string)).mode & 0o777, 0o600);
  await kill(child);
  assert.notEqual(place.leftovers().length, 0);
  const db = watch(context, place);
  assert.equal(count(db), 3);
  assertSound(db);
  assert.equal((await place.load('members', members(member(4)))).status, 0);
  assert.deepEqual(place.leftovers(), []);
});

test('an import killed while it is applied leaves nothing half done; lookups go on throughout', async (context) => {
  const place = await startedPlace(context);
  const db = watch(context, place);
  const lookup = db.raw.prepare('SELECT full_name FROM members WHERE identity_card = ?').pluck();
  const child = startImport(context, place);
  await until(child, () => isLocked(db));
  // The lock is held: another process's import is being applied at this moment.
  assert.equal(lookup.get(nid(1)), 'Person 1');
  assert.equal(lookup.get(nid(10_000)), undefined);
  await kill(child);
  assert.equal(count(db), 3);
  assertSound(db);
  assert.equal((await place.run('members', join(place.folder, 'members.csv'))).status, 0);
  assert.equal(count(db), 3 + MANY);
  assertSound(db);
  assert.deepEqual(place.leftovers(), []);
});

test('the registry can be written to while an import reads its file', async (context) => {
  const place = await startedPlace(context);
  const db = watch(context, place);
  const child = startImport(context, place);
  await until(child, () => place.leftovers().length > 0);
  assert.equal(isLocked(db), false);
  await kill(child);
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`an import stopped by ${signal} removes its staging`, async (context) => {
    const place = await startedPlace(context);
    const child = startImport(context, place);
    await until(child, () => place.leftovers().length > 0);
    // It listens for signals from a moment after its staging is there.
    await wait(30);
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
    assert.deepEqual(place.leftovers(), []);
    assert.equal(place.value('SELECT count(*) FROM members'), 3);
  });
}

test('a running import keeps its staging when another one starts', async (context) => {
  const place = await startedPlace(context);
  const child = startImport(context, place);
  await until(child, () => place.leftovers().length > 0);
  assert.equal((await place.load('cooperatives', 'code,name\nD-4,Dukore\n')).status, 0);
  assert.notEqual(place.leftovers().length, 0);
  await kill(child);
});
