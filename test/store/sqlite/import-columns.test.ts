/** The columns of import files and those of the tables they go into. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stagedColumns } from '../../../src/import/staging/staging-tables.ts';
import { IMPORT_COLUMNS } from '../../../src/import/table/columns.ts';
import { IMPORT_KINDS } from '../../../src/registry/file-columns.ts';

test('every column of an import file has its place in the table, in the same order', () => {
  for (const kind of IMPORT_KINDS) {
    assert.deepEqual(
      IMPORT_COLUMNS[kind].map(({ name }) => name),
      stagedColumns(kind).map(({ name }) => name),
      kind,
    );
  }
});
