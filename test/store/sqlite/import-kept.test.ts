/** Values that a file would change and that stay as they are stored, in SQLite. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { addSqlFunctions } from '../../../src/import/checks/run-checks.ts';
import { applyStaged } from '../../../src/import/staging/apply-checked-file.ts';
import {
  attachStaging,
  createStagingFile,
  openImportSession,
  openStaging,
} from '../../../src/import/staging/import-session.ts';
import {
  countByColumn,
  countChanges,
  leaveStored,
  listChanges,
} from '../../../src/import/staging/staged-changes.ts';
import { createSessionTables, type FileScope, UTC } from '../../../src/import/staging/staging-tables.ts';
import { MEMBER_COUNTS } from '../../../src/sqlite/counts.ts';
import { currentSql } from '../../../src/sqlite/declared-totals.ts';
import { openDatabase } from '../../../src/sqlite/open-database.ts';
import { temporaryFolder } from '../../support/app.ts';
import { FORMAT } from '../../support/sqlite.ts';
import { storageAt } from '../../support/storage.ts';
import { accepted, LATER, NOW, person, start } from '../conformance/import-rows.ts';

/** A members file that would change name and phone of M-1 and M-2 and the status of M-3, checked. */
async function checkedFile(context: TestContext): Promise<FileScope> {
  const file = join(temporaryFolder(context), 'registry.db');
  const storage = storageAt(file);
  await start({ openSession: () => openImportSession(storage) });
  const db = openDatabase(file, { waitMs: 0 });
  context.after(() => db.close());
  attachStaging(db, createStagingFile(file));
  addSqlFunctions(db);
  createSessionTables(db);
  const scope = {
    ...{ db, kind: 'members' as const, format: FORMAT, monotonicMs: () => 0 },
    ...{ columns: new Set<string>(), zone: UTC, hasDerived: false, assertCurrent() {}, end() {} },
  };
  let staged: FileScope = scope;
  const session = {
    stage(_kind: string, columns: ReadonlySet<string>) {
      staged = { ...scope, columns };
      return openStaging(staged);
    },
  };
  const changed = { full_name: 'New', mobile: '+250781234567', status: 'active' };
  await accepted(session, 'members', [
    person(1, changed),
    person(2, changed),
    person(3, { ...changed, full_name: 'Person 3', mobile: null, status: 'withdrawn' }),
  ]);
  return staged;
}

const cellsOf = async (scope: FileScope, table: 'changes' | 'kept') => {
  const cells: string[] = [];
  for await (const { row, column } of listChanges(scope, table)) cells.push(`${row} ${column}`);
  return cells;
};

test('a kept value is listed apart, and the other values of its row are written', async (context) => {
  const scope = await checkedFile(context);
  leaveStored(scope, `SELECT id FROM staging.changes WHERE row_id = 1 AND "column" = 'mobile'`);
  assert.deepEqual(await cellsOf(scope, 'kept'), ['M-1 mobile']);
  assert.deepEqual(await cellsOf(scope, 'changes'), [
    ...['M-1 full_name', 'M-2 full_name', 'M-2 mobile', 'M-3 status'],
  ]);
  assert.deepEqual(countChanges(scope), { created: 0, changed: 3, unchanged: 0, removed: 0, kept: 1 });
  assert.deepEqual(
    [...countByColumn(scope)],
    [
      ['full_name', 2],
      ['mobile', 1],
      ['status', 1],
    ],
  );
  scope.db.transaction.immediate(() => applyStaged(scope, LATER));
  const rows = scope.db.raw.prepare('SELECT full_name, mobile, updated_at FROM members').raw().all();
  assert.deepEqual(rows, [
    ['New', null, LATER],
    ['New', '+250781234567', LATER],
    ['Person 3', null, LATER],
  ]);
});

test('a row whose changes are all kept is not written, and its status counts as before', async (context) => {
  const scope = await checkedFile(context);
  leaveStored(scope, 'SELECT id FROM staging.changes WHERE row_id IN (1, 3)');
  assert.deepEqual(countChanges(scope), { created: 0, changed: 1, unchanged: 2, removed: 0, kept: 3 });
  scope.db.transaction.immediate(() => applyStaged(scope, LATER));
  const rows = scope.db.raw.prepare('SELECT full_name, status, updated_at FROM members').raw().all();
  assert.deepEqual(rows, [
    ['Person 1', 'active', NOW],
    ['New', 'active', LATER],
    ['Person 3', 'active', NOW],
  ]);
  assert.deepEqual(
    scope.db.rows(`SELECT status, sum(rows) AS rows FROM (${currentSql(MEMBER_COUNTS.ofCooperatives, 'true')})
      GROUP BY 1 HAVING rows <> 0`),
    [{ status: 'active', rows: 3 }],
  );
});
