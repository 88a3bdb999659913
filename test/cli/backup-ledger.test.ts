/** The access ledger in backups: copied while it is written, verified, put back only where there is none. */
import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { chainFolderOf, keyFileOf } from '../../src/ledger/files/paths.ts';
import { verifyLedger } from '../../src/ledger/read/verify.ts';
import { openCommandLedger } from '../../src/ledger/write/command-ledger.ts';
import { temporaryFolder } from '../support/app.ts';
import { command } from '../support/command.ts';
import { ledgerPlaceIn, reading } from '../support/ledger.ts';
import { copyRegistry } from '../support/sample-registry.ts';

/** A registry whose ledger is being written, with a backup from when it had two entries. */
async function backedUp(context: TestContext) {
  const root = temporaryFolder(context);
  const db = await copyRegistry(root);
  const ledger = openCommandLedger(ledgerPlaceIn(join(root, 'live')));
  context.after(() => ledger.close());
  await ledger.record([reading(), reading()]);
  const [backups, live] = [join(root, 'backups'), join(root, 'live', 'registry.ledger')];
  const outcome = await command(['backup', backups, '--keep', '1', '--verify', '--json', '--db', db]);
  assert.equal(outcome.status, 0, outcome.err);
  const { folder, kept } = JSON.parse(outcome.out);
  assert.equal(kept, 1);
  await ledger.record([reading()]);
  return { root, db, live, folder: folder as string, copy: join(folder, 'registry.ledger') };
}

test('a backup has the ledger up to its last complete batch, and goes where there is none', async (context) => {
  const { root, folder, copy, live } = await backedUp(context);
  assert.deepEqual([verifyLedger(copy).entries, verifyLedger(live).entries], [2, 3]);
  assert.ok(!existsSync(join(copy, '1.lock')));
  const db = join(root, 'elsewhere', 'registry.db');
  const restored = await command(['restore', folder, '--db', db]);
  assert.equal(restored.status, 0, restored.err);
  const place = ledgerPlaceIn(join(root, 'elsewhere'));
  assert.deepEqual(
    [verifyLedger(place.ledgerFolder).entries, verifyLedger(place.ledgerFolder).faults],
    [2, []],
  );
  const ledger = openCommandLedger(place);
  const [receipt = ''] = await ledger.record([reading()]);
  await ledger.close();
  assert.match(receipt, /^3-/);
  const checked = await command(['check', '--db', db]);
  assert.match(checked.out, /access ledger +ok, 3 readings/);
});

test('a restore leaves the ledger that is there: what was read after the backup stays recorded', async (context) => {
  const { db, folder, live } = await backedUp(context);
  const restored = await command(['restore', folder, '--replace', '--db', db]);
  assert.equal(restored.status, 0, restored.err);
  assert.deepEqual([verifyLedger(live).entries, verifyLedger(live).faults], [3, []]);
});

test('check and backup verify find a ledger that is not sound', async (context) => {
  const { db, folder, copy, live } = await backedUp(context);
  for (const ledger of [live, copy]) rmSync(keyFileOf(chainFolderOf(ledger, 1), 1));
  const checked = await command(['check', '--db', db]);
  assert.deepEqual([checked.status, /its key is missing/.test(checked.out)], [1, true]);
  const verified = await command(['backup', 'verify', folder]);
  assert.equal(verified.status, 1);
  assert.match(verified.out, /registry\.ledger: Chain 1, segment 1: its key is missing/);
});
