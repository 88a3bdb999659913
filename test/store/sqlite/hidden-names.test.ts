/** Names of files that were stored before national IDs were hidden in them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HIDDEN_NAMES } from '../../../src/store/sqlite/schema/migrations/hidden-names.ts';
import { importPlace, nid } from '../../support/importing.ts';
import { openFile } from '../../support/sqlite.ts';

test('the migration hides the names that were stored before', (context) => {
  const { databaseFile } = importPlace(context);
  const db = openFile(databaseFile);
  context.after(() => db.close());
  const operation = `INSERT INTO operations
      (id, kind, options, notes, system_user, performed_at, first_change, last_change)
    VALUES (?, 'members', '{}', '[]', 'x', 1, 1, 0)`;
  const file = `INSERT INTO imported_files (operation_id, file_name, sha256, unchanged, kept, refused_rows)
    VALUES (?, ?, 'x', 0, 0, 0)`;
  const names = ['members 1 1985 8 9000077 0 42.csv', `${nid(77)}.csv`, 'members 2026-11-23 0781234567.csv'];
  for (const [i, name] of names.entries()) {
    db.raw.prepare(operation).run(i + 1);
    db.raw.prepare(file).run(i + 1, name);
  }
  db.exec(HIDDEN_NAMES);
  const stored = db.raw.prepare('SELECT file_name FROM imported_files ORDER BY operation_id').pluck().all();
  assert.deepEqual(stored, ['(hidden)', '(hidden)', names[2]]);
});
