/** OpenDocument spreadsheets (docs/import-reference.md#workbooks). */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import zlib from 'node:zlib';
import { openFile } from '../../src/import/files/open-file.ts';
import type { FileRecord } from '../../src/import/files/records.ts';
import { temporaryFolder } from '../support/app.ts';
import { importText, placeOfFiles } from '../support/importing.ts';
import { documentFile, documentParts } from '../support/sheet.ts';
import { zipOf } from '../support/workbook.ts';

async function read(context: TestContext, tables: string, sheet?: string) {
  const path = join(temporaryFolder(context), 'a.ods');
  writeFileSync(path, zipOf(documentParts(tables)));
  const scoreHeader = (cells: readonly string[]) => (cells.includes('code') ? 1 : 0);
  const source = await openFile(path, { scoreHeader, sheet });
  try {
    const records: FileRecord[] = [];
    let mostRecords = 0;
    for await (const batch of source.read()) {
      mostRecords = Math.max(mostRecords, batch.records.length);
      records.push(...batch.records);
    }
    return { records, rows: records.map(({ cells }) => cells), sheets: source.sheets, mostRecords };
  } finally {
    await source.close();
  }
}

const table = (rows: string, name = 'S') => `<table:table table:name="${name}">${rows}</table:table>`;
const tableRow = (cells: string, times = 1) =>
  `<table:table-row table:number-rows-repeated="${times}">${cells}</table:table-row>`;
const cell = (attributes: string, text = '') => `<table:table-cell ${attributes}>${text}</table:table-cell>`;
const text = (words: string) => cell('office:value-type="string"', `<text:p>${words}</text:p>`);
const cellsOf = async (context: TestContext, cells: string) =>
  (await read(context, table(tableRow(cells)))).records[0];

test('cells of each type are the text that a CSV file has', async (t) => {
  const value = (type: string, attribute: string, shown: string) =>
    cell(`office:value-type="${type}" office:${attribute}`, `<text:p>${shown}</text:p>`);
  const record = await cellsOf(
    t,
    value('float', 'value="0.28999999999999998"', '0,29') +
      value('float', 'value="1E20"', '1E+20') +
      value('percentage', 'value="0.185"', '18,50 %') +
      value('currency', 'value="1250.5"', '1 250,50 Frw') +
      value('float', 'value="42"', '0042') +
      value('date', 'date-value="2024-02-30T00:00:00"', '30/02/2024') +
      value('date', 'date-value="2024-03-31"', '31/03/2024') +
      value('date', 'date-value="2024-03-31T08:29:59.9996"', '31/03/24') +
      value('time', 'time-value="PT08H30M00S"', '08:30') +
      value('boolean', 'boolean-value="true"', 'VRAI') +
      value('string', 'string-value="Uwase"', 'x') +
      cell(
        'office:value-type="string"',
        '<text:p>a<text:s text:c="2"/>b</text:p><text:p><text:span>c</text:span></text:p>',
      ) +
      cell('table:formula="of:=&quot;&quot;" office:value-type="string" office:string-value=""'),
  );
  assert.deepEqual(record?.cells, [
    ...['0.29', '100000000000000000000', '18.5%', '1250.5', '0042'],
    ...['2024-02-30T00:00:00', '2024-03-31', '2024-03-31T08:30:00'],
    ...['08:30:00', 'TRUE', 'Uwase', 'a  b\nc'],
  ]);
  assert.deepEqual([...(record?.numbers ?? [])], [0, 1, 2, 3, 4]);
});

test('notes and drawings in a cell are not its text, nor is a covered cell', async (t) => {
  const note = '<office:annotation><text:p>a note</text:p></office:annotation>';
  const drawing = '<draw:frame><draw:text-box><text:p>x</text:p></draw:text-box></draw:frame>';
  const inner = '<table:table-cell><text:p>x</text:p></table:table-cell>';
  const record = await cellsOf(
    t,
    cell('office:value-type="string"', `${note}${drawing}<draw:x>${inner}</draw:x><text:p>code</text:p>`) +
      '<table:covered-table-cell><text:p>hidden</text:p></table:covered-table-cell>' +
      text('name'),
  );
  assert.deepEqual(record?.cells, ['code', '', 'name']);
});

test('repeated cells and rows are read as often, in batches, and not beyond the limits', async (t) => {
  const repeated = cell('office:value-type="float" office:value="7" table:number-columns-repeated="3"');
  const header = tableRow(text('code'));
  const { records, mostRecords } = await read(
    t,
    table(`${header}${tableRow('<table:table-cell/>', 4)}${tableRow(repeated, 20_000)}`),
  );
  assert.equal(records.length, 20_001);
  assert.deepEqual([records[1]?.line, records[1]?.cells, records.at(-1)?.line], [6, ['7', '7', '7'], 20_005]);
  assert.ok(mostRecords <= 1_000, `${mostRecords}`);
  await assert.rejects(read(t, table(`${header}${tableRow(text('x'), 1_048_576)}`)), /damaged/);
  const wide = cell('office:value-type="float" office:value="7" table:number-columns-repeated="16384"');
  await assert.rejects(read(t, table(`${header}${tableRow(wide)}`)), /Row 2 has a value beyond column 1000/);
  const full = cell(
    'office:value-type="string" table:number-columns-repeated="900"',
    `<text:p>${'x'.repeat(60_000)}</text:p>`,
  );
  await assert.rejects(
    read(t, table(`${header}${tableRow(full, 20)}`)),
    /more than 1,000,000,000 characters/,
  );
});

