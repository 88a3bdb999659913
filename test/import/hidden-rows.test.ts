/** Hidden rows and columns of workbooks (docs/import-reference.md#workbooks). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { importText, placeOfFiles, startedPlace } from '../support/importing.ts';
import { type MadeCell, WORKBOOKS } from '../support/sheet.ts';

const HEADER = ['cooperative_code', 'member_code', 'delivered_at', 'kg', 'product'];
const row = (kg: number, product = 'Ikawa'): MadeCell[] => ['A-1', 'M-1', { day: '2025-01-01' }, kg, product];
const ROWS = [['List'], HEADER, row(1), row(2), [], row(3), row(4), ['Total', '', '', 10]];
const HIDDEN = { rows: ROWS, hiddenRows: [4], filteredRows: [6], hiddenColumns: ['E', 'H'] };

for (const [program, write] of Object.entries(WORKBOOKS)) {
  test(`${program}: hidden rows and columns are read like the others, with a note`, async (t) => {
    const place = await startedPlace(t);
    const { report, notes, faults } = await importText(place, 'production', write(HIDDEN));
    assert.deepEqual([faults, report.rows], [[], 4]);
    assert.deepEqual(
      notes.filter((note) => note.startsWith('hidden')),
      ['hidden_column E 2', 'hidden_row  4,6'],
    );
    const strict = await importText(place, 'production', write(HIDDEN), { isStrict: true });
    assert.ok(strict.faults.some(({ line, message }) => line === 6 && /the row is hidden/.test(message)));
  });

  test(`${program}: --skip-hidden leaves them out`, async (t) => {
    const place = await startedPlace(t);
    const { report, notes, faults } = await importText(place, 'production', write(HIDDEN), {
      skipsHidden: true,
    });
    assert.deepEqual([faults, report.rows], [[], 2]);
    assert.deepEqual(notes.toSorted(), [
      'empty_row  5',
      'hidden_column E 2',
      'hidden_row  4,6',
      'title_row  1',
      'totals_row  8',
    ]);
    assert.equal(place.value('SELECT count(product) FROM production_entries'), 0);
    assert.match(
      String(place.value('SELECT options FROM operations ORDER BY id DESC')),
      /"skip_hidden":true/,
    );
  });

  test(`${program}: a hidden header, or a column that is needed, is missing with --skip-hidden`, async (t) => {
    const place = await startedPlace(t);
    const twice = { rows: [['kg', 'member_code'], ...ROWS], hiddenRows: [1] };
    const read = await importText(place, 'production', write(twice), { skipsHidden: true });
    assert.deepEqual([read.faults, read.report.rows], [[], 4]);
    const { faults } = await importText(place, 'production', write({ rows: ROWS, hiddenColumns: ['D'] }), {
      skipsHidden: true,
    });
    assert.deepEqual(
      faults.map(({ column, message }) => [column, message]),
      [['kg', 'The column is missing.']],
    );
    const all = { rows: [HEADER, row(1)], hiddenRows: [1, 2] };
    const empty = await importText(place, 'production', write(all), { skipsHidden: true });
    assert.match(empty.faults[0]?.message ?? '', /^The file is empty/);
  });

  test(`${program}: with --skip-hidden nothing in a hidden column counts`, async (t) => {
    const place = await startedPlace(t);
    const rows: MadeCell[][] = [
      // Nothing above the header but a hidden title.
      ['', '', '', '', '', 'Titre'],
      // A heading that cannot be read.
      [...HEADER, { error: '#REF!' }],
      [...row(1), 'x', 'beyond the header'],
      // Only hidden values.
      ['', '', '', '', '', 'x'],
      // The header of a second page.
      [...HEADER, 'y'],
      row(2),
      ['', '', '', '', '', 'Total'],
      ['Umukono', '', '', '', '', 'z'],
    ];
    const file = write({ rows, hiddenColumns: ['F', 'G'] });
    const { report, notes, faults } = await importText(place, 'production', file, { skipsHidden: true });
    assert.deepEqual([faults, report.rows], [[], 2]);
    assert.deepEqual(notes.toSorted(), [
      'empty_row  4,7',
      'hidden_column F 2',
      'repeated_header  5',
      'text_below  8',
    ]);
    const read = await importText(place, 'production', file);
    assert.equal(read.report.outcome, 'refused');
  });

  test(`${program}: with --skip-hidden a hidden row tells nothing about its columns`, async (t) => {
    const place = await startedPlace(t);
    const loans: MadeCell[][] = [
      ['cooperative_code', 'member_code', 'reference', 'amount', 'interest_rate'],
      ['A-1', 'M-1', 'L-1', 1000, 0.18],
      ['A-1', 'M-1', 'L-2', 1000, 19.5],
    ];
    const file = write({ rows: loans, hiddenRows: [3] });
    assert.equal((await importText(place, 'loans', file)).report.outcome, 'refused');
    const { faults, report } = await importText(place, 'loans', file, { skipsHidden: true });
    assert.deepEqual([faults, report.rows], [[], 1]);
  });

  test(`${program}: refused rows have no heading of a column that was left out`, async (t) => {
    const place = await startedPlace(t);
    const path = place.write('a.xlsx', write({ rows: [HEADER, row(0)], hiddenColumns: ['E'] }));
    await place.run('production', path, '--skip-hidden', '--rejects', `${place.folder}/r.csv`);
    assert.match(readFileSync(`${place.folder}/r.csv`, 'utf8'), /member_code,delivered_at,kg,,/);
  });
}

test('what the note says in three languages, read or left out', async (t) => {
  const place = await startedPlace(t);
  const file = WORKBOOKS.Excel(HIDDEN);
  for (const [language, rows, columns, without] of [
    ['en', '2 hidden rows, read like the others: lines 4, 6', 'others: E', 'hidden column, left out: E'],
    [
      'fr',
      '2 lignes masquées, lues comme les autres : lignes 4, 6',
      'autres : E',
      '1 colonne masquée, laissée',
    ],
    ['rw', 'imirongo 2 ihishe, yasomwe', 'nk’izindi: E', 'inkingi 1 ihishe, yasimbutswe: E'],
  ] as const) {
    const { err } = await place.load('production', file, '--dry-run', '--lang', language);
    for (const text of [rows, columns]) assert.ok(err.replace(/\n\s+/g, ' ').includes(text), err);
    const left = await place.load('production', file, '--dry-run', '--skip-hidden', '--lang', language);
    assert.ok(left.err.replace(/\n\s+/g, ' ').includes(without), left.err);
  }
});

for (const extension of ['xlsx', 'ods'])
  test(`a code that is merged over three rows, of which one is hidden: .${extension}`, async (t) => {
    const place = await placeOfFiles(t);
    const file = readFileSync(new URL(`files/merged-code-hidden-row.${extension}`, import.meta.url));
    const { faults, notes, report } = await importText(place, 'production', file);
    assert.deepEqual([faults, report.rows], [[], 3]);
    for (const note of ['merged_cell cooperative_code 3,4', 'hidden_row  3'])
      assert.ok(notes.includes(note), notes.join('; '));
    assert.deepEqual(
      place.query('SELECT grams FROM production_entries ORDER BY delivered_at').map(({ grams }) => grams),
      [1000, 2000, 3000],
    );
  });
