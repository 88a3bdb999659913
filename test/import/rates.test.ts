/** Rates that may be shares of one in place of per cent (docs/import-reference.md#decimals). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { inLanguage, LANGUAGES } from '../../src/values/language.ts';
import { asMessage } from '../../src/values/message.ts';
import { importText, startedPlace } from '../support/importing.ts';
import { rowsOf, workbookOf } from '../support/workbook.ts';

const HEADER = ['cooperative_code', 'member_code', 'reference', 'amount', 'interest_rate'];
const question = (rate: string, percent: string) =>
  `It is unclear whether ${rate} means ${percent} per cent or less than one per cent. Write ${percent} for ` +
  'the first; for the second, write at most two decimals and the sign, such as 0.50%.';

/** Imports loans at these rates. @returns stored rates in hundredths, and faults with their lines */
async function importRates(context: TestContext, content: string | Buffer) {
  const place = await startedPlace(context);
  const { faults } = await importText(place, 'loans', content, { skipInvalid: true });
  return {
    rates: place
      .query<{ rate: number }>('SELECT interest_rate_hundredths AS rate FROM loans ORDER BY id')
      .map(({ rate }) => rate),
    faults: faults.map(({ line, column, message }) => [line, column, message]),
  };
}

const rowsAt = (rates: readonly (string | number)[]) => [
  HEADER,
  ...rates.map((rate, i) => ['A-1', 'M-1', `L-${i}`, '100000', rate]),
];
const csv = (...rates: string[]) =>
  rowsAt(rates)
    .map((cells) => `${cells.join(';')}\n`)
    .join('');
const xlsx = (...rates: (string | number)[]) =>
  workbookOf({ sheets: [{ name: 'S', rows: rowsOf(...rowsAt(rates)) }] });

test('a rate below one is refused beside far higher ones, with the question whether it is a share', async (context) => {
  const expected = {
    rates: [1950, 50, 0],
    faults: [
      [2, 'interest_rate', question('0.18', '18')],
      [4, 'interest_rate', question('0.195', '19.5')],
    ],
  };
  for (const content of [csv('0.18', '19.50', '0.195', '0.50%', '0.00'), xlsx(0.18, 19.5, 0.195, '0.50%', 0)])
    assert.deepEqual(await importRates(context, content), expected);
});

test('rates with a sign are others too, and commas and missing zeros make no difference', async (context) => {
  for (const other of ['20,0 %', '% 20', '20%'])
    for (const [rate, percent] of [
      ['0,2', '20'],
      ['.05', '5'],
      ['0.005', '0.5'],
      ['0,1999', '19.99'],
    ] as const)
      assert.deepEqual(
        (await importRates(context, csv(other, rate))).faults,
        [[3, 'interest_rate', question(rate, percent)]],
        `${other} ${rate}`,
      );
});

test('rates are read where none is ten times as high, or above one', async (context) => {
  for (const rates of [
    ['0.99', '1'],
    ['0.5', '4.99'],
    ['0.05', '0.99'],
  ])
    assert.deepEqual((await importRates(context, csv(...rates))).faults, [], rates.join());
  for (const rates of [
    ['0.5', '5'],
    ['0.09', '1'],
  ])
    assert.equal((await importRates(context, csv(...rates))).faults.length, 1, rates.join());
});

test('rates below one are read where no other is above, unless they have more than two decimals', async (context) => {
  const { rates, faults } = await importRates(context, csv('0.18', '0.5', '0.20%', '0.185', '0.00'));
  assert.deepEqual(rates, [18, 50, 20, 0]);
  assert.deepEqual(faults, [[5, 'interest_rate', question('0.185', '18.5')]]);
});

test('a row that is not of the table is no other rate', async (context) => {
  const content = `${csv('0.18')}Total;;;100000;19.5\n`;
  assert.deepEqual(await importRates(context, content), { rates: [18], faults: [] });
});

test('the question is asked in three languages', () => {
  const template = question('{rate}', '{percent}');
  assert.equal(new Set(LANGUAGES.map((language) => inLanguage(asMessage(template), language))).size, 3);
});