test('one sheet of several is read, whatever its place and name', async (t) => {
  const other = table(tableRow(text('notes')), 'Notes');
  const external = table(tableRow(text('code')), "'file:///a.ods'#$Sheet1");
  const members = table(`${tableRow(text('code'))}${tableRow(text('A-1'))}`, 'Huye &amp; Tumba');
  const { rows, sheets } = await read(t, `${other}<table:table table:name="Empty"/>${members}${external}`);
  assert.deepEqual(
    [rows, sheets],
    [
      [['code'], ['A-1']],
      ['Notes', 'Huye & Tumba'],
    ],
  );
  assert.deepEqual((await read(t, `${other}${members}`, 'notes')).rows, [['notes']]);
  await assert.rejects(read(t, `${members}${table(tableRow(text('code')), '2')}`), /^.*Several sheets/);
});

for (const filler of [60_000, 65_000, 65_100, 65_200, 65_300])
  test(`sheets are found wherever the chunks of the part end: after ${filler} bytes`, async (t) => {
    const many = Array.from({ length: 40 }, (_, i) => table(tableRow(text(`code ${i}`)), `S ${i}`)).join('');
    const filled = table(tableRow(text('x'.repeat(filler))), 'Filler');
    const { sheets, rows } = await read(t, `${filled}${many}`, 'S 39');
    assert.deepEqual([sheets?.length, rows], [41, [['code 39']]]);
  });

test('the sheets are found, compared and read in as many passes, however many they are', async (t) => {
  const inflate = t.mock.method(zlib, 'createInflateRaw');
  const passesFor = async (count: number): Promise<number> => {
    const others = Array.from({ length: count }, (_, i) => table(tableRow(text('x')), `S ${i}`)).join('');
    const before = inflate.mock.callCount();
    const { rows } = await read(t, `${others}${table(tableRow(text('code')), 'Members')}`);
    assert.deepEqual(rows, [['code']]);
    return inflate.mock.callCount() - before;
  };
  assert.equal(await passesFor(100), await passesFor(1));
});

test('a fault in a sheet that is not read hides none of the others', async (t) => {
  const faulty = table(tableRow('<table:table-cell table:number-columns-repeated="0"/>'), 'Faulty');
  const { rows } = await read(t, `${faulty}${table(tableRow(text('code'), 30), 'Members')}${faulty}`);
  assert.equal(rows.length, 30);
});

test('a document of more than 10,000 sheets is refused', async (t) => {
  const many = table('').repeat(9_999);
  assert.deepEqual((await read(t, `${many}${table(tableRow(text('code')))}`)).rows, [['code']]);
  await assert.rejects(read(t, `${many}${table(tableRow(text('code')))}${table('')}`), /damaged/);
});

test('XML that is cut off or wrong is damaged, after the rows before it', async (t) => {
  for (const rows of ['<table:table-row>', tableRow('<table:table-cell table:number-columns-repeated="0"/>')])
    await assert.rejects(read(t, table(`${tableRow(text('code'))}${rows}`)), /damaged/);
});

test('a file of LibreOffice is imported from a folder, in all its kinds of cells', async (t) => {
  const place = await placeOfFiles(t);
  const file = readFileSync(new URL('files/shown-numbers.ods', import.meta.url));
  const { faults } = await importText(place, 'production', file);
  assert.deepEqual(
    faults.map(({ line, column }) => `${line} ${column}`),
    ['2 kg', '7 kg', '8 kg'],
  );
  const rows = [
    ['cooperative_code', 'member_code', 'delivered_at', 'kg'],
    ['ABC', 'M1', { day: '2026-03-02' }, 1.5],
  ];
  place.write('production-huye.ods', documentFile({ rows }));
  const { status, out, err } = await place.run(place.folder);
  assert.equal(status, 1, err);
  assert.match(`${out}${err}`, /production-huye\.ods: 1 new/);
});

test('of several sheets the one with the headings is chosen, also below a title', async (t) => {
  const other = table(tableRow(text('code')) + tableRow(text('x')), 'Other');
  const meant = table(
    tableRow(text('List of members')) + tableRow(text('code') + text('name')) + tableRow(text('A-1')),
    'Members',
  );
  const path = join(temporaryFolder(t), 'a.ods');
  writeFileSync(path, zipOf(documentParts(other + meant)));
  const scoreHeader = (cells: readonly string[]) =>
    cells.filter((heading) => ['code', 'name'].includes(heading)).length;
  const source = await openFile(path, { scoreHeader, sheet: undefined });
  await source.close();
  assert.deepEqual(source.format, { type: 'workbook', sheet: 'Members' });
});
