/** Files that are made, or broken, so that reading them takes hours or all memory: they end soon. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openFile } from '../../src/import/files/open-file.ts';
import { cellContext } from '../../src/import/reading/cell-context.ts';
import { readMobile } from '../../src/import/reading/national-ids-and-phones.ts';
import { parseMap } from '../../src/import/reading/parse-map.ts';
import { proposeMap } from '../../src/import/reading/propose-map.ts';
import { KIGALI } from '../../src/values/date-time.ts';
import { FieldError } from '../../src/values/errors.ts';
import {
  importText,
  MEMBERS_HEADER,
  member,
  members,
  nid,
  type ReadFile,
  startedPlace,
} from '../support/importing.ts';
import { quickOrLong } from '../support/quick-or-long.ts';
import { rowsOf, workbookOf, workbookParts, type ZipPart, zipOf } from '../support/workbook.ts';

/** Of processor time: much more than any of these files takes, and less than what each of them took. */
const SOON_MS = 20_000;

async function soon<T>(work: () => T | Promise<T>): Promise<T> {
  const start = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(start);
  const took = (user + system) / 1000;
  assert.ok(took < SOON_MS, `${Math.round(took)} ms`);
  return result;
}
const CELLS = cellContext(KIGALI, 1_750_000_000);
const MEBIBYTE = 1024 * 1024;
const EMPTY = quickOrLong(2, 40) * MEBIBYTE;
const faultsOf = ({ faults }: ReadFile) =>
  faults.map(({ line, column, message }) => `${line} ${column}: ${message}`);

test('a telephone number with any number of spaces is read at once', async () => {
  const spaces = ' '.repeat(80_000);
  assert.equal(
    await soon(() => readMobile(`0781234567${spaces}/${spaces}0782345678`, CELLS)),
    '+250781234567',
  );
  assert.ok((await soon(() => readMobile(`0781234567${spaces}x`, CELLS))) instanceof FieldError);
});

test('a cell of more than 1,000 characters is a fault, whatever its column takes', async (context) => {
  const place = await startedPlace(context);
  const header = `${MEMBERS_HEADER},gender,date_of_birth,mobile,registration_date`;
  const long = `x${' '.repeat(1_000)}`;
  const row = (i: number) =>
    [`A-1`, nid(20), 'M-20', 'Person 20', '', '', '', ''].map((cell, place) =>
      place === i ? `${long}x` : cell,
    );
  const content = [header, ...[1, 2, 3, 4, 5, 6, 7].map((i) => row(i).join(','))].join('\n');
  const columns = header.split(',').slice(1);
  assert.deepEqual(
    faultsOf(await importText(place, 'members', content)).filter((fault) => fault.includes('characters')),
    columns.map((column, i) => `${i + 2} ${column}: This cell has more than 1000 characters.`),
  );
});

test('a heading of any length is read at once', async (context) => {
  const place = await startedPlace(context);
  for (const heading of ['('.repeat(20_000), 'a '.repeat(50_000), `Code ${'('.repeat(100_000)}`]) {
    const content = `${MEMBERS_HEADER},${heading}\n${member(20)},\n`;
    const { report } = await soon(() => importText(place, 'members', content));
    assert.equal(report.outcome, 'imported');
  }
});

const MOST_COLUMNS = quickOrLong(2_000, 16_384);

test('a header of more than 16,384 columns is refused, and one of as many read at once', async (context) => {
  const place = await startedPlace(context);
  const wide = (columns: number) =>
    members(member(20)).replace('\n', `,${Array.from({ length: columns - 4 }, (_, i) => `H${i}`).join()}\n`);
  assert.deepEqual(faultsOf(await soon(() => importText(place, 'members', wide(16_385)))), [
    '1 : The header has more than 16384 columns. Delete the empty ones.',
  ]);
  const { report } = await soon(() => importText(place, 'members', wide(MOST_COLUMNS)));
  assert.deepEqual([report.outcome, report.notes.length], ['refused', MOST_COLUMNS - 4]);
  const path = place.write('wide.csv', wide(MOST_COLUMNS));
  const source = await openFile(path, { scoreHeader: (cells) => (cells[1] === 'identity_card' ? 4 : 0) });
  context.after(() => source.close());
  const { headings } = await soon(() => proposeMap(source, { kind: 'members', cells: CELLS }));
  assert.equal(headings.length, MOST_COLUMNS);
});

/** Rows below very many columns. */
const WIDE = quickOrLong(5_000, 50_000);

test('rows below a header with very many columns without a heading are read at once', async (context) => {
  const place = await startedPlace(context);
  const rows = Array.from({ length: WIDE }, (_, i) => `A-1,${nid(100 + i)},K-${i},Person\n`);
  const content = `${MEMBERS_HEADER}${','.repeat(16_000)}\n${rows.join('')}`;
  const { report } = await soon(() => importText(place, 'members', content));
  assert.equal(report.changes.created, WIDE);
});

