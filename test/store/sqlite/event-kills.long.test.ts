/** Processes that are killed while they write: the sequence has each change that is stored, and no other. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../../support/app.ts';
import { command, spawnPlainly } from '../../support/command.ts';
import { readEvents } from '../../support/event-feed.ts';
import { issueWriter, post, serveProcess, writeMembers } from '../../support/serving.ts';
import { openFile } from '../../support/sqlite.ts';
import { eventsBetween } from '../random-history/feed-checks.ts';
import { readRows } from '../random-history/rows.ts';

/** Events of rows that were only created, without their actors. */
function assertComplete(databaseFile: string): number {
  const db = openFile(databaseFile);
  try {
    const events = readEvents(db, 0).map((text) => text.replace(/ by .*/, ''));
    const expected = eventsBetween(new Map(), readRows(db), '').map((text) => text.replace(/ by .*/, ''));
    assert.deepEqual(events.sort(), expected.sort());
    return events.length;
  } finally {
    db.close();
  }
}

async function prepare(context: TestContext): Promise<string> {
  const file = join(temporaryFolder(context), 'registry.db');
  assert.equal(
    (await command(['import', 'cooperatives', writeCooperative(file), '--db', file, '--create'])).status,
    0,
  );
  return file;
}

function writeCooperative(databaseFile: string): string {
  const path = join(databaseFile, '..', 'cooperatives.csv');
  writeFileSync(path, 'code,name\nA-1,Abahuje\n');
  return path;
}

test('after kill -9 of a service that writes, events and rows agree', {
  timeout: 120_000,
}, async (context) => {
  const file = await prepare(context);
  const key = await issueWriter(file);
  let last = 1;
  for (const writingMs of [60, 150, 300]) {
    const { server, port } = await serveProcess(context, file);
    const body = { code: `C-${writingMs}`, name: 'Biringaniye' };
    const { json } = await post(port, '/cooperatives', { key, body });
    const writing = writeMembers(port, key, json.id, 16);
    await sleep(writingMs);
    server.child.kill('SIGKILL');
    await server.ended;
    await writing.stop().catch(() => undefined);
    const events = assertComplete(file);
    assert.ok(events >= last + 1 + writing.acknowledged.length, `${events} events`);
    last = events;
  }
});

test('after kill -9 of an import there are the events of all of its rows, or none', {
  timeout: 120_000,
}, async (context) => {
  const file = await prepare(context);
  const many = 30_000;
  const rows = Array.from(
    { length: many },
    (_, n) => `A-1,11985${String(n).padStart(11, '0')},M-${n},Uwase\n`,
  );
  const path = join(file, '..', 'members.csv');
  writeFileSync(path, `cooperative_code,identity_card,member_code,full_name\n${rows.join('')}`);
  for (const runningMs of [300, 500, 700, 900, 1_100]) {
    const running = spawnPlainly(['node', 'src/main.ts', 'import', 'members', path, '--db', file], {});
    await sleep(runningMs);
    running.child.kill('SIGKILL');
    await running.ended;
    assert.ok([1, 1 + many].includes(assertComplete(file)));
  }
});
