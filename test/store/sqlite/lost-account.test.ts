/** The undo of an import that moved transactions finds their former accounts, whatever their numbers are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SAVINGS_HEADER, startedPlace } from '../../support/importing.ts';
import { openFile } from '../../support/sqlite.ts';

test('a transaction goes back to its former account, also when that has another number now', async (context) => {
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
  const undone = await place.command('imports', 'undo', '--yes', '4');
  assert.equal(undone.status, 0, undone.err);
  assert.deepEqual(
    place.query(
      `SELECT a.account_number AS account FROM savings_transactions t
       JOIN savings_accounts a ON a.id = t.account_id`,
    ),
    [{ account: 'S-3' }],
  );
  assert.equal((await place.command('check')).status, 0);
});