for (const [what, quote] of [
  ['', ''],
  [' in a file with quotes', '"'],
]) {
  test(`megabytes of empty lines are skipped at once${what}`, async (context) => {
    const place = await startedPlace(context);
    const empty = Buffer.alloc(EMPTY, '\n');
    const before = process.memoryUsage.rss();
    assert.deepEqual(faultsOf(await soon(() => importText(place, 'members', empty))), [
      '1 : The file is empty: its first line must name the columns.',
    ]);
    const [header = '', row = ''] = members(`A-1,${nid(20)},M-20,${quote}Person 20${quote}`).split('\n');
    const content = Buffer.concat([Buffer.from(header), empty, Buffer.from(row)]);
    const { status, out, err } = await soon(() => place.load('members', content));
    assert.deepEqual([status, /1 new/.test(out)], [0, true], err);
    assert.ok(err.includes(`empty row: lines 2, 3, 4, 5, 6 and ${EMPTY - 6} more`), err);
    assert.ok(process.memoryUsage.rss() - before < 600 * MEBIBYTE);
    // Each is a fault, as far as anybody can look at them.
    const strict = await soon(() => importText(place, 'members', content, { isStrict: true }));
    assert.deepEqual([strict.report.outcome, strict.report.refusedRows], ['refused', 1_000]);
  });
}

test('a map names a line among the first 10,000 for the header', () => {
  const read = (line: number) =>
    parseMap(JSON.stringify({ kind: 'members', header_row: line }), { kind: 'members', cells: CELLS });
  assert.ok('kind' in read(10_000));
  assert.deepEqual(read(10_001), [
    { path: 'header_row', message: 'Expected the number of a line, from 1 to 10000.' },
  ]);
});

const ROWS = rowsOf(['code', 'name'], ['C-3', 'Dukore']);
const withRows = (rows: string, more: Partial<Parameters<typeof workbookOf>[0]> = {}) =>
  workbookOf({ sheets: [{ name: 'S', rows }], ...more });

for (const [what, content, fault] of [
  ['elements in one another', withRows(`${ROWS}${'<a>'.repeat(3e6)}${'</a>'.repeat(3e6)}`), '3'],
  [
    'attributes',
    withRows(`${ROWS}<row ${Array.from({ length: 1e6 }, (_, i) => `a${i}=""`).join(' ')}/>`),
    '3',
  ],
  [
    'characters in a cell',
    withRows(`${ROWS}<row r="3"><c r="A3" t="str"><v>${'x'.repeat(1e6)}</v></c></row>`),
    '3',
  ],
  ['characters in a shared text', withRows(ROWS, { texts: [`<t>${'x'.repeat(1e6)}</t>`] }), '1'],
  [
    'cells with a long text',
    withRows(ROWS + sharing(quickOrLong(4_000, 100_000)), { texts: [`<t>${' x'.repeat(16_000)}</t>`] }),
    '',
  ],
  [
    'brackets in a format',
    withRows(ROWS, { formats: Array.from({ length: quickOrLong(20, 100) }, () => '['.repeat(60_000)) }),
    '',
  ],
  ['sheets', manySheets(quickOrLong(4_000, 100_000)), ''],
] as const) {
  test(`a workbook with very many ${what} is read or refused at once`, async (context) => {
    const place = await startedPlace(context);
    const before = process.memoryUsage.rss();
    const read = await soon(() => importText(place, 'cooperatives', content));
    if (fault !== '') assert.deepEqual(faultsOf(read).length, 1, faultsOf(read).join());
    assert.ok(process.memoryUsage.rss() - before < 400 * MEBIBYTE);
  });
}

/** Rows with a cell each, all with the same text. */
function sharing(count: number): string {
  const rows = Array.from({ length: count }, (_, i) => `<row r="${i + 3}"><c t="s"><v>0</v></c></row>`);
  return rows.join('');
}

function manySheets(count: number): Buffer {
  const sheets = [{ name: 'S', rows: ROWS }];
  const parts = workbookParts({ sheets });
  const ids = Array.from({ length: count }, (_, i) => i + 10);
  const repeat = ({ name, content }: ZipPart): ZipPart => {
    const text = String(content);
    if (name === 'xl/workbook.xml')
      return {
        name,
        content: text.replace(
          '</sheets>',
          `${ids.map((i) => `<sheet name="S${i}" r:id="rId${i}"/>`).join('')}</sheets>`,
        ),
      };
    if (!name.endsWith('workbook.xml.rels')) return { name, content };
    const [relation = ''] = /<Relationship [^>]*worksheet"[^>]*>/.exec(text) ?? [];
    const others = ids
      .map((i) => relation.replace('rId1', `rId${i}`).replace('sheet1', `sheet${i}`))
      .join('');
    return { name, content: text.replace('</Relationships>', `${others}</Relationships>`) };
  };
  return zipOf(parts.map(repeat));
}
