/** Dates with the name of the month or a year of two digits (docs/import-reference.md#dates). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { cellContext, type DateOrder } from '../../src/import/reading/cell-context.ts';
import { readBirthDate, readDateTime, readPastDate } from '../../src/import/reading/dates.ts';
import { KIGALI } from '../../src/values/date-time.ts';
import { FieldError } from '../../src/values/errors.ts';
import { inLanguage, LANGUAGES } from '../../src/values/language.ts';
import { asMessage } from '../../src/values/message.ts';
import { testClock } from '../support/app.ts';
import { importText, startedPlace } from '../support/importing.ts';
import { rowsOf, workbookOf } from '../support/workbook.ts';

const NOW = Date.UTC(2026, 10, 28, 10);
const WRONG = 'Date has wrong format. Write 2024-03-31 or 31/03/2024.';
const unclear = (date: string) =>
  `It is unclear which number of ${date} is the day, the month and the year. ` +
  'Write the year with four digits, or name the order in a map, "dates": "dmy", "mdy" or "ymd".';

/** @returns the date or fault of a cell, and its notes */
function read(
  cell: string,
  {
    parse = readPastDate as typeof readDateTime | typeof readPastDate,
    dateOrder = undefined as DateOrder | undefined,
  } = {},
) {
  const notes: string[] = [];
  const context = {
    ...cellContext(KIGALI, NOW / 1000),
    dateOrder,
    note: (kind: string) => void notes.push(kind),
  };
  const value = parse(cell, context);
  return [value instanceof FieldError ? value.message : value, ...notes];
}

test('months are named in three languages, in full or short, in any case, with accents and dots or without', () => {
  for (const [date, cells] of [
    ['2026-01-16', ['16 January 2026', '16 janv. 2026', '16 JAN 2026', '16 Mutarama 2026', '16 mut. 2026']],
    [
      '2026-02-16',
      [
        '16 février 2026',
        '16 fevrier 2026',
        '16 févr. 2026',
        '16 FEV 2026',
        '16 Gashyantare 2026',
        'Feb 16, 2026',
      ],
    ],
    ['2026-03-16', ['16 mars 2026', '16-Mar-2026', '16 March 2026', '16 Werurwe 2026', '16 wer. 2026']],
    ['2026-04-16', ['16 avril 2026', '16 avr. 2026', '16 Apr 2026', '16 Mata 2026', '16 mat 2026']],
    ['2026-05-16', ['16 mai 2026', '16 May 2026', '16 Gicurasi 2026', '16 gic. 2026']],
    [
      '2026-06-16',
      [
        '16 juin 2026',
        'June 16, 2026',
        'June 16 2026',
        '16/Jun/2026',
        '16.Jun.2026',
        '16 Kamena 2026',
        '2026 juin 16',
      ],
    ],
    [
      '2026-07-01',
      [
        'le 1er juillet 2026',
        '1st July 2026',
        '1ᵉʳ\u00a0juil. 2026',
        '1 Nyakanga 2026',
        'ku wa 1 Nyakanga 2026',
      ],
    ],
    [
      '2026-08-16',
      [
        '16 août 2026',
        '16 AOUT 2026',
        '16 aou\u0302t 2026',
        '16 Aug. 2026',
        '16 Kanama 2026',
        '16 kan. 2026',
      ],
    ],
    ['2026-09-16', ['16 septembre 2026', '16-Sept-2026', 'Sep 16, 2026', '16 Nzeri 2026', '16 Nzeli 2026']],
    ['2026-10-16', ['16 octobre 2026', '16 Oct 2026', '16 Ukwakira 2026', '16 ukw. 2026']],
    ['2026-11-16', ['16 novembre 2026', '16 nov. 2026', '16 Ugushyingo 2026', '16 ugu. 2026']],
    ['2025-12-16', ['16 décembre 2025', '16 dec 2025', '16 Ukuboza 2025', '16 uku. 2025', '2025-Dec-16']],
  ] as const)
    for (const cell of cells) assert.deepEqual(read(cell), [date], cell);
});

