/** `registry.corrections`, for programs that embed the registry (README.md#embed-it). */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openRegistry, RegistryError } from '../src/index.ts';
import { temporaryFolder } from './support/app.ts';
import { importPlace, member, members, nid } from './support/importing.ts';
import { openFile } from './support/sqlite.ts';

test('an embedding program corrects people as the commands do, and undoes it', async (context) => {
  const place = importPlace(context);
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
  await place.load('members', members(member(1), member(2), member(3)));
  const registry = openRegistry({ db: place.databaseFile });
  context.after(() => registry.close());
  const { corrections } = registry;
  const why = { reason: 'test', user: 'back office' };
  const dry = await corrections.replaceIdentityCard(nid(1), nid(9), { ...why, isDryRun: true });
  assert.deepEqual([dry.outcome, dry.outcome === 'done' && dry.correctionId], ['done', null]);
  const ids = [];
  for (const result of [
    await corrections.replaceIdentityCard(nid(1), nid(9), why),
    await corrections.releaseIdentityCard(nid(1), why),
    await corrections.mergeMembers(2, 3, why),
    await corrections.moveMember(1, 'B-2', why),
    await corrections.mergeCooperatives('B-2', 'A-1', why),
  ])
    ids.push(result.outcome === 'done' ? result.correctionId : result.message);
  assert.deepEqual(ids, [3, 4, 5, 6, 7]);
  assert.equal(place.value('SELECT system_user FROM operations WHERE id = 3'), 'back office');
  assert.equal((await corrections.undo(6)).outcome, 'refused');
  for (const id of [7, 6, 5, 4, 3]) assert.equal((await corrections.undo(id)).outcome, 'undone');
  assert.equal((await corrections.mergeMembers(1, 1, why)).outcome, 'refused');
  await assert.rejects(corrections.mergeMembers(1, 2, { ...why, reason: '' }), RegistryError);
});

test('a correction of an embedding program does not wait while another process has the lock', async (context) => {
  const file = join(temporaryFolder(context), 'registry.db');
  const registry = openRegistry({ db: file });
  context.after(() => registry.close());
  const other = openFile(file);
  other.exec('BEGIN IMMEDIATE');
  const startedMs = performance.now();
  const isUnavailable = (error: unknown) => error instanceof RegistryError && error.code === 'unavailable';
  await assert.rejects(registry.corrections.mergeMembers(1, 2, { reason: 'x', user: 'y' }), isUnavailable);
  await assert.rejects(registry.corrections.undo(1), isUnavailable);
  assert.ok(performance.now() - startedMs < 2_000);
  other.exec('ROLLBACK');
  other.close();
});
