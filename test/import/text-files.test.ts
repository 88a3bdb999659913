/** The encoding and the separator of a text file (docs/import-reference.md#forms-of-files). */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type OpenOptions, openFile } from '../../src/import/files/open-file.ts';
import type { SourceFormat } from '../../src/import/files/records.ts';
import { temporaryFolder } from '../support/app.ts';
import { importText, member, members, nid, startedPlace } from '../support/importing.ts';
import { quickOrLong } from '../support/quick-or-long.ts';

interface Contents {
  readonly format: SourceFormat;
  readonly sha256: string;
  readonly rows: readonly (readonly string[])[];
  readonly lines: readonly number[];
}

const HEADINGS = ['code', 'name', 'kg', 'date'];
const scoreHeader = (cells: readonly string[]) => cells.filter((cell) => HEADINGS.includes(cell)).length;

async function read(
  context: TestContext,
  content: string | Buffer,
  options: Partial<OpenOptions> = {},
): Promise<Contents> {
  const path = join(temporaryFolder(context), 'a.csv');
  writeFileSync(path, content);
  const source = await openFile(path, { scoreHeader, ...options });
  try {
    const records = [];
    for await (const batch of source.read()) records.push(...batch.records);
    const rows = records.map(({ cells }) => cells);
    const lines = records.map(({ line }) => line);
    return { format: source.format, sha256: source.sha256, rows, lines };
  } finally {
    await source.close();
  }
}

const swapped = (text: string) => Buffer.from(text, 'utf16le').swap16();
const TEXT = 'code,name\nA-1,Espérance ‘N’ €\n';
const ROWS = [
  ['code', 'name'],
  ['A-1', 'Espérance ‘N’ €'],
];
/** In Windows-1252, where ‘, ’ and € are not what they are in Latin-1. */
const WINDOWS = Buffer.from(
  TEXT.replace('‘', '\u0091').replace('’', '\u0092').replace('€', '\u0080'),
  'latin1',
);

for (const [what, content, encoding, hasMark] of [
  ['UTF-8', TEXT, 'utf-8', false],
  ['UTF-8 with a byte order mark', `\ufeff${TEXT}`, 'utf-8', true],
  ['UTF-16 LE with a byte order mark', Buffer.from(`\ufeff${TEXT}`, 'utf16le'), 'utf-16le', true],
  ['UTF-16 BE with a byte order mark', swapped(`\ufeff${TEXT}`), 'utf-16be', true],
  ['Windows-1252', WINDOWS, 'windows-1252', false],
] as const) {
  test(`a file in ${what} is read, with its SHA-256`, async (context) => {
    const contents = await read(context, content);
    assert.deepEqual(contents.rows, ROWS);
    assert.deepEqual(contents.format, { type: 'text', encoding, hasMark, separator: ',' });
    assert.equal(contents.sha256, createHash('sha256').update(content).digest('hex'));
    const quoted = await read(context, Buffer.concat([Buffer.from(content), Buffer.alloc(0)]));
    assert.deepEqual(quoted.rows, ROWS);
  });
}

test('a large file in UTF-16 has every character, also where two reads meet, and quotes', async (context) => {
  const rows = Array.from({ length: 30_000 }, (_, i) => [`A-${i}`, '😀é'.repeat(1 + (i % 3))]);
  for (const quote of ['', '"']) {
    const text = rows.map(([code, name]) => `${quote}${code}${quote},${name}\r\n`).join('');
    for (const bytes of [Buffer.from(`\ufeff${text}`, 'utf16le'), swapped(`\ufeff${text}`)]) {
      const contents = await read(context, bytes);
      assert.deepEqual(contents.rows, rows);
      assert.equal(contents.lines.at(-1), 30_000);
    }
  }
});

const NOT_UTF8 = 'The line is not UTF-8. Save the file as "CSV UTF-8" and import it again.';

test('a byte that is not UTF-8 among names that are is refused with its line, and garbles no name', async (context) => {
  const count = quickOrLong(20_000, 200_000);
  const text = `code,name\n${'A-1,Espérance\n'.repeat(count)}`;
  const sound = await read(context, text);
  assert.deepEqual(
    [sound.format.type === 'text' && sound.format.encoding, sound.rows[1]?.[1]],
    ['utf-8', 'Espérance'],
  );
  for (const damaged of ['A-2,Th\u00e9\nA-3,B\n', 'A-2,\u00c3'])
    await assert.rejects(read(context, Buffer.concat([Buffer.from(text), Buffer.from(damaged, 'latin1')])), {
      faults: [{ line: count + 2, column: '', refuses: 'file', message: NOT_UTF8 }],
    });
});

