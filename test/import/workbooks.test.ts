/** Excel workbooks: what their cells are read as (docs/import-reference.md#workbooks). */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type OpenOptions, openFile } from '../../src/import/files/open-file.ts';
import type { FileRecord } from '../../src/import/files/records.ts';
import { temporaryFolder } from '../support/app.ts';
import { importFile, nid, startedPlace } from '../support/importing.ts';
import { quickOrLong } from '../support/quick-or-long.ts';
import { type MadeWorkbook, rowsOf, workbookOf } from '../support/workbook.ts';

const scoreHeader = (cells: readonly string[]) =>
  cells.filter((cell) => ['code', 'name', 'kg'].includes(cell)).length;

async function read(context: TestContext, content: Buffer, options: Partial<OpenOptions> = {}) {
  const path = join(temporaryFolder(context), 'a.csv');
  writeFileSync(path, content);
  const source = await openFile(path, { scoreHeader, ...options });
  try {
    const records: FileRecord[] = [];
    for await (const batch of source.read()) records.push(...batch.records);
    return { format: source.format, records, rows: records.map(({ cells }) => cells) };
  } finally {
    await source.close();
  }
}

const readMade = (context: TestContext, made: MadeWorkbook, options?: Partial<OpenOptions>) =>
  read(context, workbookOf(made), options);

/** The texts of one row of cells, and which of them are numbers. */
async function cellsOf(context: TestContext, cells: string, made: Partial<MadeWorkbook> = {}) {
  const { records } = await readMade(context, {
    sheets: [{ name: 'S', rows: `<row r="1">${cells}</row>` }],
    ...made,
  });
  return { texts: records[0]?.cells, numbers: [...(records[0]?.numbers ?? [])] };
}

test('numbers become the shortest decimal text with a point, and are named as numbers', async (context) => {
  for (const [stored, text] of [
    ['1250.5', '1250.5'],
    ['12', '12'],
    ['0.28999999999999998', '0.29'],
    ['0.30000000000000004', '0.3'],
    ['-3.5000', '-3.5'],
    ['1.5E-7', '0.00000015'],
    ['1E-9', '0.000000001'],
    ['1.198589000001042E15', '1198589000001042'],
    ['1198589000001042', '1198589000001042'],
    ['9007199254740991', '9007199254740991'],
    ['1E20', '100000000000000000000'],
    ['2.5e22', '25000000000000000000000'],
    ['0', '0'],
  ] as const) {
    const { texts, numbers } = await cellsOf(
      context,
      `<c r="A1" t="n"><v>${stored}</v></c><c><v>${stored}</v></c>`,
    );
    assert.deepEqual(
      [texts, numbers],
      [
        [text, text],
        [0, 1],
      ],
      stored,
    );
  }
});

test('a number that is shown with zeros in front has them, as in the sheet saved as CSV', async (context) => {
  const shown = [
    ['0000', '42', '0042'],
    ['0000', '12345', '12345'],
    ['0000', '0', '0000'],
    ['#00', '7', '07'],
    ['0000000000', '781234567', '0781234567'],
    ['0000', '4.5', '4.5'],
    ['0000', '-4', '-4'],
    ['#,##0', '42', '42'],
    ['00.00', '4', '4'],
    ['00%', '0.05', '5%'],
  ] as const;
  const cells = shown.map(([, stored], style) => `<c s="${style}"><v>${stored}</v></c>`).join('');
  const { texts, numbers } = await cellsOf(context, cells, { formats: shown.map(([format]) => format) });
  assert.deepEqual(
    texts,
    shown.map(([, , text]) => text),
  );
  assert.equal(numbers.length, shown.length);
});

