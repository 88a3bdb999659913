/** Workbooks that are damaged, hostile or something else are refused (docs/import-reference.md#workbooks). */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openFile } from '../../src/import/files/open-file.ts';
import type { FileRecord } from '../../src/import/files/records.ts';
import { temporaryFolder } from '../support/app.ts';
import { startedPlace } from '../support/importing.ts';
import { quickOrLong } from '../support/quick-or-long.ts';
import { documentParts } from '../support/sheet.ts';
import { rowsOf, workbookOf, workbookParts, type ZipPart, zipOf } from '../support/workbook.ts';

const MEBIBYTE = 1024 * 1024;
const ROWS = rowsOf(['code', 'name'], ['A-1', 'Abahuje']);
const parts = workbookParts({ sheets: [{ name: 'S', rows: ROWS }] });
const withPart = (part: ZipPart): Buffer => zipOf([...parts.filter(({ name }) => name !== part.name), part]);
const withRows = (rows: string) => workbookOf({ sheets: [{ name: 'S', rows }] });

/** Reads a file to its end. @returns how many records it had, and the most cells that were read at once */
async function read(context: TestContext, content: Buffer) {
  const path = join(temporaryFolder(context), 'a.xlsx');
  writeFileSync(path, content);
  let [records, mostCells] = [0, 0];
  const source = await openFile(path, { scoreHeader: (cells) => (cells[0] === 'code' ? 1 : 0) });
  try {
    for await (const batch of source.read()) {
      records += batch.records.length;
      const cells = batch.records.reduce((sum, record) => sum + record.cells.length, 0);
      mostCells = Math.max(mostCells, cells);
    }
    return { records, mostCells };
  } finally {
    await source.close();
  }
}

async function readAll(context: TestContext, content: Buffer): Promise<FileRecord[]> {
  const path = join(temporaryFolder(context), 'a.xlsx');
  writeFileSync(path, content);
  const source = await openFile(path, { scoreHeader: (cells) => (cells[0] === 'code' ? 1 : 0) });
  try {
    const records: FileRecord[] = [];
    for await (const batch of source.read()) records.push(...batch.records);
    return records;
  } finally {
    await source.close();
  }
}

const TOO_LARGE = {
  message: 'The workbook unpacks to more than 256 MB. Save the sheet as "CSV UTF-8" and import that file.',
};
const DAMAGED = {
  message: 'The workbook is damaged. Open it in a spreadsheet, save it as .xlsx and import it again.',
};

test('what declares to unpack to more than 256 MB is refused before anything is unpacked', async (context) => {
  const half = { content: Buffer.alloc(1), declaredBytes: 129 * MEBIBYTE };
  const bomb = zipOf([...parts, { name: 'xl/media/a.png', ...half }, { name: 'xl/media/b.png', ...half }]);
  await assert.rejects(read(context, bomb), TOO_LARGE);
});

const BOMB = quickOrLong(120, 300) * MEBIBYTE;
const LARGE = ['xl/worksheets/sheet1.xml', 'xl/sharedStrings.xml', 'xl/workbook.xml', '_rels/.rels'];

for (const name of LARGE.slice(0, quickOrLong(1, 4))) {
  test(`a part that unpacks to more than it declares is not unpacked further: ${name}`, async (context) => {
    const content = Buffer.alloc(BOMB, ' ');
    content.write('<?xml version="1.0"?><x>');
    const made = workbookParts({ sheets: [{ name: 'S', rows: ROWS }], texts: ['<t>a</t>'] });
    const bomb = zipOf([
      ...made.filter((part) => part.name !== name),
      { name, content, declaredBytes: 1_000 },
    ]);
    assert.ok(bomb.length < MEBIBYTE, 'a bomb is small');
    content.fill(0);
    const before = process.memoryUsage.rss();
    await assert.rejects(read(context, bomb), DAMAGED);
    assert.ok(process.memoryUsage.rss() - before < (BOMB * 5) / 6);
  });
}

test('a workbook of very many parts is refused', async (context) => {
  const many = Array.from({ length: 10_001 }, (_, i) => ({ name: `p/${i}`, content: '' }));
  await assert.rejects(read(context, zipOf([...parts, ...many])), TOO_LARGE);
});

const WIDE = quickOrLong(6_000, 60_000);

test('rows of a few bytes that are very wide do not take memory', async (context) => {
  const wide = Array.from(
    { length: WIDE },
    (_, i) => `<row r="${i + 2}"><c r="ALL${i + 2}"><v>1</v></c></row>`,
  );
  const { records, mostCells } = await read(context, withRows(`${rowsOf(['code', 'name'])}${wide.join('')}`));
  assert.equal(records, WIDE + 1);
  // All of them at once would be 6 million, or 60.
  assert.ok(mostCells < 5_000_000, `${mostCells}`);
  const beyond = `${ROWS}<row r="3"><c r="XFD3"><v>1</v></c></row>`;
  await assert.rejects(read(context, withRows(beyond)), {
    message: 'Row 3 has a value beyond column 1000. Delete it, save the workbook and import it again.',
  });
});