test('a file in Windows-1252 stays one, even where two of its characters happen to be UTF-8', async (context) => {
  const text = 'code,name\nA-1,«CAFÉ»\nA-2,Coopérative\n';
  const { format, rows } = await read(context, Buffer.from(text, 'latin1'));
  assert.equal(format.type === 'text' && format.encoding, 'windows-1252');
  assert.deepEqual(rows[1], ['A-1', '«CAFÉ»']);
});

test('a character of UTF-8 is not cut off where two reads meet, and a cut one at the end is not UTF-8', async (context) => {
  for (let before = 0; before < 5; before++) {
    const text = `${'x'.repeat(before)}${'😀\n'.repeat(80_000)}`;
    const { format } = await read(context, text);
    assert.equal(format.type === 'text' && format.encoding, 'utf-8', `${before}`);
  }
  const { format } = await read(context, Buffer.from('code,name\nA-1,é').subarray(0, -1));
  assert.equal(format.type === 'text' && format.encoding, 'windows-1252');
});

test('an encoding that is asked for is used, unless a byte order mark shows another', async (context) => {
  const asWindows = await read(context, TEXT, { encoding: 'windows-1252' });
  assert.deepEqual(asWindows.rows[1]?.[1]?.slice(0, 10), 'EspÃ©rance');
  const unmarked = await read(context, Buffer.from(TEXT, 'utf16le'), { encoding: 'utf-16le' });
  assert.deepEqual(unmarked.rows, ROWS);
  assert.deepEqual((await read(context, `\ufeff${TEXT}`, { encoding: 'windows-1252' })).rows, ROWS);
  await assert.rejects(read(context, WINDOWS, { encoding: 'utf-8' }), {
    faults: [
      {
        ...{ line: 2, column: '', refuses: 'file' },
        message: NOT_UTF8,
      },
    ],
  });
});

test('half a pair of UTF-16 is refused instead of being replaced', async (context) => {
  const half = Buffer.concat([
    Buffer.from('\ufeffcode,name\nA-1,', 'utf16le'),
    Buffer.from([0x00, 0xd8, 0x0a, 0x00]),
  ]);
  await assert.rejects(read(context, half), { message: /begins like UTF-16/ });
});

for (const [what, separator, text] of [
  ['commas', ',', 'code,name\nA-1,Abahuje; Huye\n'],
  ['semicolons and decimal commas', ';', 'code;kg\nA-1;12,5\nA-2;13,5\nA-3;1,25\n'],
  ['semicolons and more decimal commas than cells', ';', 'code;a;b;c\nA-1;1,5;2,5;3,5\nA-2;1,5;2,5;3,5\n'],
  ['semicolons, decimal commas and one row of more cells', ';', 'code;kg\nA-1;1,5\nA-2;2,5\nA-3;3;x\n'],
  ['tabs', '\t', 'code\tname\nA-1\tAbahuje, Huye\n'],
  ['bars', '|', 'code|name\nA-1|Abahuje, Huye; Tumba\n'],
  [
    'semicolons below titles with commas',
    ';',
    'Koperative Abahuje, Huye, 2026\nListe, membres, tous\n\ncode;kg\nA-1;1,5\nA-2;2,5\n',
  ],
  ['separators inside quotes', ';', '"code";"name"\n"A-1";"a,b,c,d"\n"A-2";"e,f,g,h"\n"A-3";"i,j,""k"",l"\n'],
  ['headings that are only known with one', '|', 'code|name,x;y\nA-1|b,x;y\n'],
] as const) {
  test(`the separator is found in a file with ${what}`, async (context) => {
    const { format } = await read(context, text);
    assert.equal(format.type === 'text' && format.separator, separator);
    const unknown = await read(context, text, what.startsWith('headings') ? {} : { scoreHeader: () => 0 });
    assert.equal(unknown.format.type === 'text' && unknown.format.separator, separator);
  });
}

for (const separator of [',', ';', '\t', '|']) {
  test(`a first line sep=${JSON.stringify(separator)} names the separator and is not a row`, async (context) => {
    const other = separator === ',' ? ';' : ',';
    for (const lineEnd of ['\n', '\r\n', '\r']) {
      for (const quote of ['', '"']) {
        const lines = [
          `sep=${separator}`,
          `code${separator}name`,
          `A-1${separator}${quote}a${other}b${quote}`,
        ];
        const { rows, lines: numbers } = await read(context, lines.join(lineEnd));
        assert.deepEqual(rows, [
          ['code', 'name'],
          ['A-1', `a${other}b`],
        ]);
        assert.deepEqual(numbers, [2, 3]);
      }
    }
  });
}

test('lines without a value are left out and named, except behind the last row', async (context) => {
  const place = await startedPlace(context);
  for (const quote of ['', '"']) {
    const lines = ['', 'code,name', '', `${quote}A-1${quote},a`, ',', ' , ', 'A-2,b', '', ',,', ''];
    const { rows, lines: numbers } = await read(context, lines.join('\r\n'));
    assert.deepEqual(rows.length, 3);
    assert.deepEqual(numbers, [2, 4, 7]);
    const { notes } = await importText(place, 'cooperatives', lines.join('\r\n'));
    assert.deepEqual(notes, ['empty_row  3,5,6']);
  }
});