test('a code in a numeric cell is the one that is shown, also in the rejects', async (context) => {
  const place = await startedPlace(context);
  const rows = [
    ['cooperative_code', 'member_code', 'reference', 'delivered_at', 'kg'],
    ['A-1', 'M-1', 42, '2024-03-31', 7],
    ['A-1', 'M-9', 43, '2024-03-31', 7],
  ].map((cells, i) => {
    const made = cells.map((cell, at) =>
      typeof cell === 'string'
        ? `<c t="str"><v>${cell}</v></c>`
        : `<c s="${at === 2 ? 0 : 1}"><v>${cell}</v></c>`,
    );
    return `<row r="${i + 1}">${made.join('')}</row>`;
  });
  const workbook = workbookOf({
    sheets: [{ name: 'S', rows: rows.join('') }],
    formats: ['0000', '00'],
  });
  const rejects = join(place.folder, 'rejects.csv');
  await place.load('production', workbook, '--skip-invalid', '--rejects', rejects);
  const mended = readFileSync(rejects, 'utf8').replace('M-9', 'M-2');
  assert.match(mended, /,"=""0043"{3},/);
  const { status, err } = await place.load('production', mended);
  assert.equal(status, 0, err);
  assert.deepEqual(place.query('SELECT reference, grams FROM production_entries ORDER BY 1'), [
    { reference: '0042', grams: 7000 },
    { reference: '0043', grams: 7000 },
  ]);
});

test('texts, booleans, errors and values of formulas become their text and are not numbers', async (context) => {
  const { texts, numbers } = await cellsOf(
    context,
    '<c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c>' +
      '<c r="C1" t="b"><v>1</v></c><c r="D1" t="b"><v>0</v></c>' +
      '<c r="E1" t="e"><f>A9</f><v>#REF!</v></c><c r="F1" t="str"><f>A1&amp;"x"</f><v>Izinax</v></c>' +
      '<c r="G1"><f>SUM(A1:A2)</f><v>12.5</v></c>' +
      '<c r="H1" t="inlineStr"><is><r><t>Uwa</t></r><r><t>se &amp; co</t></r>' +
      '<rPh><t>kana</t></rPh></is></c><c r="I1" t="d"><v>2024-03-31T00:00:00</v></c>' +
      '<c r="J1" t="d"><v>2024-03-31T08:29:59.9996</v></c>' +
      '<c r="K1" t="str"><f>A2</f><v></v></c><c r="L1" t="s"><v>2</v></c>',
    {
      texts: [
        '<r><rPr><b/></rPr><t>Ama</t></r><r><t xml:space="preserve">zina </t></r>' +
          '<rPh sb="0" eb="1"><t>kana</t></rPh>',
        '<t>a&#10;b &lt;c&gt; &quot;q&quot;</t>',
        '<t>one_x000D_two_x005F_x000D_</t>',
      ],
    },
  );
  assert.deepEqual(texts, [
    ...['Amazina ', 'a\nb <c> "q"', 'TRUE', 'FALSE', '#REF!', 'Izinax', '12.5', 'Uwase & co'],
    ...['2024-03-31', '2024-03-31T08:30:00', '', 'one\rtwo_x000D_'],
  ]);
  assert.deepEqual(numbers, [6]);
});