test('every name of a month is read in every language', () => {
  const names = 'January February March April May June July August September October November December';
  for (const [i, month] of names.split(' ').entries())
    for (const language of LANGUAGES) {
      const date = `2025-${String(i + 1).padStart(2, '0')}-03`;
      assert.deepEqual(
        read(`3 ${inLanguage(asMessage(month), language)} 2025`),
        [date],
        `${month} ${language}`,
      );
    }
});

test('a word that begins two months or none, and an order that is in doubt, are no date', () => {
  for (const cell of [
    '3 jui 2026',
    '3 ma 2026',
    '3 marsh 2026',
    '3 fe 2026',
    '16 juin',
    'juin 2026',
    'Jun-26',
    'Jun 16 26',
    '32 juin 2026',
    '30 févr. 2026',
    '16 juin 126',
    '16 juin 2026 25:00',
    'Kamena',
  ])
    assert.deepEqual(read(cell), [WRONG], cell);
  assert.deepEqual(read('26-Jun-14', { dateOrder: 'ymd' }), [WRONG]);
  assert.deepEqual(read('14 Jun 2026', { dateOrder: 'ymd' }), ['2026-06-14']);
});

test('a time of day may follow the name of the month', () => {
  const at = Date.UTC(2026, 5, 16, 6, 30) / 1000;
  assert.deepEqual(read('16 juin 2026 8:30', { parse: readDateTime }), [at]);
  assert.deepEqual(read('June 16, 2026 08:30:00', { parse: readDateTime }), [at]);
});

test('a year of two digits is of the century that puts the day in the past, if that is not long ago', () => {
  const dateOrder = 'dmy';
  for (const [cell, date] of [
    ['28/11/26', '2026-11-28'],
    ['14-Jun-26', '2026-06-14'],
    ['1/2/00', '2000-02-01'],
    ['28/11/76', '1976-11-28'],
  ] as const)
    assert.deepEqual(read(cell, { dateOrder }), [date, 'two_digit_year'], cell);
  const refused = (date: string, one: number) => [
    `${date} may be in ${one} or ${one + 100}. Write the year with four digits.`,
  ];
  assert.deepEqual(read('29/11/26', { dateOrder }), refused('29/11/26', 1926));
  assert.deepEqual(read('30 juin 75', { dateOrder }), refused('30 juin 75', 1975));
  assert.deepEqual(read('30/06/27', { parse: readDateTime, dateOrder }), refused('30/06/27', 1927));
  for (const [cell, date] of [
    ['29/11/26', '1926-11-29'],
    ['3 Mata 58', '1958-04-03'],
  ] as const)
    assert.deepEqual(
      read(cell, { parse: readBirthDate as typeof readPastDate, dateOrder }),
      [date, 'two_digit_year'],
      cell,
    );
});

const HEADER = ['cooperative_code', 'member_code', 'reference', 'delivered_at', 'kg'];
const FORMATS = {
  csv: (rows: string[][]) => rows.map((cells) => `${cells.join(';')}\n`).join(''),
  xlsx: (rows: string[][]) => workbookOf({ sheets: [{ name: 'S', rows: rowsOf(...rows) }] }),
};