/** So that few rows are more than a read. */
const LONG = 'a'.repeat(150);
const FILLED = 4_000;

test('lines without a value are named across reads of a large file', async (context) => {
  const place = await startedPlace(context);
  const rows = Array.from({ length: FILLED }, (_, i) => `K-${i},${LONG}\n`).join('');
  const empty = '\n'.repeat(9_000);
  const { report } = await importText(place, 'cooperatives', `code,name\n${empty}${rows}${empty}K,b\n\n`);
  assert.deepEqual([report.changes.created, report.notes.length], [FILLED + 1, 1]);
  const emptyLines = [...(report.notes[0]?.lines() ?? [])];
  assert.equal(emptyLines.length, 18_000);
  assert.deepEqual([emptyLines[0], emptyLines[8_999], emptyLines[9_000]], [2, 9_001, 9_002 + FILLED]);
  assert.equal(emptyLines.at(-1), 18_001 + FILLED);
});

for (const [what, content, message] of [
  [
    'an .xls file',
    Buffer.from('d0cf11e0a1b11ae1000000000000', 'hex'),
    /\.xls file or has a password.*Save it as \.xlsx/,
  ],
  ['a PDF document', '%PDF-1.7\n', /PDF document/],
  ['a web page that is called .xls', '\ufeff<html><table><tr><td>code</td></tr></table></html>', /web page/],
  ['an XML document', '<?xml version="1.0"?><Workbook/>', /XML document/],
  ['a compressed file', Buffer.from('1f8b0800', 'hex'), /compressed/],
  ['UTF-16 without a byte order mark', Buffer.from(TEXT, 'utf16le'), /NUL characters/],
  ['NUL characters far into a text', `${TEXT.repeat(50_000)}\0`, /NUL characters/],
] as const) {
  test(`${what} is refused with what to do, and is not read as text`, async (context) => {
    const place = await startedPlace(context);
    const result = await place.load('cooperatives', Buffer.from(content));
    assert.equal(result.status, 1);
    assert.match(result.err, /^cooperatives\.csv line 1: /);
    assert.match(result.err, message);
    assert.equal(result.err.match(/line \d+/g)?.length, 1);
  });
}

test('a list in Windows-1252 with semicolons is imported', async (context) => {
  const place = await startedPlace(context);
  const text = members(member(30), `A-1,${nid(31)},M-31,Espérance d’Août`).replaceAll(',', ';');
  const result = await place.load('members', Buffer.from(text.replaceAll('’', '\u0092'), 'latin1'));
  assert.equal(result.status, 0, result.err);
  assert.equal(place.value("SELECT full_name FROM members WHERE member_code = 'M-31'"), 'Espérance d’Août');
});

for (const separator of [',', ';', '\t', '|']) {
  test(`cells such as ="1198…" without quotes are texts, with ${JSON.stringify(separator)} between`, async (context) => {
    const cells = [
      ['="A-1"', '="Abahuje"'],
      ['A-2', '="it is 5 o\'clock"'],
      ['="A-3"', `"a${separator}=""x""${separator}""b"""`],
      [`"A-4${separator}="`, '""'],
      [`"A-5${separator}="`, `"${separator}\n=""${separator}"`],
    ];
    const text = ['code', 'name'].join(separator) + cells.map((row) => `\r\n${row.join(separator)}`).join('');
    const { rows } = await read(context, text);
    assert.deepEqual(rows.slice(1), [
      ['="A-1"', '="Abahuje"'],
      ['A-2', '="it is 5 o\'clock"'],
      ['="A-3"', `a${separator}="x"${separator}"b"`],
      [`A-4${separator}=`, ''],
      [`A-5${separator}=`, `${separator}\n="${separator}`],
    ]);
  });
}

test('a file of a database tool, with a national ID in ="…", is imported with a note', async (context) => {
  const place = await startedPlace(context);
  const header = 'cooperative_code,identity_card,member_code,full_name';
  const content = `${header}\nA-1,="${nid(20)}",="M-20",Keza "la Grande"\n`;
  const { faults } = await importText(place, 'members', content);
  assert.match(faults[0]?.message ?? '', /^A quote \("\) appears inside a cell\./);
  const { report, notes } = await importText(place, 'members', content.replaceAll(/ "la Grande"/g, ''));
  assert.deepEqual(
    [report.outcome, notes],
    ['imported', ['spreadsheet_text identity_card 2', 'spreadsheet_text member_code 2']],
  );
  assert.equal(place.value(`SELECT count(*) FROM members WHERE identity_card = '${nid(20)}'`), 1);
});
