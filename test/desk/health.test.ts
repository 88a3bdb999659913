/** Health at the desk: the facts of `status`, `check`, and a backup. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testDesk } from '../support/desk.ts';
import { startedPlace } from '../support/importing.ts';

test('a backup is made in a folder that is typed, and remembered for the next one', async (context) => {
  const { databaseFile, folder, command } = await startedPlace(context);
  const browser = await (await testDesk(context, databaseFile)).enter();
  const before = await browser.get('/health');
  assert.match(before.text, /No backup has been made since the registry was created or restored here/);
  assert.match(before.text, /<dt>Read model<\/dt><dd>up to date<\/dd>/);
  const relative = await browser.post('/health', { action: 'backup', folder: 'backups' });
  assert.equal(relative.status, 422);
  const target = join(folder, 'backups');
  // Its disk may not be mounted.
  const unmounted = await browser.post('/health', { action: 'backup', folder: target });
  assert.equal(unmounted.status, 422);
  assert.match(unmounted.text, /There is no such folder\. Mount its disk, or tick the box to create it\./);
  assert.ok(unmounted.text.includes(`value="${target}"`));
  assert.ok(!existsSync(target));
  const begun = await browser.post('/health', { action: 'backup', folder: target, create: 'yes' });
  assert.equal(begun.headers.location, '/health');
  const { text } = await browser.whenDone('/health');
  assert.match(text, /and verified\./);
  assert.ok(text.includes(`value="${target}"`));
  const [name = ''] = readdirSync(target);
  assert.equal((await command('backup', 'verify', join(target, name))).status, 0);
  // The next one has the next number, and keeps the first.
  await browser.post('/health', { action: 'backup', folder: target });
  assert.match((await browser.whenDone('/health')).text, /and verified\./);
  assert.deepEqual(readdirSync(target).sort(), [name, `000002${name.slice(6)}`]);
  assert.match((await browser.get('/health')).text, /<dt>Disk<\/dt><dd>in the folder of the registry<\/dd>/);
  renameSync(target, `${target}-away`);
  const { text: gone } = await browser.get('/health');
  assert.match(gone, /is missing: it was removed, or its disk is not mounted\./);
  assert.match(gone, /<dt>State<\/dt><dd><b>MISSING<\/b><\/dd>/);
});

test('everything is checked, and what was found is shown', async (context) => {
  const { databaseFile } = await startedPlace(context);
  const browser = await (await testDesk(context, databaseFile)).enter();
  await browser.post('/health', { action: 'check' });
  const { text } = await browser.whenDone('/health');
  assert.match(text, /The registry is sound\./);
  assert.match(text, /registry: integrity/);
});
