/** Lines of a file that are not rows of its table (docs/import-reference.md#notes). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { importText, placeOfFiles, startedPlace } from '../support/importing.ts';
import { FILES, type MadeCell, type MadeGrid } from '../support/sheet.ts';

const HEADER = ['cooperative_code', 'member_code', 'delivered_at', 'kg'];
const row = (day: number, kg = day): MadeCell[] => ['A-1', 'M-1', { day: `2025-01-0${day}` }, kg];
const total = (kg: number): MadeCell[] => ['Total', '', '', kg];
const TEXTS = ['Fait à Huye, le 3 mai 2026', 'Prepared by: the accountant', 'Bikozwe na Mukamana'];

for (const [program, write] of Object.entries(FILES)) {
  const grid = (...rows: MadeCell[][]): MadeGrid => ({ rows: [HEADER, ...rows] });

  test(`${program}: the header again is passed over anywhere, with a note`, async (t) => {
    const place = await startedPlace(t);
    const file = write(grid(row(1), HEADER, HEADER, row(2), total(3), HEADER));
    const { report, notes } = await importText(place, 'production', file);
    assert.deepEqual([report.outcome, report.rows], ['imported', 2]);
    assert.ok(notes.includes('repeated_header  3,4,7'), notes.join('; '));
    const strict = await importText(place, 'production', file, { isStrict: true });
    assert.ok(strict.faults.some(({ line, message }) => line === 3 && /repeats the header/.test(message)));
  });

  test(`${program}: a row that repeats some headings only is a row`, async (t) => {
    const place = await startedPlace(t);
    const file = write(grid(row(1), ['cooperative_code', 'member_code', 'delivered_at', '7']));
    const { report, faults } = await importText(place, 'production', file);
    assert.equal(report.outcome, 'refused');
    assert.deepEqual([...new Set(faults.map(({ line }) => line))], [3]);
  });

  test(`${program}: texts below the totals or an empty line are passed over and shown`, async (t) => {
    const place = await startedPlace(t);
    for (const text of TEXTS)
      for (const between of [[total(3)], [[]], [total(3), []]] as MadeCell[][][]) {
        const rows = [row(1), row(2), ...between, [text], ['', 'Umukono']];
        const { report, faults, notes } = await importText(place, 'production', write(grid(...rows)));
        assert.deepEqual([report.rows, faults], [2, []]);
        const line = rows.length;
        assert.ok(notes.includes(`text_below  ${line},${line + 1}`), notes.join('; '));
        assert.deepEqual(report.notes.find(({ kind }) => kind === 'text_below')?.texts, [text, 'Umukono']);
      }
  });

  test(`${program}: a text between rows, beside other values or at once below a row is a fault`, async (t) => {
    const place = await startedPlace(t);
    for (const rows of [
      [row(1), [], ['Zone ya Huye'], row(2)],
      [row(1), total(1), ['Zone ya Huye'], [], ['Zone B'], row(2)],
      [row(1), [], ['Fait à Huye', 'M-1']],
      [row(1), ['Fait à Huye']],
      // A row that has lost all but its code.
      [row(1), [], ['', 'M-2']],
      [row(1), [], [7]],
      [row(1), [], ['', '', '', 'Fait à Huye']],
    ]) {
      const { report, faults } = await importText(place, 'production', write(grid(...rows)));
      assert.equal(report.outcome, 'refused', JSON.stringify(rows));
      assert.ok(faults.length > 0);
    }
  });
}

test('rows stay in order where texts between them are faults, in one batch or in several', async (t) => {
  const place = await startedPlace(t);
  const rows = Array.from(
    { length: 60 },
    (_, i) => [[], [`Zone ${'ABC'[i % 3]} ya Huye`]] as MadeCell[][],
  ).flat();
  const { report, faults } = await importText(
    place,
    'production',
    FILES.CSV({ rows: [HEADER, row(1), ...rows, row(2)] }),
  );
  assert.deepEqual([report.rows, report.refusedRows], [62, 60]);
  assert.deepEqual(
    [...new Set(faults.map(({ line }) => line))],
    Array.from({ length: 60 }, (_, i) => 4 + 2 * i),
  );
});

test('a printed file with pages, subtotals and a place and day has four rows', async (t) => {
  const place = await placeOfFiles(t);
  const file = readFileSync(new URL('files/pages-and-subtotals.xlsx', import.meta.url));
  const { report, notes, faults } = await importText(place, 'production', file);
  assert.deepEqual([faults, report.rows], [[], 4]);
  assert.deepEqual(
    place.query('SELECT grams FROM production_entries ORDER BY grams').map(({ grams }) => grams),
    [1000, 2000, 3000, 4000],
  );
  for (const note of ['repeated_header  5', 'totals_row  4,8', 'text_below  10'])
    assert.ok(notes.includes(note), notes.join('; '));
});

test('the note shows the text in three languages without national IDs, and the record has none', async (t) => {
  const place = await startedPlace(t);
  const file = FILES.CSV({ rows: [HEADER, row(1), [], ['Bikozwe na 1198580012345678 Mukamana']] });
  for (const [language, words] of [
    ['en', 'text below the table, passed over: "Bikozwe na'],
    ['fr', 'texte sous le tableau, laissé de côté : "Bikozwe na'],
    ['rw', 'amagambo ari munsi y’imbonerahamwe, yasimbutswe: "Bikozwe na'],
  ] as const) {
    const { err } = await place.load('production', file, '--lang', language);
    const text = err.replace(/\n\s+/g, ' ');
    assert.ok(text.includes(words), text);
    assert.doesNotMatch(text, /1198580012345678/);
  }
  assert.doesNotMatch(JSON.stringify(place.query('SELECT * FROM operations')), /Mukamana/);
});
