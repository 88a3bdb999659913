/** Stored values as lists of changes show them (docs/api.md#formats). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellContext } from '../../src/import/reading/cell-context.ts';
import { IMPORT_COLUMNS } from '../../src/import/table/columns.ts';
import { formatStored } from '../../src/registry/file-columns.ts';
import { KIGALI } from '../../src/values/date-time.ts';

const CELLS = ['2024-03-31T08:30:00+02:00', '1250.50', '12.500', '18.50'];

test('what a column of numbers or instants stores is shown as a cell that reads as the same', () => {
  const context = cellContext(KIGALI, Date.parse('2026-01-01T00:00:00Z') / 1000);
  const shown: string[] = [];
  for (const columns of Object.values(IMPORT_COLUMNS)) {
    for (const { name, parse } of columns) {
      const stored = CELLS.map((cell) => parse(cell, context)).filter((value) => typeof value === 'number');
      for (const value of stored) {
        const text = formatStored(name, value, KIGALI);
        assert.equal(parse(text ?? '', context), value, `${name}: ${text}`);
        shown.push(`${name} ${text}`);
      }
    }
  }
  for (const expected of ['registration_date 2024-03-31T08:30:00+02:00', 'kg 12.500', 'amount 1250.50'])
    assert.ok(shown.includes(expected), expected);
});

test('texts and empty values are shown as they are', () => {
  assert.equal(formatStored('mobile', '+250781234567', KIGALI), '+250781234567');
  assert.equal(formatStored('mobile', null, KIGALI), null);
});
