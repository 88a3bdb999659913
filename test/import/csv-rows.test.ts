/** CSV with quotes and without is read into the same records, which are those of csv-parse. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { createCsvRows } from '../../src/import/files/csv-rows.ts';
import { openFile } from '../../src/import/files/open-file.ts';
import { temporaryFolder } from '../support/app.ts';
import { quickOrLong } from '../support/quick-or-long.ts';

async function recordsOf(file: string): Promise<[number, readonly string[]][]> {
  // The separator is the one with which a row has the cells x and y.
  const source = await openFile(file, { scoreHeader: (cells) => (cells.join('|') === 'x|y' ? 1 : 0) });
  try {
    const records: [number, readonly string[]][] = [];
    for await (const batch of source.read())
      records.push(...batch.records.map(({ line, cells }): [number, readonly string[]] => [line, cells]));
    return records;
  } finally {
    await source.close();
  }
}

const cell = fc.string({
  unit: fc.constantFrom('a', '7', ' ', 'é', '—', '\t', "'"),
  maxLength: 5,
});

for (const delimiter of [',', ';']) {
  test(`a file without quotes is read as one with quotes, with ${delimiter} between its cells`, async (context) => {
    const file = join(temporaryFolder(context), 'any.csv');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(cell, { maxLength: 4 }), { maxLength: 12 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.boolean(),
        fc.boolean(),
        async (rows, lineEnd, endsWithLine, hasMark) => {
          const lines = [['x', 'y'], ...rows].map((cells) => cells.join(delimiter));
          const text = lines.join(lineEnd) + (endsWithLine ? lineEnd : '');
          const mark = hasMark ? '\ufeff' : '';
          writeFileSync(file, mark + text);
          const plain = await recordsOf(file);
          writeFileSync(file, mark + text.replace('x', '"x"'));
          assert.deepEqual(plain, await recordsOf(file));
          writeFileSync(file, `${mark}${text}${lineEnd}"q"${delimiter}z`);
          assert.deepEqual((await recordsOf(file)).slice(0, plain.length), plain);
        },
      ),
      { numRuns: quickOrLong(15, 150) },
    );
  });
}

/** By csv-parse; undefined where it refuses the text. */
function cellsByCsvParse(text: string): string[][] | undefined {
  try {
    const rows = parse(text, {
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
    }) as string[][];
    return rows.filter((cells) => cells.some((each) => each.trim() !== ''));
  } catch {
    return undefined;
  }
}

/** In two parts, the first of which ends where a line ends. */
function readInParts(text: string, part: number) {
  const ends = [...text.matchAll(/\r\n|\n|\r/g)].map(({ index, 0: { length } }) => index + length);
  const cut = ends.length === 0 ? 0 : (ends[part % ends.length] as number);
  const rows = createCsvRows(',', 0);
  const first = rows.read(text.slice(0, cut));
  const second = first.fault === undefined ? rows.read(text.slice(cut)) : { records: [], fault: first.fault };
  return { records: [...first.records, ...second.records], fault: second.fault ?? rows.end() };
}

test('any text has the rows that csv-parse finds, each on its lines, or is refused as by csv-parse', () => {
  const piece = fc.constantFrom(
    'a',
    ' ',
    ',',
    ',',
    '"',
    '"',
    '""',
    '"b"',
    ',"',
    '",',
    '\n',
    '\r\n',
    '\r',
    '"\n"',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 24 }), fc.nat(), (pieces, part) => {
      const text = pieces.join('');
      const expected = cellsByCsvParse(text);
      const { records, fault } = readInParts(text, part);
      assert.equal(fault === undefined, expected !== undefined, fault?.message);
      if (expected === undefined) return;
      assert.deepEqual(
        records.map(({ cells }) => cells),
        expected,
      );
      const lines = text.split(/\r\n|\n|\r/);
      for (const { line, lastLine = line, cells } of records) {
        const own = lines.slice(line - 1, lastLine).join('\n');
        const again = createCsvRows(',', 0).read(own).records[0]?.cells;
        assert.deepEqual(
          again,
          cells.map((each) => each.replace(/\r\n?/g, '\n')),
        );
      }
    }),
    { numRuns: quickOrLong(1_000, 50_000) },
  );
});

test('the line of a quoted row is counted from the lines before it', async (context) => {
  const file = join(temporaryFolder(context), 'any.csv');
  // Long enough that the quote is in a later chunk than the first lines.
  const plain = 'abcdefgh,1\n'.repeat(60_000);
  writeFileSync(file, `a,b\n${plain}"two\nlines",2\nlast,3\n`);
  const records = await recordsOf(file);
  assert.deepEqual(records.slice(-2), [
    [60_002, ['two\nlines', '2']],
    [60_004, ['last', '3']],
  ]);
  writeFileSync(file, `a,b\n${plain}"never closed,2\n`);
  await assert.rejects(recordsOf(file), { message: 'A quote (") is opened in this row and never closed.' });
});

/** What is read of a file at once. */
const READ_BYTES = 256 * 1024;
/** So that few rows are more than a read. */
const LONG = 'abcdefg'.repeat(100);

for (const [name, quote] of [
  ['plain lines', ''],
  ['quoted rows', '"'],
] as const) {
  test(`a CRLF on the boundary of two reads is one line end, and a CR there too, in ${name}`, async (context) => {
    const file = join(temporaryFolder(context), 'any.csv');
    for (const lineEnd of ['\r\n', '\r']) {
      const rows = Array.from({ length: 380 }, (_, i) => `${quote}row${quote},${100_000 + i},${LONG}`);
      const width = (rows[0] as string).length + lineEnd.length;
      // A first line so long that one of the line ends begins with the last byte of a read, or beside it.
      for (const beside of [-1, 0, 1]) {
        const first = 'x'.repeat(((READ_BYTES - 1) % width) + width + beside);
        writeFileSync(file, [first, ...rows].join(lineEnd));
        const records = await recordsOf(file);
        assert.equal(records.length, rows.length + 1);
        assert.deepEqual(records.at(-1), [rows.length + 1, ['row', String(100_000 + rows.length - 1), LONG]]);
      }
    }
  });
}