test('dates are recognised by the format of the cell and rounded to the second', async (context) => {
  const formats = [
    ...[14, 22, 'dd/mm/yyyy hh:mm', '[$-40C]d mmmm yyyy;@', 'yyyy\\-mm\\-dd', '"le" dd/mm/yy', 45],
    ...[0, 1, 4, '0.00" days"', '#,##0\\ \\d', '[Red]0.00', '[h]:mm', '0.00E+00', '@', 'General'],
  ];
  const cells = (serial: string) => formats.map((_, i) => `<c s="${i}"><v>${serial}</v></c>`).join('');
  const day = await cellsOf(context, cells('45382'), { formats });
  assert.deepEqual(day.texts, [...Array(7).fill('2024-03-31'), ...Array(10).fill('45382')]);
  assert.deepEqual(day.numbers, [7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
  // Half past eight is not a fraction of a day that a computer can store.
  const time = await cellsOf(context, cells('45382.354166666664'), { formats });
  assert.deepEqual(time.texts?.slice(0, 7), Array(7).fill('2024-03-31T08:30:00'));
});

test('a day that does not exist, in a cell of type date, is not read as a later day', async (context) => {
  for (const text of ['2024-02-30T00:00:00', '2023-02-29T08:30:00Z', '2024-03-31T24:00:00']) {
    const { texts } = await cellsOf(context, `<c t="d"><v>${text}</v></c>`);
    assert.deepEqual(texts, [text]);
  }
});

test('days are counted from 1900 with its 29 February, or from 1904', async (context) => {
  const at = async (serial: number, is1904: boolean) =>
    (await cellsOf(context, `<c s="0"><v>${serial}</v></c>`, { formats: [14], is1904 })).texts?.[0];
  for (const [serial, is1904, text] of [
    [1, false, '1900-01-01'],
    [59, false, '1900-02-28'],
    [60, false, '1900-02-29'],
    [61, false, '1900-03-01'],
    [25_569, false, '1970-01-01'],
    [45_382.999_999_9, false, '2024-04-01'],
    [2_958_465, false, '9999-12-31'],
    [2_958_466, false, '2958466'],
    [-1, false, '-1'],
    [0.5, false, '12:00:00'],
    [43_920, true, '2024-03-31'],
    [1, true, '1904-01-02'],
  ] as const)
    assert.equal(await at(serial, is1904), text, String(serial));
});

test('a percentage is read as it is shown, so that 5% is not taken for 0.05', async (context) => {
  const { texts } = await cellsOf(context, '<c s="0"><v>0.05</v></c><c s="1"><v>0.185</v></c>', {
    formats: [9, '0.0%'],
  });
  assert.deepEqual(texts, ['5%', '18.5%']);
});

test('omitted cells are empty, rows have the width of the header, and lines are the numbers of rows', async (context) => {
  const rows =
    '<row r="2"><c r="A2" t="inlineStr"><is><t>Title</t></is></c></row>' +
    '<row r="4"><c r="A4" t="inlineStr"><is><t>code</t></is></c>' +
    '<c r="C4" t="inlineStr"><is><t>name</t></is></c></row>' +
    '<row r="5"><c r="A5" s="0"/><c r="B5" s="0"/></row>' +
    '<row r="6"><c r="B6"><v>7</v></c></row><row r="9"><c r="E9"><v>1</v></c><c r="F9" s="0"/></row>' +
    '<row><c t="inlineStr"><is><t>x</t></is></c><c><v>2</v></c></row><row r="20"><c r="A20" s="0"/></row>';
  const { records } = await readMade(context, { sheets: [{ name: 'S', rows }], formats: [0] });
  assert.deepEqual(
    records.map(({ line, cells }) => [line, cells]),
    [
      [2, ['Title', '', '']],
      [4, ['code', '', 'name']],
      [6, ['', '7', '']],
      [9, ['', '', '', '', '1']],
      [10, ['x', '2', '']],
    ],
  );
  const place = await startedPlace(context);
  const path = place.write('a.xlsx', workbookOf({ sheets: [{ name: 'S', rows }], formats: [0] }));
  const { notes } = await importFile(place, { kind: 'cooperatives', path });
  assert.ok(notes.includes('empty_row  5,7,8'), notes.join('; '));
  assert.deepEqual([...(records[3]?.numbers ?? [])], [4]);
});

const ROWS = quickOrLong(5_000, 30_000);

test('a sheet of many rows is read in batches, and can be read again', async (context) => {
  const rows = rowsOf(['code', 'kg'], ...Array.from({ length: ROWS }, (_, i) => [`A-${i}`, i + 0.5]));
  const path = join(temporaryFolder(context), 'a.xlsx');
  writeFileSync(path, workbookOf({ sheets: [{ name: 'S', rows }] }));
  const source = await openFile(path, { scoreHeader });
  context.after(() => source.close());
  for (let i = 0; i < 2; i++) {
    const records: FileRecord[] = [];
    let [batches, bytesRead] = [0, 0];
    for await (const batch of source.read()) {
      batches++;
      assert.ok(batch.bytesRead >= bytesRead && batch.bytesRead <= source.bytes);
      bytesRead = batch.bytesRead;
      records.push(...batch.records);
    }
    assert.equal(bytesRead, source.bytes);
    assert.ok(batches > 10, `${batches}`);
    assert.deepEqual(records.at(-1)?.cells, [`A-${ROWS - 1}`, `${ROWS - 1}.5`]);
    assert.equal(records.length, ROWS + 1);
  }
});

const HEADED = rowsOf(['List of 2026'], ['code', 'name'], ['A-1', 'Abahuje']);
const OTHER = rowsOf(['notes'], ['code']);

test('the sheet whose header has most headings is read, whatever its place', async (context) => {
  const sheets = [
    { name: 'Notes', rows: OTHER },
    { name: 'Empty', rows: '' },
    { name: 'Members', rows: HEADED },
  ];
  const { format, rows } = await readMade(context, { sheets });
  assert.deepEqual(format, { type: 'workbook', sheet: 'Members' });
  assert.deepEqual(rows.at(-1), ['A-1', 'Abahuje']);
});

test('several sheets that may be meant are refused, and one can be named', async (context) => {
  const sheets = [
    { name: '2025', rows: HEADED },
    { name: 'Huye &amp; Tumba', rows: HEADED.replace('Abahuje', 'Other') },
  ];
  await assert.rejects(readMade(context, { sheets }), {
    message: 'Several sheets may be meant: "2025", "Huye & Tumba". Name one with --sheet.',
  });
  await assert.rejects(readMade(context, { sheets }, { scoreHeader: () => 0 }), {
    message: /^Several sheets/,
  });
  for (const sheet of ['Huye & Tumba', ' huye & tumba']) {
    const { rows } = await readMade(context, { sheets }, { sheet });
    assert.deepEqual(rows.at(-1), ['A-1', 'Other']);
  }
  await assert.rejects(readMade(context, { sheets }, { sheet: '2024' }), {
    name: 'UnknownSheetError',
    message: 'The workbook has no such sheet. Its sheets: "2025", "Huye & Tumba".',
  });
});

test('--sheet names the sheet to be imported; an unknown one is wrong usage', async (context) => {
  const place = await startedPlace(context);
  const sheets = [
    { name: '2025', rows: HEADED },
    { name: '2026', rows: HEADED.replace('Abahuje', 'Renamed') },
  ];
  const unknown = await place.load('cooperatives', workbookOf({ sheets }), '--sheet', '2024');
  const message = 'The workbook has no such sheet. Its sheets: "2025", "2026".\n';
  assert.deepEqual([unknown.status, unknown.err], [2, message]);
  const { status, err } = await place.load('cooperatives', workbookOf({ sheets }), '--sheet', '2026');
  assert.equal(status, 0, err);
  assert.equal(place.value("SELECT name FROM cooperatives WHERE code = 'A-1'"), 'Renamed');
});

test('a workbook is imported whatever its name, with its rows as lines, and a second time changes nothing', async (context) => {
  const place = await startedPlace(context);
  const header = ['cooperative_code', 'identity_card', 'member_code', 'full_name', 'date_of_birth'];
  const sheet = (gender: string) =>
    workbookOf({
      sheets: [
        {
          name: 'Members',
          rows: rowsOf([...header, 'gender'], ['A-1', nid(40), 'M-40', 'Uwase Aline', '1985-03-01', gender]),
        },
      ],
    });
  const refused = await place.load('members', sheet('X'));
  assert.match(refused.err, /members\.csv line 2, column gender: /);
  assert.equal((await place.load('members', sheet('F'))).status, 0);
  assert.match((await place.load('members', sheet('F'))).out, /1 unchanged/);
  assert.equal(place.value("SELECT full_name FROM members WHERE member_code = 'M-40'"), 'Uwase Aline');
});
