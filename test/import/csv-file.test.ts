/**
 * What an import file may look like, and how one that is not readable is refused
 * (docs/import-reference.md#forms-of-files).
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  COOPERATIVES,
  importPlace,
  importText,
  member,
  members,
  nid,
  startedPlace,
} from '../support/importing.ts';

const names = "SELECT group_concat(full_name, '|') FROM (SELECT full_name FROM members ORDER BY id)";

for (const [what, content] of [
  ['a byte order mark', `\ufeff${COOPERATIVES}`],
  ['CRLF', COOPERATIVES.replaceAll('\n', '\r\n')],
  ['CR only', COOPERATIVES.replaceAll('\n', '\r')],
  ['CR only and quoted fields', 'code,name\r"A-1","Abahuje"\r"B-2",Biringaniye\r'],
  ['line ends of every kind', 'code,name\rA-1,Abahuje\r\n\n\r"B-2",Biringaniye'],
  ['quoted fields', 'code,name\n"A-1","Abahuje"\n"B-2",Biringaniye\n'],
  ['`;` as separator', COOPERATIVES.replaceAll(',', ';')],
  ['`;` as separator, commas inside a cell', 'code;name\nA-1;"Abahuje"\nB-2;Biringaniye\n'],
  ['no line end after the last row', COOPERATIVES.trimEnd()],
  ['empty lines', `${COOPERATIVES.replaceAll('\n', '\n\n')}\n`],
  ['columns in any order', 'name,code\nAbahuje,A-1\nBiringaniye,B-2\n'],
  ['spaces around the cells', 'code , name\n A-1 , Abahuje \nB-2,Biringaniye\n'],
  ['lines that end in LF after one that ends in CRLF', 'code,name\r\nA-1,Abahuje\nB-2,Biringaniye\n'],
  ['all of them', '\ufeff"name";"code"\r\n"Abahuje";A-1\r\n\r\nBiringaniye;"B-2"\r\n'],
] as const) {
  test(`a file is accepted with ${what}`, async (context) => {
    const place = importPlace(context);
    const result = await place.load('cooperatives', content);
    assert.equal(result.status, 0, result.err);
    assert.deepEqual(place.query('SELECT id, code, name FROM cooperatives ORDER BY id'), [
      { id: 1, code: 'A-1', name: 'Abahuje' },
      { id: 2, code: 'B-2', name: 'Biringaniye' },
    ]);
  });
}

test('a quoted cell may hold the separator, a doubled quote and a line break', async (context) => {
  const place = await startedPlace(context);
  const row = `A-1,${nid(9)},M-9,"Uwase, ""Mimi""\nAline"`;
  assert.equal((await place.load('members', members(row))).status, 0);
  assert.equal(place.value("SELECT full_name FROM members WHERE member_code = 'M-9'"), 'Uwase, "Mimi" Aline');
});

for (const lineEnd of ['\n', '\r\n', '\r']) {
  test(`a row is named by the line it starts on, line ends ${JSON.stringify(lineEnd)}`, async (context) => {
    const place = await startedPlace(context);
    const lines = [
      'cooperative_code,identity_card,member_code,full_name,gender',
      `A-1,${nid(11)},M-11,"Uwase`,
      `${'Aline'}",X`,
      '',
      `A-1,${nid(12)},M-12,Keza,Y`,
      `A-1,${nid(13)},M-13,"Two`,
      'breaks',
      'here",F',
      `A-1,${nid(14)},M-14,Gatete,Z`,
    ];
    const result = await place.load('members', `${lines.join(lineEnd)}${lineEnd}`, '--json');
    assert.equal(result.status, 1);
    const { errors } = JSON.parse(result.out).files[0];
    assert.deepEqual(
      errors.map(({ line, column }: { line: number; column: string }) => [line, column]),
      [
        [2, 'gender'],
        [5, 'gender'],
        [9, 'gender'],
      ],
    );
  });
}

test('with --strict, unknown columns are refused by name, all at once', async (context) => {
  const place = importPlace(context);
  const content = 'code,name,colour,shape\nA-1,Abahuje,red,round\n';
  const { faults } = await importText(place, 'cooperatives', content, { isStrict: true });
  assert.deepEqual(
    faults.map(({ line, column, message }) => [line, column, message.slice(0, 32)]),
    [
      [1, 'colour', 'Unknown column in position 3. Kn'],
      [1, 'shape', 'Unknown column in position 4. Kn'],
    ],
  );
  assert.equal(place.value('SELECT count(*) FROM cooperatives'), 0);
});

test('an unknown column is not named when its name may be a national ID', async (context) => {
  const place = importPlace(context);
  const content = `code,name,${nid(1)}\nA-1,Abahuje,x\n`;
  const { faults } = await importText(place, 'cooperatives', content, { isStrict: true });
  assert.doesNotMatch(JSON.stringify(faults), /[0-9]{6}/);
  assert.match(faults[0]?.message ?? '', /position 3/);
  const { notes } = await importText(place, 'cooperatives', content);
  assert.deepEqual(notes, ['ignored_column #3 1']);
});

/** What must not be shown: names and a date of birth of a person. */
const PERSON = ['A-1', nid(1), 'M-1', 'ann example', 'ann', 'example', 'F', '1985-03-01'];

