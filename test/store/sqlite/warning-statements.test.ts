/** Code and reference agree on the kinds of warnings. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { WARNING_STATEMENTS } from '../../../src/import/checks/warning-statements.ts';
import { WARNINGS } from '../../../src/import/import-warnings.ts';
import { SUMMED } from '../../../src/import/table/compare-totals.ts';
import { IMPORT_KINDS } from '../../../src/registry/file-columns.ts';

const REFERENCE = readFileSync(new URL('../../../docs/import-reference.md', import.meta.url), 'utf8');
const [, SECTION = ''] = /^## Warnings$([\s\S]*?)^## /m.exec(REFERENCE) ?? [];
/** Warnings that stop a file, that do not, and that only the desk has. */
const PARTS = SECTION.split(/^(?:These warnings do not stop the file:|Only the desk has these warnings.*)$/m);
const LISTED = PARTS.flatMap((part, index) =>
  [...part.matchAll(/^- `(\w+)` \(([\w, ]+)\): /gm)].map(([, kind = '', files = '']) => ({
    kind,
    files: files.split(', '),
    stops: index === 0,
  })),
);

test('each kind of file is examined for the warnings that the reference lists for it, and no other', () => {
  const listed = LISTED.flatMap(({ kind, files }) => files.map((file) => `${file} ${kind}`));
  const examined = Object.entries(WARNING_STATEMENTS).flatMap(([file, statements]) =>
    statements.map(({ kind }) => `${file} ${kind}`),
  );
  for (const file of IMPORT_KINDS)
    if (SUMMED[file].length > 0) examined.push(`${file} totals_differ`, `${file} totals_not_compared`);
  assert.deepEqual(examined.sort(), listed.sort());
});

test('the reference says of every warning whether it stops a file', () => {
  const stopping = Object.entries(WARNINGS).map(([kind, { stops }]) => `${kind} ${stops}`);
  assert.deepEqual(stopping.sort(), LISTED.map(({ kind, stops }) => `${kind} ${stops}`).sort());
});

test('the reference lists the warnings of each part in the order of the code', () => {
  assert.equal(PARTS.length, 3);
  for (const part of PARTS) {
    const listed = LISTED.map(({ kind }) => kind).filter((kind) => part.includes(`\n- \`${kind}\` (`));
    assert.deepEqual(
      listed,
      Object.keys(WARNINGS).filter((kind) => listed.includes(kind)),
    );
  }
});
