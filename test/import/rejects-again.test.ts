/** Rejects hold rows as delivered, to be imported again (docs/import-reference.md#rejects). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { openFile } from '../../src/import/files/open-file.ts';
import {
  type ImportPlace,
  MEMBERS_HEADER,
  member,
  members,
  nid,
  startedPlace,
} from '../support/importing.ts';
import { quickOrLong } from '../support/quick-or-long.ts';
import { rowsOf, workbookOf } from '../support/workbook.ts';

interface Layout {
  readonly separator: string;
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
  readonly hasMark: boolean;
  readonly lineEnd: string;
}

const layout: fc.Arbitrary<Layout> = fc
  .record({
    separator: fc.constantFrom(',', ';', '\t', '|'),
    encoding: fc.constantFrom(
      'utf-8' as const,
      'utf-16le' as const,
      'utf-16be' as const,
      'windows-1252' as const,
    ),
    hasMark: fc.boolean(),
    lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
  })
  .map((made) => ({
    ...made,
    hasMark: made.encoding.startsWith('utf-16') || (made.encoding === 'utf-8' && made.hasMark),
  }));

const text = fc.string({
  unit: fc.constantFrom(
    'a',
    'é',
    'ü',
    '"',
    "'",
    ',',
    ';',
    '\t',
    '|',
    '\n',
    '\r\n',
    '\r',
    ' ',
    '=',
    '+',
    '@',
    '0',
  ),
  maxLength: 8,
});

/** A row of the columns below, and how it is cut short or made longer. */
const row = fc.record({
  name: text,
  gender: fc.oneof(fc.constantFrom('F', 'X', 'M', 'Y'), text),
  note: text,
  tail: fc.constantFrom('complete', 'complete', 'short', 'cut', 'long', 'blank'),
});

const RUNS = quickOrLong(6, 100);
const HEADINGS = [...MEMBERS_HEADER.split(','), 'gender', 'Inyandiko "zose"', ''];

function cellsOf(
  { name, gender, note, tail }: typeof row extends fc.Arbitrary<infer T> ? T : never,
  i: number,
) {
  const cells = ['A-1', nid(100 + i), `N-${i}`, name, gender, note];
  if (tail === 'complete') return [...cells, ''];
  if (tail === 'cut') return cells.slice(0, 4);
  if (tail === 'long') return [...cells, '', 'more'];
  return tail === 'blank' ? [...cells, '', ' ', ''] : cells;
}

function bytesOf(
  rows: readonly (readonly string[])[],
  { separator, encoding, hasMark, lineEnd }: Layout,
): Buffer {
  const quoted = (cell: string) =>
    /["\r\n]/.test(cell) || cell.includes(separator) ? `"${cell.replaceAll('"', '""')}"` : cell;
  const content = rows.map((cells) => cells.map(quoted).join(separator) + lineEnd).join('');
  const marked = `${hasMark ? '\ufeff' : ''}${content}`;
  if (encoding === 'windows-1252') return Buffer.from(marked, 'latin1');
  if (encoding === 'utf-8') return Buffer.from(marked);
  const bytes = Buffer.from(marked, 'utf16le');
  return encoding === 'utf-16le' ? bytes : bytes.swap16();
}

interface Fault {
  readonly line: number;
  readonly column: string;
  readonly message: string;
}

/** Faults by row, without their lines; how many cells are expected includes the column of the reasons. */
async function faultsOf(place: ImportPlace, file: string, rejects: string): Promise<string[]> {
  const { out } = await place.run(
    'members',
    file,
    '--json',
    '--rejects',
    rejects,
    '--skip-invalid',
    '--dry-run',
  );
  const { errors } = JSON.parse(out).files[0] as { errors: Fault[] };
  const rows = new Map<number, string>();
  for (const { line, column, message } of errors)
    rows.set(line, `${rows.get(line) ?? ''}${column}: ${message.replace(/\d+/g, 'n')}; `);
  return [...rows.values()];
}

async function rowsIn(file: string) {
  const source = await openFile(file, { scoreHeader: (cells) => (cells[0] === 'cooperative_code' ? 1 : 0) });
  try {
    const rows: (readonly string[])[] = [];
    for await (const { records } of source.read()) rows.push(...records.map(({ cells }) => cells));
    return { rows, format: source.format };
  } finally {
    await source.close();
  }
}

/** Whether the row has as many cells as the header, apart from blank ones. */
const isComplete = (cells: readonly string[]) =>
  cells.length >= 6 && cells.slice(7).every((cell) => cell.trim() === '');

test('rejects that are imported again uncorrected have the same cells and the same faults', async (context) => {
  const place = await startedPlace(context);
  const [first, second, third] = ['1', '2', '3'].map((n) => join(place.folder, `rejects-${n}.csv`)) as [
    string,
    string,
    string,
  ];
  let looked = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 6 }), layout, fc.boolean(), async (made, how, hasTitle) => {
      const rows = [{ name: 'é', gender: 'X', note: '', tail: 'complete' as const }, ...made].map(cellsOf);
      const titles = hasTitle ? [['Urutonde rw’abanyamuryango'.replace('’', "'")], []] : [];
      const file = place.write('members.csv', bytesOf([...titles, HEADINGS, ...rows], how));
      const faults = await faultsOf(place, file, first);
      assert.deepEqual(await faultsOf(place, first, second), faults);
      assert.deepEqual(await faultsOf(place, second, third), faults);
      assert.deepEqual(
        readFileSync(third)
          .toString('latin1')
          .replace(/\d+ cells/g, ''),
        readFileSync(second)
          .toString('latin1')
          .replace(/\d+ cells/g, ''),
      );

      const rejected = await rowsIn(first);
      const { type: _, ...format } = rejected.format as Layout & { type: string };
      const { lineEnd: __, ...expected } = how;
      assert.deepEqual(format, expected);
      assert.deepEqual(rejected.rows[0], [...HEADINGS, 'registry_faults']);
      assert.equal(rejected.rows.length - 1, faults.length);
      for (const cells of rejected.rows.slice(1)) {
        const delivered = rows[Number(String(cells[2]).slice(2))] as string[];
        assert.deepEqual(
          cells.slice(0, -1),
          isComplete(delivered) ? [...delivered.slice(0, 6), ''] : delivered,
        );
      }
      looked += faults.length;
    }),
    { numRuns: RUNS },
  );
  assert.ok(looked > RUNS, `${looked} rows were refused`);
});