for (const [what, rows] of [
  ['rows out of order', `${ROWS}<row r="2"><c r="A2"><v>1</v></c></row>`],
  ['a row beyond the last', `${ROWS}<row r="1048577"><c><v>1</v></c></row>`],
  ['a column beyond the last', `${ROWS}<row r="3"><c r="XFE3"><v>1</v></c></row>`],
  ['a shared text that there is not', `${ROWS}<row r="3"><c r="A3" t="s"><v>7</v></c></row>`],
  ['XML that is not closed', `${ROWS}<row r="3">`],
  ['an unknown entity', `${ROWS}<row r="3"><c r="A3" t="str"><v>&bomb;</v></c></row>`],
  ['bytes that are not UTF-8', `${ROWS}<row r="3"><c r="A3" t="str"><v>\u00e9</v></c></row>`],
] as const) {
  test(`a sheet with ${what} is damaged`, async (context) => {
    if (!what.startsWith('bytes')) return void (await assert.rejects(read(context, withRows(rows)), DAMAGED));
    const sheet = parts.find(({ name }) => name.includes('sheet1')) as ZipPart;
    const content = Buffer.from(String(sheet.content).replace(ROWS, rows), 'latin1');
    await assert.rejects(read(context, withPart({ name: sheet.name, content })), DAMAGED);
  });
}

test('entities that a part declares are not expanded, but damage', async (context) => {
  const content = `<!DOCTYPE x [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;</x>`;
  for (const name of ['xl/workbook.xml', 'xl/worksheets/sheet1.xml'])
    await assert.rejects(read(context, withPart({ name, content })), DAMAGED);
});

test('a sheet of very many merged ranges is refused', async (context) => {
  const merges = '<mergeCell ref="A2:A3"/>'.repeat(100_001);
  const sheet = { name: 'S', rows: ROWS, after: `<mergeCells>${merges}</mergeCells>` };
  await assert.rejects(read(context, workbookOf({ sheets: [sheet] })), {
    message:
      'The sheet has more than 100,000 merged ranges. ' +
      'Undo the merges, save the workbook and import it again.',
  });
});

test('the rows end where their tag does, whatever their texts and the parts of the file are', async (context) => {
  const text = '<c r="A3" t="inlineStr"><is><t>sheetData> &lt;/sheetData></t></is></c>';
  for (const filler of [0, 65_000, 65_530, 65_536]) {
    const rows = `${ROWS}<row r="3">${text}</row><row r="4"><c r="B4"><v>1</v></c></row>`;
    const padded = `${rows}${'<row r="9"></row>'.replace('></row>', `>${' '.repeat(filler)}</row>`)}`;
    const after = '<mergeCells><mergeCell ref="A3:A4"/></mergeCells>';
    const records = await readAll(context, workbookOf({ sheets: [{ name: 'S', rows: padded, after }] }));
    assert.equal(records.at(-1)?.cells[0], 'sheetData> </sheetData>');
  }
});

test('a workbook in which a bit of a value has changed since it was written is refused', async (context) => {
  const ods =
    '<table:table table:name="S"><table:table-row><table:table-cell office:value-type="float" ' +
    'office:value="1500"/></table:table-row></table:table>';
  const made = [
    workbookParts({ sheets: [{ name: 'S', rows: rowsOf(['code', 1500]) }] }),
    workbookParts({
      sheets: [{ name: 'S', rows: '<row><c t="s"><v>0</v></c></row>' }],
      texts: ['<t>1500</t>'],
    }),
    documentParts(ods),
  ];
  for (const parts of made) {
    assert.equal((await readAll(context, zipOf(parts))).length, 1);
    const damaged = parts.map((part): ZipPart => {
      const written = String(part.content);
      return { ...part, content: written.replace('1500', '1700'), written };
    });
    await assert.rejects(readAll(context, zipOf(damaged)), DAMAGED);
  }
});

const OLE = Buffer.from('d0cf11e0a1b11ae1', 'hex');
for (const [what, content, message] of [
  [
    'an archive that is cut off',
    workbookOf({ sheets: [{ name: 'S', rows: ROWS }] }).subarray(0, -30),
    /damaged/,
  ],
  ['the beginning of an archive', Buffer.from('PK\u0003\u0004'), /damaged/],
  [
    'a workbook with a password',
    Buffer.concat([OLE, Buffer.alloc(600)]),
    /has a password\. Save it as \.xlsx/,
  ],
  [
    'an archive with a password',
    zipOf([{ ...(parts[0] as ZipPart), flags: 1 }]),
    /has a password\. Remove it/,
  ],
  [
    'an .odt file',
    zipOf([
      { name: 'mimetype', content: 'application/vnd.oasis.opendocument.text' },
      { name: 'content.xml', content: '<x/>' },
    ]),
    /OpenDocument file, but not a spreadsheet\. Save it as \.xlsx/,
  ],
  [
    'an .ods file with a password',
    zipOf([
      ...documentParts('?'),
      {
        name: 'META-INF/manifest.xml',
        content: '<m:manifest><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>',
      },
    ]),
    /has a password\. Remove it/,
  ],
  ['an .ods file without sheets', zipOf(documentParts('')), /no sheet/],
  ['an .xlsb file', zipOf([...parts, { name: 'xl/workbook.bin', content: 'x' }]), /\.xlsb/],
  ['a ZIP archive of other files', zipOf([{ name: 'members.csv', content: 'code,name\n' }]), /Unpack it/],
  ['a .docx file', zipOf([...parts, { name: 'word/document.xml', content: '<x/>' }]), /Unpack it/],
  ['a workbook without sheets', workbookOf({ sheets: [] }), /no sheet/],
  ['a workbook of empty sheets', withRows(''), /empty/],
] as const) {
  test(`${what} is refused with what to do`, async (context) => {
    const place = await startedPlace(context);
    const result = await place.load('cooperatives', content);
    assert.equal(result.status, 1);
    assert.match(result.err, /^cooperatives\.csv line 1: /);
    assert.match(result.err, message);
  });
}
