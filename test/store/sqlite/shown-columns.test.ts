/** What people are shown of the columns of stored rows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordedColumns, referencesOf, TABLES } from '../../../src/registry/changes/tables.ts';
import { formatStored } from '../../../src/registry/file-columns.ts';
import { KIGALI } from '../../../src/values/date-time.ts';
import { importPlace } from '../../support/importing.ts';
import { openFile } from '../../support/sqlite.ts';

test('every number of a stored row is shown by its kind, and an id as the number it is', (context) => {
  const { databaseFile } = importPlace(context);
  const db = openFile(databaseFile);
  context.after(() => db.close());
  for (const table of TABLES) {
    const types = db.raw.pragma(`table_info(${table.table})`) as { name: string; type: string }[];
    const ids = referencesOf(table).map(({ column }) => column);
    for (const { column, field } of recordedColumns(db, table)) {
      if (types.find(({ name }) => name === column)?.type !== 'INTEGER') continue;
      const shown = formatStored(field, 1250, KIGALI) ?? '';
      if (ids.includes(column)) assert.equal(shown, '1250', `${table.table}.${column}`);
      else assert.match(shown, /^(1970-01-01T02:20:50\+02:00|12\.50|1\.250)$/, `${table.table}.${column}`);
    }
  }
});