test('corrected rejects are imported, whatever is left in the column of the reasons', async (context) => {
  const place = await startedPlace(context);
  const rejects = join(place.folder, 'refused.csv');
  const rows = `${member(10)};X\n${member(11)};F\n${member(12)};?\n`;
  const file = `List of Abahuje;;;;\n\n${MEMBERS_HEADER};gender\n${rows}`;
  const { err } = await place.load(
    'members',
    file.replaceAll(',', ';'),
    '--skip-invalid',
    '--rejects',
    rejects,
  );
  assert.match(err, /members\.csv line 4, column gender/);
  assert.equal(place.value('SELECT count(*) FROM members'), 4);
  const text = readFileSync(rejects, 'utf8');
  assert.match(text, /^cooperative_code;identity_card;member_code;full_name;gender;registry_faults\nA-1;/);
  const corrected = text.replace(';X;', ';M;').replace(';?;', ';M;');
  assert.notEqual(corrected, text);
  const again = await place.run('members', place.write('refused.csv', corrected), '--strict');
  assert.deepEqual([again.status, again.err], [0, '']);
  assert.equal(place.value('SELECT count(*) FROM members'), 6);
});

test('the reasons of a row are in one cell, with the names of the columns', async (context) => {
  const place = await startedPlace(context);
  const rejects = join(place.folder, 'refused.csv');
  await place.load('members', `${members(`A-1,12,,P`).trimEnd()}\n`, '--rejects', rejects);
  const [, row = []] = (await rowsIn(rejects)).rows;
  assert.equal(
    row.at(-1),
    'identity_card: Expected a national ID of exactly 16 digits.; member_code: This field may not be blank.',
  );
});

test('rejects of a workbook are CSV that Excel leaves as it is, and lost digits stay lost', async (context) => {
  const place = await startedPlace(context);
  const rejects = join(place.folder, 'refused.csv');
  const rows = rowsOf(
    ['List of 2026'],
    [...MEMBERS_HEADER.split(','), 'gender', 'mobile'],
    ['A-1', nid(50), '007', 'Uwase, Espérance', 'X', '0788123456'],
    ['A-1', Number(nid(51)), 'M-51', 'Keza', 'X', ''],
  );
  await place.load('members', workbookOf({ sheets: [{ name: 'S', rows }] }), '--rejects', rejects);
  const { rows: read } = await rowsIn(rejects);
  assert.deepEqual(
    read.map((cells) => cells.slice(0, -1)),
    [
      [...MEMBERS_HEADER.split(','), 'gender', 'mobile'],
      ['A-1', `="${nid(50)}"`, '="007"', 'Uwase, Espérance', 'X', '="0788123456"'],
      ['A-1', '1.198589000051042E+15', 'M-51', 'Keza', 'X', ''],
    ],
  );
  assert.match(readFileSync(rejects, 'utf8'), /^\ufeffcooperative_code,.*,registry_faults\n/);
  const again = await place.run('members', rejects);
  assert.equal(again.status, 1);
  assert.doesNotMatch(again.err, /line 2, column (?!gender)/);
  assert.match(
    again.err,
    /line 3, column identity_card: A spreadsheet turned this national ID into a number/,
  );
});
