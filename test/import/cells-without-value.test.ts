/** Cells of workbooks that have no value of their own: formulas, errors and merged cells. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createSheetRows } from '../../src/import/files/sheet-rows.ts';
import { importText, placeOfFiles, startedPlace } from '../support/importing.ts';
import { FILES, type MadeCell, WORKBOOKS } from '../support/sheet.ts';

const HEADER = ['cooperative_code', 'member_code', 'delivered_at', 'kg', 'product'];
const DAY = { day: '2025-01-01' };
const row = (...cells: MadeCell[]): MadeCell[] => ['A-1', 'M-1', DAY, ...cells];
const FORMULA = { formula: '10+2.5' };
const sample = (name: string) => readFileSync(new URL(`files/${name}`, import.meta.url));
const gramsOf = (place: { query(sql: string): Record<string, unknown>[] }) =>
  place.query('SELECT grams FROM production_entries ORDER BY delivered_at, grams').map(({ grams }) => grams);

for (const [program, write] of Object.entries(WORKBOOKS)) {
  test(`${program}: a formula that was never calculated is a fault of its cell`, async (t) => {
    const place = await startedPlace(t);
    const file = write({ rows: [HEADER, row(1), row(FORMULA), row(3, FORMULA), row('', 'Ikawa')] });
    const { faults, report } = await importText(place, 'production', file);
    const message =
      'This cell holds a formula without a value. ' +
      'Open the file in a spreadsheet, save it and import it again.';
    assert.deepEqual(
      faults.map((fault) => [fault.line, fault.column, fault.message]),
      [
        [3, 'kg', message],
        [4, 'product', message],
        [5, 'kg', 'This field may not be blank.'],
      ],
    );
    assert.equal(report.refusedRows, 3);
  });

  test(`${program}: a formula without a value matters only where it is read`, async (t) => {
    const place = await startedPlace(t);
    const header = [...HEADER, 'Ikindi'];
    const rows = [header, row(1, 'Ikawa', FORMULA), ['Total', '', '', FORMULA]];
    const { report, faults } = await importText(place, 'production', write({ rows }));
    assert.deepEqual([faults, report.rows], [[], 1]);
    const refused = await importText(place, 'production', write({ rows: [[...HEADER, FORMULA], row(1)] }));
    assert.match(refused.faults[0]?.message ?? '', /^The heading in position 6 cannot be read\. This cell/);
  });

  test(`${program}: a value merged over rows is that of each, with a note`, async (t) => {
    const place = await startedPlace(t);
    const rows: MadeCell[][] = [
      ['List of Huye'],
      HEADER,
      ['A-1', 'M-1', DAY, 1],
      ['', 'M-2', DAY, 2],
      ['', '', DAY, 3],
      // Merged, and not a row.
      [],
      ['', 'M-3', DAY, 4],
    ];
    const merges = ['A1:E1', 'A3:A7', 'B4:B5'];
    const { report, notes, faults } = await importText(place, 'production', write({ rows, merges }));
    assert.deepEqual([faults, report.rows], [[], 4]);
    assert.deepEqual(gramsOf(place), [1000, 2000, 3000, 4000]);
    assert.ok(notes.includes('merged_cell cooperative_code 4,5,7'), notes.join('; '));
    assert.ok(notes.includes('merged_cell member_code 5'));
    const strict = await importText(place, 'production', write({ rows, merges }), { isStrict: true });
    assert.ok(strict.faults.some(({ line, message }) => line === 5 && /merged with one above/.test(message)));
  });

  test(`${program}: a value merged over columns is a fault of those that are covered`, async (t) => {
    const place = await startedPlace(t);
    const rows = [HEADER, row(1, 'Ikawa'), row(2), ['Total', '', '', 3]];
    const { faults } = await importText(place, 'production', write({ rows, merges: ['D3:E3', 'A4:C4'] }));
    assert.deepEqual(
      faults.map(({ line, column, message }) => [line, column, message]),
      [
        [
          3,
          'product',
          'This cell is merged with the one in column D. Undo the merge, and write the value of each cell.',
        ],
      ],
    );
    const both = await importText(
      place,
      'production',
      write({ rows: [...rows, row(4), row()], merges: ['D5:E6'] }),
    );
    assert.deepEqual(
      both.faults.map(({ line, column }) => `${line} ${column}`),
      ['5 product', '6 product'],
    );
    // A heading and its values over two columns, of which the second has no heading.
    const wide = [[...HEADER, ''], row(1, 'Ikawa')];
    const read = await importText(place, 'production', write({ rows: wide, merges: ['E1:F1', 'E2:F2'] }));
    assert.deepEqual([read.faults, read.report.rows], [[], 1]);
  });

  test(`${program}: headings of two lines stay as they are, though merged`, async (t) => {
    const place = await startedPlace(t);
    const rows = [['Kode', '', '', 'Umusaruro', '', 'Ikindi'], HEADER, row(1)];
    const { report, notes } = await importText(
      place,
      'production',
      write({ rows, merges: ['A1:C1', 'D1:E1', 'F1:F2'] }),
    );
    assert.deepEqual([report.rows, notes], [1, ['title_row  1']]);
  });

  test(`${program}: refused rows are written with the value of the merged cell`, async (t) => {
    const place = await startedPlace(t);
    const rows = [HEADER, row(1), ['', 'M-2', DAY, 'ten']];
    const path = place.write('a.xlsx', write({ rows, merges: ['A2:A3'] }));
    const rejects = `${place.folder}/refused.csv`;
    await place.run('production', path, '--rejects', rejects);
    assert.match(readFileSync(rejects, 'utf8'), /^A-1,M-2,2025-01-01,ten,/m);
  });
}

for (const [program, write] of Object.entries(FILES))
  test(`${program}: the error of a formula is a fault that names it, in a column of texts too`, async (t) => {
    const place = await startedPlace(t);
    for (const error of ['#REF!', '#N/A', '#DIV/0!', '#VALEUR!', '#NOM ?', 'Err:502']) {
      const rows = [HEADER, row({ error }, { error }), row(1, 'Err:or')];
      const { faults } = await importText(place, 'production', write({ rows }));
      const cure = 'Correct the formula in the spreadsheet.';
      const message = `This cell shows ${error}, the error of a formula. ${cure}`;
      assert.deepEqual(
        faults.map((fault) => [fault.line, fault.column, fault.message]),
        [
          [2, 'kg', message],
          [2, 'product', message],
        ],
      );
    }
  });

test('an error that no spreadsheet shows is not shown either', async (t) => {
  const place = await startedPlace(t);
  const rows = [HEADER, row({ error: '1198580012345678' })];
  const { faults } = await importText(place, 'production', WORKBOOKS.Excel({ rows }));
  assert.match(faults[0]?.message ?? '', /^This cell shows #\?, /);
});

test('files of formulas: without a value, with an error, with values', async (t) => {
  const place = await placeOfFiles(t);
  const at = async (name: string) => {
    const { err } = await place.load('production', sample(name));
    return err.replace(/\n\s+/g, ' ');
  };
  assert.match(await at('formula-without-value.xlsx'), /formula without a value\. .*cell D2\)/);
  assert.match(await at('formula-error.xlsx'), /This cell shows #REF!, .*cell D2\)/);
  assert.deepEqual(gramsOf(place), []);
  await at('formula-values.xlsx');
  assert.deepEqual(gramsOf(place), [11_100, 12_100, 13_100]);
});

test('faults and notes of cells in three languages', async (t) => {
  const place = await startedPlace(t);
  const rows = [HEADER, row(1), ['', 'M-1', DAY, FORMULA], row({ error: '#N/A' }), row(4)];
  const file = WORKBOOKS.Excel({ rows, merges: ['A2:A3', 'D5:E5'] });
  for (const [language, ...texts] of [
    ['en', 'value of the merged cell above in column cooperative_code: line 3'],
    [
      'fr',
      'valeur de la cellule fusionnée',
      'une formule sans valeur',
      'affiche #N/A',
      'fusionnée avec celle',
    ],
    ['rw', 'agaciro k’akazu kahujwe', 'idafite agaciro', 'kagaragaza #N/A', 'kahujwe n’ako mu nkingi D'],
  ]) {
    const { err } = await place.load('production', file, '--lang', language as string);
    for (const text of texts) assert.ok(err.replace(/\n\s+/g, ' ').includes(text), `${text} in ${err}`);
  }
});

test('the texts of merged cells count towards the limit of a sheet', () => {
  const rows = createSheetRows({ width: 0, headerLine: 0 });
  const readRow = (line: number): void => {
    rows.start(line, false);
    if (line === 1) {
      rows.add(0, { text: 'x'.repeat(65_000) });
      rows.merge({ top: 1, bottom: 1e6, left: 0, right: 0 });
    }
    rows.add(1, { text: 'y' });
    rows.end();
  };
  assert.throws(() => {
    for (let line = 1; line < 20_000; line++) readRow(line);
  }, /more than 1,000,000,000 characters/);
});
