/** Every declared warning is looked for in the files that it is declared for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WARNINGS } from '../../../src/store/ports/import/import-warnings.ts';
import { WARNING_STATEMENTS } from '../../../src/store/sqlite/staging/warnings/warning-statements.ts';

test('each kind of file is examined for the warnings that are declared for it, and no other', () => {
  const declared = Object.entries(WARNINGS).flatMap(([kind, { files }]) =>
    files.map((file) => `${file} ${kind}`),
  );
  const examined = Object.entries(WARNING_STATEMENTS).flatMap(([file, statements]) =>
    statements.map(({ kind }) => `${file} ${kind}`),
  );
  assert.deepEqual(examined.sort(), declared.sort());
});
