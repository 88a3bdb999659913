/** Lines of a file that are not rows of its table (docs/import-reference.md#notes). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { FileLayout } from '../../src/import/reading/file-layout.ts';
import type { ImportKind } from '../../src/registry/file-columns.ts';
import { importText, nid, placeOfFiles, startedPlace } from '../support/importing.ts';
import { FILES, type MadeCell, type MadeGrid } from '../support/sheet.ts';

const HEADER = ['cooperative_code', 'member_code', 'delivered_at', 'kg'];
const row = (day: number, kg = day): MadeCell[] => ['A-1', 'M-1', { day: `2025-01-0${day}` }, kg];
const total = (kg: number): MadeCell[] => ['Total', '', '', kg];
const TEXTS = [
  'Fait à Huye, le 3 mai 2026',
  'Prepared by: the accountant',
  'Bikozwe na Mukamana',
  // Known by its marks, not by its first word.
  'Zone ya Huye: 12 kg',
];

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

const NUMBERS = ['identity_card', 'member_code'];
const WITHOUT_CODE = ['delivered_at', 'kg'];
for (const [kind, header, first, lone] of [
  ['members', ['full_name', ...NUMBERS], ['Uwase Aline', nid(9), 'M-9'], ['Mukamana Jeanne']],
  [
    'members',
    ['N°', 'first_name', 'last_name', ...NUMBERS],
    [1, 'Aline', 'Uwase', nid(9), 'M-9'],
    ['', 'Jeanne'],
  ],
  [
    'production',
    ['full_name', 'member_code', ...WITHOUT_CODE],
    ['', ...row(1).slice(1)],
    ['Mukamana Jeanne'],
  ],
  ['production', ['member_code', ...WITHOUT_CODE], row(1).slice(1), ['M 001']],
  ['production', ['member_code', ...WITHOUT_CODE], row(1).slice(1), ['KLMB']],
] as [ImportKind, MadeCell[], MadeCell[], MadeCell[]][]) {
  const map: FileLayout = {
    kind,
    columns: new Map(),
    constants: new Map([['cooperative_code', 'A-1']]),
    values: new Map(),
  };
  const name = `${kind} with ${header[0]}`;

  test(`${name}: a lone "${lone.join('')}" below an empty line is a row with a fault`, async (t) => {
    const place = await startedPlace(t);
    const file = FILES.CSV({ rows: [header, first, [], lone] });
    const { report, faults, notes } = await importText(place, kind, file, { map });
    assert.deepEqual([report.outcome, notes.join().includes('text_below')], ['refused', false]);
    assert.ok(faults.every(({ line }) => line === 4));
  });

  test(`${name}: other texts below an empty line are passed over`, async (t) => {
    const place = await startedPlace(t);
    const texts = [...TEXTS, 'Umukono', 'Le Président', 'Visé par le comptable', 'Perezida wa koperative'];
    const file = FILES.CSV({ rows: [header, first, [], ...texts.map((text) => [text])] });
    const { faults, notes } = await importText(place, kind, file, { map });
    assert.deepEqual(faults, []);
    assert.ok(notes.includes('text_below  4,5,6,7,8,9,10,11'), notes.join('; '));
  });
}

test('a lone code of the form of the row above is a row, even if it begins like a footer', async (t) => {
  const place = await startedPlace(t);
  const map: FileLayout = {
    kind: 'production',
    columns: new Map(),
    constants: new Map([['cooperative_code', 'A-1']]),
    values: new Map(),
  };
  for (const [code, text, isRow] of [
    ['LE 001', 'LE 002', true],
    ['KA 9', 'LE 10', true],
    ['Note 1: A', 'Note 2: B', true],
    ['LE 001', 'Le 3', false],
    ['LE 001', 'LE 3 MAI 2026', false],
    ['KAWA 1', 'Page 2', false],
    ['Keza', 'Page', false],
  ] as const) {
    const rows: MadeCell[][] = [['member_code', ...WITHOUT_CODE], [code, '2025-01-01', 1], [], [text]];
    const { faults, notes } = await importText(place, 'production', FILES.CSV({ rows }), { map });
    const found = [faults.some(({ line }) => line === 4), notes.includes('text_below  4')];
    assert.deepEqual(found, [isRow, !isRow], text);
  }
});

test('more than fifty lines below an empty line are rows with faults', async (t) => {
  const place = await startedPlace(t);
  const outcomeOf = async (count: number) => {
    const texts = Array.from({ length: count }, (): MadeCell[] => ['Zone ya Huye']);
    const file = FILES.CSV({ rows: [HEADER, row(1), [], ...texts] });
    const { report } = await importText(place, 'production', file);
    return [report.outcome, report.rows, report.refusedRows];
  };
  assert.deepEqual(await outcomeOf(50), ['imported', 1, 0]);
  assert.deepEqual(await outcomeOf(51), ['refused', 52, 51]);
});

test('an empty line below the header begins no text below the table', async (t) => {
  const place = await startedPlace(t);
  const file = FILES.CSV({ rows: [HEADER, [], ['Zone ya Huye']] });
  const { report } = await importText(place, 'production', file);
  assert.equal(report.outcome, 'refused');
});

test('texts below the table are shown in a dry run only', async (t) => {
  const place = await startedPlace(t);
  const file = FILES.CSV({ rows: [HEADER, row(1), [], ['Bikozwe na Mukamana']] });
  for (const [options, isShown] of [
    [['--dry-run'], true],
    [['--dry-run', '--json'], true],
    [['--json'], false],
    [[], false],
  ] as const) {
    const { status, out, err } = await place.load('production', file, ...options);
    assert.equal(status, 0, err);
    assert.match(out + err, /text below the table, passed over|text_below/);
    assert.equal((out + err).includes('Mukamana'), isShown, options.join(' '));
  }
});

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
    const { err } = await place.load('production', file, '--dry-run', '--lang', language);
    const text = err.replace(/\n\s+/g, ' ');
    assert.ok(text.includes(words), text);
    assert.doesNotMatch(text, /1198580012345678/);
  }
  await place.load('production', file);
  assert.doesNotMatch(JSON.stringify(place.query('SELECT * FROM operations')), /Mukamana/);
});