/** Imports deliveries of these days from a file of each format, which must agree. */
async function importDays(context: TestContext, days: readonly string[], dates?: DateOrder) {
  const rows = [HEADER, ...days.map((day, i) => ['A-1', 'M-1', `P-${i}`, day, '1'])];
  const map = {
    kind: 'production',
    columns: new Map(),
    constants: new Map(),
    values: new Map(),
    dates,
  } as const;
  const outcomes = [];
  for (const write of Object.values(FORMATS)) {
    const place = await startedPlace(context);
    const options = { clock: testClock(NOW), skipInvalid: true, ...(dates && { map: { ...map, dates } }) };
    const { faults, notes } = await importText(place, 'production', write(rows), options);
    outcomes.push({
      notes,
      faults: faults.map(({ line, message }) => [line, message]),
      days: place
        .query<{ at: number }>('SELECT delivered_at AS at FROM production_entries ORDER BY id')
        .map(({ at }) => new Date((at + 7200) * 1000).toISOString().slice(0, 10)),
    });
  }
  const [csv, xlsx] = outcomes;
  assert.deepEqual(xlsx, csv);
  return csv;
}

test('years of two digits are read in a column with a day above 12, beside months by name', async (context) => {
  const days = ['13/06/26', '14-Jun-26', '15 Kamena 2026', '16 juin 2026', '3/6/26', '03/05/2026'];
  assert.deepEqual(await importDays(context, days), {
    notes: ['two_digit_year delivered_at 2,3,6'],
    faults: [],
    days: ['2026-06-13', '2026-06-14', '2026-06-15', '2026-06-16', '2026-06-03', '2026-05-03'],
  });
});

test('years of two digits are refused where nothing settles the order, or another order may be meant', async (context) => {
  const faultsOf = async (days: string[], dates?: DateOrder) =>
    (await importDays(context, days, dates))?.faults;
  assert.deepEqual(await faultsOf(['03/04/26', '05/05/26', '14-Jun-26']), [
    [2, unclear('03/04/26')],
    [3, unclear('05/05/26')],
  ]);
  // Two days of 2026, rather than one day of two years.
  assert.deepEqual(await faultsOf(['26/06/13', '26/06/14', '3/4/2026']), [
    [2, unclear('26/06/13')],
    [3, unclear('26/06/14')],
    [
      4,
      '3/4/2026 may be 3 April or 4 March 2026. ' +
        'Name the order in a map, "dates": "dmy" or "mdy", or write 2024-03-31.',
    ],
  ]);
  assert.deepEqual(await faultsOf(['99/06/13', '13/06/26', '2026/06/13']), [
    [2, unclear('99/06/13')],
    [3, unclear('13/06/26')],
    [4, 'Date has wrong format. Write 2024-03-31, 31/03/2024 or 2024-03-31T08:30:00+02:00.'],
  ]);
  assert.deepEqual(await faultsOf(['99/06/13', '13/06/26']), [
    [2, unclear('99/06/13')],
    [3, unclear('13/06/26')],
  ]);
  assert.deepEqual(await faultsOf(['31/03/2026', '26/06/13', '26/06/14']), [
    [3, unclear('26/06/13')],
    [4, unclear('26/06/14')],
  ]);
  const contradictory =
    'Some dates of this column begin with the day and others with the month. Write 2024-03-31.';
  assert.deepEqual(
    await faultsOf(['13/06/26', '6/14/26', '3/4/26']),
    [2, 3, 4].map((line) => [line, contradictory]),
  );
  assert.deepEqual(await faultsOf(['13/06/26', '6/13/26'], 'dmy'), [
    [3, 'Date has wrong format. Write 2024-03-31, 31/03/2024 or 2024-03-31T08:30:00+02:00.'],
  ]);
});

test('a map settles the order of years of two digits, which are noted nevertheless', async (context) => {
  for (const [order, cell] of [
    ['dmy', '03/04/26'],
    ['mdy', '4/3/26'],
    ['ymd', '26/4/3'],
  ] as const)
    assert.deepEqual(await importDays(context, [cell], order), {
      notes: ['two_digit_year delivered_at 2'],
      faults: [],
      days: ['2026-04-03'],
    });
});

test('years that cannot be days or months show that the year is last', async (context) => {
  const days = ['15/01/99', '15/01/00', '15/01/01'];
  assert.deepEqual((await importDays(context, days))?.days, ['1999-01-15', '2000-01-15', '2001-01-15']);
});
