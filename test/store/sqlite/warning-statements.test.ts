/** Code and reference agree on the kinds of warnings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WARNING_STATEMENTS } from '../../../src/import/checks/warning-statements.ts';
import { WARNINGS } from '../../../src/import/import-warnings.ts';
import { SUMMED } from '../../../src/import/table/compare-totals.ts';
import { IMPORT_KINDS } from '../../../src/registry/file-columns.ts';
import { rowsOf } from '../../support/markdown.ts';

const LISTED = rowsOf('docs/import-reference.md', 'Warning');

test('each kind of file is examined for the warnings that the reference lists for it, and no other', () => {
  const listed = LISTED.flatMap(([kind, , files = '']) => files.split(', ').map((file) => `${file} ${kind}`));
  const examined = Object.entries(WARNING_STATEMENTS).flatMap(([file, statements]) =>
    statements.map(({ kind }) => `${file} \`${kind}\``),
  );
  for (const file of IMPORT_KINDS)
    if (SUMMED[file].length > 0)
      examined.push(`${file} \`totals_differ\``, `${file} \`totals_not_compared\``);
  assert.deepEqual(examined.sort(), listed.sort());
});

test('the reference says of every warning whether it stops a file', () => {
  assert.deepEqual(
    Object.entries(WARNINGS).map(([kind, { stops }]) => [`\`${kind}\``, stops ? 'yes' : 'no']),
    LISTED.map(([kind, stops]) => [kind, stops]),
  );
});
