/** Where the table of a file begins, and what of it is skipped (docs/import-reference.md#headings). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileLayout } from '../../src/import/reading/file-layout.ts';
import { foldHeading } from '../../src/import/reading/fold-and-misspellings.ts';
import { importText, MEMBERS_HEADER, member, members, nid, startedPlace } from '../support/importing.ts';

const readingMap = (given: Partial<FileLayout>): FileLayout => ({
  kind: 'members',
  columns: new Map(),
  constants: new Map(),
  values: new Map(),
  ...given,
});
const namesOf = (place: { query(sql: string): unknown[] }) =>
  place.query('SELECT full_name AS name FROM members WHERE id > 3 ORDER BY id');

test('a list in Kinyarwanda with title rows above it and totals below it is read', async (context) => {
  const place = await startedPlace(context);
  const content = [
    'KOPERATIVE ABAHUJE,,,,',
    "Urutonde rw'abanyamuryango,,,,2025",
    '',
    "N°,Indangamuntu,Nomero y'umunyamuryango,Amazina,Telefoni",
    `1,${nid(10)},M-10,Uwase Aline,0788123456`,
    `2,${nid(11)},M-11,Keza Diane,`,
    'Igiteranyo,,,2,',
  ].join('\n');
  const map = readingMap({ constants: new Map([['cooperative_code', 'A-1']]) });
  const { report, faults, notes } = await importText(place, 'members', content, { map });
  assert.deepEqual(faults, []);
  assert.deepEqual([report.outcome, report.rows], ['imported', 2]);
  assert.deepEqual(namesOf(place), [{ name: 'Uwase Aline' }, { name: 'Keza Diane' }]);
  assert.deepEqual(notes, [
    'ignored_column #1 4',
    'heading identity_card 4',
    'heading member_code 4',
    'heading full_name 4',
    'heading mobile 4',
    'title_row  1,2',
    'totals_row  7',
  ]);
});

test('exact names need no note, and columns without heading and values neither', async (context) => {
  const place = await startedPlace(context);
  const content = `${MEMBERS_HEADER},,\n${member(10)},,\n${member(11)},\n${member(12)},,,\n`;
  const { report, notes } = await importText(place, 'members', content);
  assert.deepEqual([report.outcome, report.rows, notes], ['imported', 3, []]);
});

test('a column without a heading is ignored with a note where it first has a value', async (context) => {
  const place = await startedPlace(context);
  const content = `${MEMBERS_HEADER},\n${member(10)},\n${member(11)},x\n${member(12)},y\n`;
  const { notes } = await importText(place, 'members', content);
  assert.deepEqual(notes, ['ignored_column #5 3']);
});

test('the header is found up to the 20th row and no further', async (context) => {
  const place = await startedPlace(context);
  const titles = (count: number) => 'Abahuje,,,\n'.repeat(count);
  const found = await importText(place, 'members', titles(19) + members(member(10)));
  assert.equal(found.report.outcome, 'imported');
  const late = await importText(place, 'members', titles(20) + members(member(11)));
  assert.equal(late.report.outcome, 'refused');
  assert.equal(late.faults[0]?.line, 1);
});

test('one known heading is not a header, and of two equal ones the first is', async (context) => {
  const place = await startedPlace(context);
  const one = await importText(place, 'members', 'Urutonde,x\nAmazina,x\n');
  assert.deepEqual([one.report.outcome, one.faults[0]?.line], ['refused', 1]);
  const { report, notes } = await importText(
    place,
    'members',
    `Abahuje\n${members(member(10), MEMBERS_HEADER)}`,
  );
  assert.deepEqual([report.outcome, notes], ['imported', ['title_row  1', 'repeated_header  4']]);
});

test('a first row of exact names is the header, although a row below it has more of them', async (context) => {
  const place = await startedPlace(context);
  const below = 'full_name,gender,mobile,role,status,M-11,A-1';
  const header = 'full_name,identity_card,member_code,cooperative_code';
  const { faults } = await importText(place, 'members', `${header}\n${below}\n`);
  assert.match(faults[0]?.message ?? '', /Expected 4 cells, found 7/);
});

test('the header is found where the rows after it come in other batches', async (context) => {
  const place = await startedPlace(context);
  const rows = Array.from({ length: 9_000 }, (_, i) => member(100 + i));
  const { report, notes } = await importText(place, 'members', `Abahuje,,,\n${members(...rows)}`);
  assert.deepEqual([report.rows, notes], [9_000, ['title_row  1']]);
});

test('a map says on which line the header is, but of corrected rejects the first row is the header', async (context) => {
  const place = await startedPlace(context);
  const map = readingMap({ headerRow: 2, columns: new Map([[foldHeading('Umuntu'), 'full_name']]) });
  const header = 'cooperative_code,identity_card,member_code,Umuntu';
  const first = await importText(place, 'members', `${MEMBERS_HEADER}\n${header}\n${member(10)}\n`, { map });
  assert.deepEqual([first.report.rows, first.notes], [1, []]);
  const rejects = `${header},registry_faults\n${member(11)},Wrong.\n`;
  for (const isStrict of [false, true]) {
    const { report, notes } = await importText(place, 'members', rejects, { map, isStrict });
    assert.deepEqual([report.outcome, report.rows, notes], ['imported', 1, []]);
  }
  const { faults } = await importText(place, 'members', `${header}\n`, { map });
  assert.deepEqual(
    faults.map(({ line, message }) => [line, message]),
    [[2, 'The map expects the header on this line, which is empty.']],
  );
});

test('a typing error of a column that the file lacks is a fault with a suggestion', async (context) => {
  const place = await startedPlace(context);
  const faultsOf = async (header: string) =>
    (await importText(place, 'members', `${header}\n`)).faults.map(({ column, message }) => [
      column,
      message,
    ]);
  assert.deepEqual(await faultsOf(`${MEMBERS_HEADER},Mobil`), [
    ['mobil', 'Unknown column "mobil". Did you mean "mobile"?'],
  ]);
  assert.deepEqual(await faultsOf(`${MEMBERS_HEADER},date of brith 2`), [
    ['', 'Unknown column in position 5. Did you mean "date_of_birth"?'],
  ]);
  assert.deepEqual(await faultsOf(`${MEMBERS_HEADER},mobile,mobil`), []);
});

test('two headings of one column are a fault, whichever words they use', async (context) => {
  const place = await startedPlace(context);
  const { faults } = await importText(place, 'members', `${MEMBERS_HEADER},Indangamuntu\n`);
  assert.deepEqual(
    faults.map(({ column, message }) => [column, message]),
    [['identity_card', 'The headings in positions 2 and 5 both mean this column. Let a map ignore one.']],
  );
});

test('a constant fills a column, and is a fault beside the column or with an invalid value', async (context) => {
  const place = await startedPlace(context);
  const given = (code: string) => ({ map: readingMap({ constants: new Map([['cooperative_code', code]]) }) });
  const faultsOf = async (content: string, code: string) =>
    (await importText(place, 'members', content, given(code))).faults.map(
      ({ line, column, message, refuses }) => [line, column, message, refuses],
    );
  const content = `identity_card,member_code,full_name\n${nid(10)},M-10,Keza\n`;
  assert.deepEqual(await faultsOf(content, 'A-1'), []);
  assert.deepEqual(await faultsOf(members(member(11)), 'A-1'), [
    [
      1,
      'cooperative_code',
      'The file has this column, and --cooperative or the map gives a code too. Leave out one of them.',
      'file',
    ],
  ]);
  const invalid = 'The constant for this column is invalid. Use only the characters A-Z, 0-9 and "-".';
  assert.deepEqual(await faultsOf(content, 'a 1'), [[1, 'cooperative_code', invalid, 'file']]);
  const missing =
    'The column is missing. For a file of one cooperative, give its code with --cooperative CODE.';
  assert.deepEqual(await faultsOf(content, ' '), [[1, 'cooperative_code', missing, 'file']]);
});

test('a row of totals is skipped only if nothing identifies it', async (context) => {
  const place = await startedPlace(context);
  const skipped = ['TOTAL,,,', 'Total général:,,,12', ',,,Sous-total', 'A-1,,,Igiteranyo', ',Yose: 3'];
  for (const row of skipped) {
    const { report, notes } = await importText(place, 'members', members(member(10), row));
    assert.deepEqual([report.outcome, report.rows, notes], ['imported', 1, ['totals_row  3']], row);
  }
  const refused = [
    `Total,${nid(11)},,`,
    'Total,,M-11,',
    'A-1,,M-11,Total',
    'A-1,,,Totality',
    'A-1,,,Uwase Total',
  ];
  for (const row of refused) {
    const { report, notes } = await importText(place, 'members', members(member(10), row));
    assert.deepEqual([report.outcome, notes], ['refused', []], row);
  }
  const person = await importText(place, 'members', members(`A-1,${nid(12)},M-12,Total`));
  assert.deepEqual([person.report.changes.created, person.notes], [1, []]);
});

test('with --strict, notes of the file and of its rows are faults', async (context) => {
  const place = await startedPlace(context);
  const content = `Abahuje,,,\n${MEMBERS_HEADER.replace('full_name', 'Amazina')}\n${member(10)}\nTotal,,,\n`;
  const { faults, report } = await importText(place, 'members', content, { isStrict: true });
  assert.deepEqual(
    faults.map(({ line, column, message, refuses }) => [line, column, message, refuses]),
    [
      [1, '', 'Refused with --strict: this line is above the header.', 'file'],
      [2, 'full_name', 'Refused with --strict: the heading is not the name of the column.', 'file'],
      [4, '', 'Refused with --strict: this is a row of totals.', 'row'],
    ],
  );
  assert.deepEqual([report.outcome, report.notes], ['refused', []]);
});

test('a complete row is never one of totals, whatever its code and name', async (context) => {
  const place = await startedPlace(context);
  const { report, notes } = await importText(place, 'cooperatives', 'code,name\nTOTAL,Total Cooperative\n');
  assert.deepEqual([report.changes.created, notes], [1, []]);
});
