/** The undo of an import that moved transactions: the history names their former accounts by number. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SAVINGS_HEADER, startedPlace } from '../../support/importing.ts';
import { openFile } from '../../support/sqlite.ts';

test('an import is not undone when a former account has another number now', async (context) => {
  const place = await startedPlace(context);
  const load = async (account: string) => {
    const row = `A-1,M-1,${account},T-1,contribution,100,2025-06-01`;
    const { status, err } = await place.load('savings', `${SAVINGS_HEADER}\n${row}\n`);
    assert.equal(status, 0, err);
  };
  await load('S-1');
  await load('S-2');
  // No command does this today.
  const db = openFile(place.databaseFile);
  db.exec(`UPDATE savings_accounts SET account_number = 'S-3' WHERE account_number = 'S-1';
    INSERT INTO changes (entity, row_id, field, old, new, at, actor)
    VALUES ('accounts', 1, 'account_number', 'S-1', 'S-3', 1, 'correction:9')`);
  db.close();
  const refused = await place.command('imports', 'undo', '4');
  assert.equal(refused.status, 1);
  assert.match(refused.err, /savings transaction T-1 was changed since, by correction 9\n/);
  assert.match(refused.err, /Undo import 9 first\.\n/);
});
