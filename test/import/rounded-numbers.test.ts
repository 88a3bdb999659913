/** Numbers with more decimals than their columns have, shown rounded or not. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { cellContext } from '../../src/import/reading/cell-context.ts';
import type { FileLayout } from '../../src/import/reading/file-layout.ts';
import { parseMap } from '../../src/import/reading/parse-map.ts';
import { KIGALI } from '../../src/values/date-time.ts';
import { importText, placeOfFiles, startedPlace } from '../support/importing.ts';
import { FILES, type MadeCell, WORKBOOKS } from '../support/sheet.ts';
import { rowsOf, workbookOf } from '../support/workbook.ts';

const HEADER = ['cooperative_code', 'member_code', 'delivered_at', 'kg'];
const row = (kg: MadeCell): MadeCell[] => ['A-1', 'M-1', { day: '2025-01-01' }, kg];
const parse = (document: object) =>
  parseMap(JSON.stringify({ kind: 'production', ...document }), {
    kind: 'production',
    cells: cellContext(KIGALI, 1_784_000_000),
  });
const rounding = (more: object = {}) =>
  parse({ columns: { kg: { column: 'kg', round: true } }, ...more }) as FileLayout;
const CURE = 'Round it in the spreadsheet, or let a map round the column, "round": true.';

for (const [program, write] of Object.entries(WORKBOOKS)) {
  test(`${program}: a number with too many decimals is refused, with what the cell shows`, async (t) => {
    const place = await startedPlace(t);
    const rows = [HEADER, row({ number: 1186.6071672, decimals: 0 }), row({ number: 2.0005, decimals: 3 })];
    const plain = [row(12.34567), row(0.30000000000000004), row({ number: 12.5, decimals: 0 })];
    const { faults } = await importText(place, 'production', write({ rows: [...rows, ...plain] }));
    const shown = program === 'LibreOffice' ? (2.0005).toFixed(3) : '2.001';
    const rest = `and at most 3 decimals are possible. ${CURE}`;
    assert.deepEqual(
      faults.map(({ line, message }) => [line, message]),
      [
        [2, `This cell shows 1187 and holds 1186.6071672, ${rest}`],
        // LibreOffice shows the digits that JavaScript rounds down, as 2.0005 is not stored exactly.
        [3, `This cell shows ${shown} and holds 2.0005, ${rest}`],
        [4, `This cell holds 12.34567, ${rest}`],
      ],
    );
  });

  test(`${program}: a map rounds a column, with a note on each rounded number`, async (t) => {
    const place = await startedPlace(t);
    const rows = [HEADER, row({ number: 1186.6071672, decimals: 0 }), row(2.0005), row(1.5), row(0.0004)];
    const map = rounding();
    const { faults, notes } = await importText(place, 'production', write({ rows }), { map });
    assert.deepEqual(
      faults.map(({ line, message }) => [line, message]),
      [[5, 'Ensure this value is greater than 0.']],
    );
    assert.ok(notes.includes('rounded kg 2,3,5'), notes.join('; '));
    await importText(place, 'production', write({ rows: rows.slice(0, 4) }), { map });
    assert.deepEqual(
      place.query('SELECT grams FROM production_entries ORDER BY grams').map(({ grams }) => grams),
      [1500, 2001, 1_186_607],
    );
    assert.match(JSON.stringify(place.query('SELECT * FROM imported_files')), /rounded\W+kg/);
  });
}

test('a number that is shown in thousands is not taken for a rounded one', async (t) => {
  const place = await startedPlace(t);
  const rows =
    rowsOf(HEADER) +
    '<row r="2"><c r="A2" t="str"><v>A-1</v></c><c r="B2" t="str"><v>M-1</v></c>' +
    '<c r="C2" t="str"><v>2025-01-01</v></c><c r="D2" s="STYLE"><v>1186.6071672</v></c></row>';
  const formats = ['0.0,', '#,##0.00,,', '0,', '#,##0.0'];
  for (const [style, shown] of [undefined, undefined, undefined, '1186.6'].entries()) {
    const sheets = [{ name: 'S', rows: rows.replace('STYLE', String(style)) }];
    const { faults } = await importText(place, 'production', workbookOf({ sheets, formats }));
    const cell = shown === undefined ? 'holds' : `shows ${shown} and holds`;
    assert.match(faults[0]?.message ?? '', new RegExp(`^This cell ${cell} 1186\\.6071672, `));
  }
});

test('a text is rounded only where its decimal mark is certain', async (t) => {
  const place = await startedPlace(t);
  const gramsOf = async (kg: string, map: FileLayout | undefined) => {
    const { report, faults } = await importText(place, 'production', FILES.CSV({ rows: [HEADER, row(kg)] }), {
      map,
      isDryRun: true,
    });
    return report.outcome === 'accepted' ? 'accepted' : faults[0]?.message;
  };
  const decimals = 'Ensure that there are no more than 3 decimal places.';
  assert.equal(await gramsOf('1186.6071672', undefined), decimals);
  assert.equal(await gramsOf('1186.6071672', rounding()), 'accepted');
  assert.equal(await gramsOf('1186,6071672', rounding({ decimal: ',' })), 'accepted');
  assert.notEqual(await gramsOf('1186,6071672', rounding()), 'accepted');
  assert.notEqual(await gramsOf('1186.6071672', rounding({ decimal: ',' })), 'accepted');
});

test('a map rounds amounts only, and says what else is wrong with it', () => {
  const faultsOf = (column: unknown) => {
    const faults = parse({ columns: { x: column } });
    return 'kind' in faults ? [] : faults.map(({ path, message }) => `${path}: ${message}`);
  };
  assert.deepEqual(faultsOf({ column: 'kg', round: true }), []);
  assert.deepEqual(faultsOf({ column: 'product', round: false }), []);
  for (const [column, fault] of [
    [{ column: 'product', round: true }, 'columns.x.round: Only amounts, weights and rates can be rounded.'],
    [{ column: 'kg', round: 'yes' }, 'columns.x.round: Expected true or false.'],
    [{ column: 'kg', rund: true }, 'columns.x.rund: Unknown key "rund". Did you mean "round"?'],
    [{ column: 'kilo', round: true }, /^columns\.x: Unknown column "kilo"/],
    [{ round: true }, /^columns\.x: Expected the name of a column, or null to ignore/],
  ] as const) {
    const [first = '', ...more] = faultsOf(column);
    assert.deepEqual(more, []);
    if (typeof fault === 'string') assert.equal(first, fault);
    else assert.match(first, fault);
  }
});

test('the fault in three languages', async (t) => {
  const place = await startedPlace(t);
  const file = WORKBOOKS.Excel({ rows: [HEADER, row({ number: 1186.6071672, decimals: 0 })] });
  for (const [language, words] of [
    ['en', 'shows 1187 and holds 1186.6071672'],
    ['fr', 'affiche 1187 et contient 1186.6071672'],
    ['rw', 'kagaragaza 1187 kandi karimo 1186.6071672'],
  ] as const) {
    const { err } = await place.load('production', file, '--lang', language);
    assert.ok(err.replace(/\n\s+/g, ' ').includes(words), err);
  }
});

for (const extension of ['xlsx', 'ods'])
  test(`numbers as they are shown and held: .${extension}`, async (t) => {
    const place = await placeOfFiles(t);
    const path = place.write(
      `a.${extension}`,
      readFileSync(new URL(`files/shown-numbers.${extension}`, import.meta.url)),
    );
    const { err } = await place.run('production', path, '--skip-invalid', '--yes');
    assert.match(err.replace(/\n\s+/g, ' '), /shows 1187 and holds 1186\.6071672, .*cell D2\)/);
    assert.deepEqual(
      place.query('SELECT grams FROM production_entries ORDER BY grams').map(({ grams }) => grams),
      [300, 12_300, 1_000_000, 1_234_500],
    );
  });
