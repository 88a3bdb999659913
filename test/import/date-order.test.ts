/** Dates whose order of day and month the column or a map settles (docs/import-reference.md#dates). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImportOptions } from '../../src/import/import-files.ts';
import type { DateOrder } from '../../src/import/reading/cell-context.ts';
import type { FileLayout } from '../../src/import/reading/file-layout.ts';
import { type ImportPlace, importText, nid, startedPlace } from '../support/importing.ts';

const HEADER = 'cooperative_code,identity_card,member_code,full_name,date_of_birth,registration_date\n';
const file = (births: readonly string[], joined: readonly string[] = []) =>
  HEADER +
  births.map((birth, i) => `A-1,${nid(10 + i)},M-${10 + i},Person,${birth},${joined[i] ?? ''}\n`).join('');
const births = (place: ImportPlace) =>
  place.query('SELECT date_of_birth AS born FROM members WHERE id > 3 ORDER BY id').map(({ born }) => born);
const mapped = (dates: DateOrder): { map: FileLayout } => ({
  map: { kind: 'members', columns: new Map(), constants: new Map(), values: new Map(), dates },
});
const messages = async (place: ImportPlace, cells: readonly string[], options?: Partial<ImportOptions>) =>
  (await importText(place, 'members', file(cells), options)).faults.map(({ line, message }) => [
    line,
    message,
  ]);

const OTHERWISE = 'Name the order in a map, "dates": "dmy" or "mdy", or write 2024-03-31.';
const MONTH_FIRST =
  'This date begins with the month. If all dates of the file do, say so in a map, "dates": "mdy"; ' +
  'or write 2024-03-31.';
const CONTRADICTORY =
  'Some dates of this column begin with the day and others with the month. Write 2024-03-31.';

test('with two digits the day is first, with any of the separators and with a time', async (context) => {
  const place = await startedPlace(context);
  const cells = [
    '03/04/1984',
    '03-04-1984',
    '03.04.1984',
    '03/04/1984 08:30',
    '03.04.1984 8:30:15',
    '1984-04-03',
  ];
  const { report, notes } = await importText(place, 'members', file(cells));
  assert.deepEqual([report.outcome, notes], ['imported', []]);
  assert.deepEqual(new Set(births(place)), new Set(['1984-04-03']));
});

test('a day above 12 in the column settles that the day is first, for all of its dates and no other column', async (context) => {
  const place = await startedPlace(context);
  const cells = ['3/4/1984', '5.6.1984', '31-3-1984', '1/12/1984 8:30', '7/7/1984'];
  const { report, notes } = await importText(place, 'members', file(cells));
  assert.equal(report.outcome, 'imported');
  assert.deepEqual(births(place), ['1984-04-03', '1984-06-05', '1984-03-31', '1984-12-01', '1984-07-07']);
  assert.deepEqual(notes, ['date_order date_of_birth 2,3,4,5,6']);
  const { faults } = await importText(place, 'members', file(['31/3/1984'], ['3/4/2020']));
  assert.deepEqual(
    faults.map(({ column, message }) => [column, message]),
    [['registration_date', `3/4/2020 may be 3 April or 4 March 2020. ${OTHERWISE}`]],
  );
});

test('a time of day stays with its date', async (context) => {
  const place = await startedPlace(context);
  await importText(place, 'members', file(['', ''], ['3/4/2020 8:05', '13/4/2020']));
  assert.deepEqual(
    place.query('SELECT registration_date AS at FROM members WHERE id > 3 ORDER BY id').map(({ at }) => at),
    [Date.UTC(2020, 3, 3, 6, 5) / 1000, Date.UTC(2020, 3, 12, 22) / 1000],
  );
});

test('an order that nothing settles is a fault with both readings, but not where both are the same day', async (context) => {
  const place = await startedPlace(context);
  assert.deepEqual(await messages(place, ['3/4/1984', '5/5/1984', '12.1.1985']), [
    [2, `3/4/1984 may be 3 April or 4 March 1984. ${OTHERWISE}`],
    [4, `12.1.1985 may be 12 January or 1 December 1985. ${OTHERWISE}`],
  ]);
  assert.deepEqual(await messages(place, ['5/5/1984']), []);
  assert.deepEqual(births(place), ['1984-05-05']);
});

test('a column that begins with the month is refused, its two-digit dates too', async (context) => {
  const place = await startedPlace(context);
  assert.deepEqual(await messages(place, ['3/31/1984', '4/5/1984', '10/11/1984'], { skipInvalid: true }), [
    [2, MONTH_FIRST],
    [3, `4/5/1984 may be 4 May or 5 April 1984. ${OTHERWISE}`],
    [4, `10/11/1984 may be 10 November or 11 October 1984. ${OTHERWISE}`],
  ]);
  assert.deepEqual(await messages(place, ['10/11/1984', '03/31/1984'], { skipInvalid: true }), [
    [2, `10/11/1984 may be 10 November or 11 October 1984. ${OTHERWISE}`],
    [3, MONTH_FIRST],
  ]);
  assert.deepEqual(births(place), []);
});

test('a column that contradicts itself is refused', async (context) => {
  const place = await startedPlace(context);
  assert.deepEqual(await messages(place, ['31/3/1984', '3/31/1984', '4/5/1984']), [
    [3, CONTRADICTORY],
    [4, CONTRADICTORY],
  ]);
});

test('a map settles the order without a note, and a date in another order is a fault', async (context) => {
  const place = await startedPlace(context);
  for (const [order, cells] of [
    ['dmy', ['3/4/1984', '03.04.1984', '1984-04-03']],
    ['mdy', ['4/3/1984', '04-03-1984', '1984-04-03']],
    ['ymd', ['1984/4/3', '1984.04.03', '1984-04-03', '1984-4-3']],
  ] as const) {
    const { report, notes } = await importText(place, 'members', file(cells), mapped(order));
    assert.deepEqual([report.outcome, notes], ['imported', []], order);
    assert.deepEqual(new Set(births(place)), new Set(['1984-04-03']), order);
  }
  const wrong = 'Date has wrong format. Write 2024-03-31 or 31/03/2024.';
  assert.deepEqual(await messages(place, ['31/3/1984'], mapped('mdy')), [[2, wrong]]);
  assert.deepEqual(await messages(place, ['31/03/1984'], mapped('ymd')), [[2, wrong]]);
  assert.deepEqual(await messages(place, ['1984/4/3', '3/4/984', '3/4-1984', '31/3/1984 25:00']), [
    ...[2, 3, 4, 5].map((line) => [line, wrong]),
  ]);
});

test('what is no row of the table does not settle the order', async (context) => {
  const place = await startedPlace(context);
  const open = `3/4/1984 may be 3 April or 4 March 1984. ${OTHERWISE}`;
  for (const row of ['Total;;;;31/12/2019;', 'A-1;31/12/1985']) {
    const content = file(['3/4/1984']).replaceAll(',', ';');
    const { faults } = await importText(place, 'members', `${content}${row}\n`, { skipInvalid: true });
    assert.equal(faults[0]?.message, open, row);
  }
});

test('a date that a spreadsheet keeps as a text settles the order like any other', async (context) => {
  const place = await startedPlace(context);
  assert.deepEqual(await messages(place, ["'31/3/1984", '3/4/1985']), []);
  assert.deepEqual(births(place), ['1984-03-31', '1985-04-03']);
});

test('the date that settles the order may be far below, and each row is imported once', async (context) => {
  const place = await startedPlace(context);
  const cells = Array.from({ length: 9_000 }, (_, i): string => (i === 8_999 ? '31/3/1984' : '03/04/1984'));
  cells[5_000] = '3/4/1984';
  const { report, notes } = await importText(place, 'members', file(cells));
  assert.deepEqual([report.outcome, report.rows], ['imported', 9_000]);
  assert.deepEqual(notes, ['date_order date_of_birth 5002,9001']);
});
