/** Code and reference agree on the kinds of warnings. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { WARNING_STATEMENTS } from '../../../src/import/checks/find-warnings.ts';
import { WARNINGS } from '../../../src/import/import-warnings.ts';
import { dayOf, UTC } from '../../../src/import/staging/staging-tables.ts';
import { SUMMED } from '../../../src/import/table/compare-totals.ts';
import { IMPORT_KINDS } from '../../../src/registry/file-columns.ts';
import { formatDateTime, KIGALI } from '../../../src/values/date-time.ts';

const REFERENCE = readFileSync(new URL('../../../docs/import-reference.md', import.meta.url), 'utf8');
const [, SECTION = ''] = /^## Warnings$([\s\S]*?)^## /m.exec(REFERENCE) ?? [];
/** The reference calls them entries. */
const ENTRIES = ['production', 'loans', 'payments', 'savings'];
/** Warnings that stop a file, that do not, and that only the desk has. */
const PARTS = SECTION.split(/^(?:These warnings do not stop the file:|Only the desk has these warnings.*)$/m);
const LISTED = PARTS.flatMap((part, index) =>
  [...part.matchAll(/^- `(\w+)` \(([\w, ]+)\): /gm)].map(([, kind = '', files = '']) => ({
    kind,
    files: files.split(', ').flatMap((file) => (file === 'entries' ? ENTRIES : [file])),
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

test('the day of an instant begins at or before it, before 1970 too', () => {
  const db = new Database(':memory:');
  for (const zone of [KIGALI, UTC])
    for (const text of [
      '1850-01-01T00:00:00Z',
      '1969-06-30T15:00:00Z',
      '1970-01-01T00:00:00Z',
      '2026-03-01T23:59:59Z',
    ]) {
      const at = Date.parse(text) / 1000;
      const day = db
        .prepare(`SELECT ${dayOf(String(at), zone)}`)
        .pluck()
        .get() as number;
      assert.ok(day <= at && at < day + 86_400, text);
      assert.equal(formatDateTime(day, zone).slice(10, 19), 'T00:00:00');
    }
  db.close();
});