test('of a file without a header no cell is shown', async (context) => {
  const place = await startedPlace(context);
  for (const content of [`${PERSON.join(',')}\n`, `"${PERSON.join('";"')}"\n`, 'ann,example\n', 'ann\n']) {
    for (const args of [[], ['--json']]) {
      const { status, out, err } = await place.load('members', content, ...args);
      assert.equal(status, 1);
      assert.match(out + err, /Unknown column in position 1\. Known: cooperative_code, /);
      assert.doesNotMatch(out + err, /ann\b|example|1985/);
    }
  }
});

test('a header that is one cell with separators in it says so, and shows nothing of it', async (context) => {
  const place = await startedPlace(context);
  const header = 'cooperative_code,identity_card,member_code,full_name';
  for (const content of [`sep=;\n${header}\n${PERSON.slice(0, 4).join()}\n`, `"${header}"\n"A-1"\n`]) {
    const { status, err } = await place.load('members', content);
    assert.equal(status, 1);
    assert.match(err, /The header is one cell with commas in it\. /);
    assert.doesNotMatch(err, /ann\b|example|Unknown column/);
  }
});

test('of a header that runs into the first row no cell of the row is shown', async (context) => {
  const place = await startedPlace(context);
  // A line separator of Unicode ends no line of a CSV file.
  const header =
    'cooperative_code,identity_card,member_code,full_name,first_name,last_name,gender,date_of_birth';
  const content = `${header}\u2028${PERSON.join(',')}\n`;
  const { status, err } = await place.load('members', content);
  assert.equal(status, 1);
  for (const isStrict of [false, true]) {
    const { faults, notes } = await importText(place, 'members', content, { isStrict });
    assert.doesNotMatch(err + JSON.stringify({ faults, notes }), /\bann\b|example|1985/);
  }
});

test('an unknown column is named only when it is one word', async (context) => {
  const place = await startedPlace(context);
  for (const [column, shown] of [
    ['colour', 'colour'],
    ['Téléphone', 'téléphone'],
    ['ann example', '#3'],
    ['1985-03-01', '#3'],
    ['M-1', '#3'],
  ]) {
    const { notes } = await importText(place, 'cooperatives', `code,name,${column}\n`);
    assert.deepEqual(notes, [`ignored_column ${shown} 1`]);
  }
});

test('faults of a header have its line, also when empty lines precede it', async (context) => {
  const place = importPlace(context);
  const { err } = await place.load('cooperatives', '\n\ncode,name,statos\n');
  assert.match(err, /^cooperatives\.csv line 3, column statos: Unknown column/m);
});

test('a missing required column and a column given twice are refused by name', async (context) => {
  const place = importPlace(context);
  const result = await place.load('production', 'cooperative_code,member_code,product,product\n');
  assert.equal(result.status, 1);
  for (const column of ['delivered_at', 'kg']) {
    assert.match(result.err, new RegExp(`line 1, column ${column}: .*missing`));
  }
  assert.match(result.err, /line 1, column product: .*twice/);
});

test('a members file needs full_name, or first_name and last_name', async (context) => {
  const place = await startedPlace(context);
  const header = 'cooperative_code,identity_card,member_code';
  for (const columns of ['', ',first_name', ',last_name', ',gender']) {
    const result = await place.load('members', `${header}${columns}\n`);
    assert.equal(result.status, 1, columns);
    assert.match(result.err, /column full_name/);
  }
  const parts = `${header},last_name,first_name\nA-1,${nid(20)},M-20,Uwase,Aline\n`;
  assert.equal((await place.load('members', parts)).status, 0);
  assert.deepEqual(
    place.query("SELECT full_name, first_name, last_name FROM members WHERE member_code = 'M-20'"),
    [{ full_name: 'Aline Uwase', first_name: 'Aline', last_name: 'Uwase' }],
  );
});

