/** The check of what is recorded of imports, against rows and records that were changed by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { member, members, SAVINGS_HEADER, startedPlace } from '../../support/importing.ts';
import { openFile } from '../../support/sqlite.ts';

for (const [title, sql, check] of [
  [
    'an undone import that still has rows',
    'UPDATE operations SET undone_at = 1 WHERE id = 2',
    'rows of imports',
  ],
  [
    'an import with more rows than it created',
    'UPDATE operations SET created = 0 WHERE id = 2',
    'rows of imports',
  ],
  [
    'an undone import that still has accounts',
    'DELETE FROM savings_transactions; UPDATE operations SET undone_at = 1 WHERE id = 4',
    'rows of imports',
  ],
  ['an import whose changes are missing', 'DELETE FROM changes WHERE row_id = 1', 'changes of imports'],
  ["changes under another import's name", "UPDATE changes SET actor = 'import:1'", 'changes of imports'],
] as const) {
  test(`the check finds ${title}`, async (context) => {
    const place = await startedPlace(context);
    await place.load('members', members(member(1).replace('Person', 'Renamed')));
    await place.load('savings', `${SAVINGS_HEADER}\nA-1,M-1,S-1,R-1,contribution,5,2025-03-01\n`);
    const faultsOf = async () => {
      const { out } = await place.command('check', '--json');
      const checks = JSON.parse(out).checks as { check: string; fault: string | null }[];
      return checks.filter(({ fault }) => fault !== null).map((found) => found.check);
    };
    assert.deepEqual(await faultsOf(), []);
    const db = openFile(place.databaseFile);
    db.exec(sql);
    db.close();
    assert.deepEqual(await faultsOf(), [check]);
  });
}