test('with only full_name the first and last name stay empty', async (context) => {
  const place = await startedPlace(context);
  assert.deepEqual(place.query('SELECT DISTINCT first_name, last_name FROM members'), [
    { first_name: null, last_name: null },
  ]);
});

test('an empty file is refused, one that holds only a header imports nothing', async (context) => {
  const place = importPlace(context);
  for (const content of ['', '\n\n', '\ufeff']) {
    const empty = await place.load('cooperatives', content);
    assert.equal(empty.status, 1, JSON.stringify(content));
    assert.match(empty.err, /cooperatives\.csv line 1: .*empty/);
  }
  const header = await place.load('cooperatives', 'code,name\n');
  assert.deepEqual([header.status, header.err], [0, '']);
  assert.equal(place.value('SELECT count(*) FROM cooperatives'), 0);
});

test('a row with too few or too many cells is a fault of its line', async (context) => {
  const place = importPlace(context);
  const result = await place.load('cooperatives', 'code,name\nA-1\nB-2,Biringaniye\nC-3,Cyuzuzo,x\n');
  assert.equal(result.status, 1);
  assert.match(result.err, /cooperatives\.csv line 2: Expected 2 cells, found 1\./);
  assert.match(result.err, /cooperatives\.csv line 4: Expected 2 cells, found 3\./);
  assert.equal(place.value('SELECT count(*) FROM cooperatives'), 0);
});

test('a row with an empty cell too many is a fault: a separator within a value has moved the others', async (context) => {
  const place = await startedPlace(context);
  const header = 'cooperative_code,member_code,reference,delivered_at,kg,product';
  const rejects = join(place.folder, 'refused.csv');
  const content = `${header}\nA-1,M-1,P-1,2025-03-01,12,500,\n`;
  const result = await place.load('production', content, '--rejects', rejects);
  assert.match(result.err, /production\.csv line 2: Expected 6 cells, found 7\./);
  const again = await place.run('production', rejects);
  assert.match(again.err, /refused\.csv line 2: Expected 7 cells, found 8\./);
});

test('a quote that never closes is refused with its line, and no row is imported', async (context) => {
  const place = importPlace(context);
  const result = await place.load(
    'cooperatives',
    'code,name\nA-1,Abahuje\nB-2,"Biringaniye\nC-3,Cyuzuzo\n',
    '--skip-invalid',
  );
  assert.equal(result.status, 1);
  assert.match(result.err, /cooperatives\.csv line 3: .*quote/i);
  assert.equal(place.value('SELECT count(*) FROM cooperatives'), 0);
});

test('a quote inside a cell is refused with its line', async (context) => {
  const place = importPlace(context);
  const result = await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biri"nganiye\nC-3,Cyuzuzo\n');
  assert.equal(result.status, 1);
  assert.match(result.err, /cooperatives\.csv line 3: .*quote/i);
});

test('a line that never ends is refused with its number', async (context) => {
  const place = await startedPlace(context);
  const result = await place.load('members', `${members(member(30))}${'x'.repeat(600_000)}`);
  assert.equal(result.status, 1);
  assert.match(result.err, /^members\.csv line 3: The line is too long to be a row\.$/m);
});

test('a character of several bytes may cross the boundary of two reads', async (context) => {
  const place = await startedPlace(context);
  const rows = Array.from(
    { length: 12_000 },
    (_, i) => `A-1,${nid(100 + i)},K-${i},${'é'.repeat(1 + (i % 7))}`,
  );
  const result = await place.load('members', members(...rows));
  assert.equal(result.status, 0, result.err);
  const found = place.query<{ n: number }>(
    "SELECT count(*) AS n FROM members WHERE full_name GLOB '*[^é]*' AND id > 3",
  );
  assert.equal(found[0]?.n, 0);
  assert.equal(place.value('SELECT count(*) FROM members'), 12_003);
});

test('ids of imported rows follow the order of the file', async (context) => {
  const place = await startedPlace(context);
  const shuffled = [57, 50, 58, 51, 59, 52].map((n) => member(n));
  assert.equal((await place.load('members', members(...shuffled))).status, 0);
  assert.equal(
    place.value(names),
    'Person 1|Person 2|Person 3|Person 57|Person 50|Person 58|Person 51|Person 59|Person 52',
  );
});
