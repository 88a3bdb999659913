/** Amounts with commas, points and spaces (docs/import-reference.md#decimals). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CellContext, cellContext } from '../../src/import/reading/cell-context.ts';
import { readDecimal } from '../../src/import/reading/decimals.ts';
import type { FileLayout } from '../../src/import/reading/file-layout.ts';
import { KIGALI } from '../../src/values/date-time.ts';
import { type DecimalKind, MONEY, MONEY_OR_ZERO, RATE, WEIGHT } from '../../src/values/decimal.ts';
import { FieldError } from '../../src/values/errors.ts';
import { importText, startedPlace } from '../support/importing.ts';
import { rowsOf, workbookOf } from '../support/workbook.ts';

const UNCLEAR = /comma separates thousands or decimals/;
const POINT = /point separates thousands or decimals.*in a map, "decimal": "," or "\."/;
const COMMA = /This is a decimal comma/;
const STYLE = /The map says that decimals follow a comma/;
const TWO = /no more than 2 decimal places/;

type File = Partial<CellContext>;
const PLAIN: File = {};
const SEMICOLONS: File = { isSeparatedBySemicolons: true };
const COMMA_MAP: File = { decimalMark: ',' };
const POINT_MAP: File = { decimalMark: '.', isSeparatedBySemicolons: true };
const WORKBOOK: File = { isNumber: true, decimalMark: ',' };

/** [file, kind, cell, minor units or fault, whether it is noted] */
const CASES: readonly [File, DecimalKind, string, number | RegExp, boolean?][] = [
  [PLAIN, WEIGHT, '12500', 12_500_000],
  [PLAIN, WEIGHT, '12.500', 12_500],
  [PLAIN, WEIGHT, '12,500', UNCLEAR],
  [PLAIN, WEIGHT, '0,500', UNCLEAR],
  [PLAIN, WEIGHT, '1250,500', COMMA],
  [PLAIN, WEIGHT, '1.250,500', COMMA],
  [PLAIN, WEIGHT, '12,5', 12_500, true],
  [PLAIN, WEIGHT, '1250,50', 1_250_500, true],
  [PLAIN, WEIGHT, '1 250,5', 1_250_500, true],
  [PLAIN, WEIGHT, '1.250,5', 1_250_500, true],
  [PLAIN, WEIGHT, '1,250,5', COMMA],
  [PLAIN, WEIGHT, '1,25 0', COMMA],
  [PLAIN, WEIGHT, '12,50,5', COMMA],
  [PLAIN, WEIGHT, '4O,5', /valid number/],
  [PLAIN, MONEY, '12,500', 1_250_000],
  [PLAIN, MONEY, '1,250,000.50', 125_000_050],
  [PLAIN, MONEY, '1250,50', 125_050, true],
  [PLAIN, MONEY, '1.250', POINT],
  [PLAIN, MONEY_OR_ZERO, '100.000 Frw', POINT],
  [PLAIN, MONEY, '0.500', TWO],
  [PLAIN, MONEY, '1250.500', TWO],
  [PLAIN, RATE, '19.500', TWO],
  [PLAIN, WEIGHT, '12.500 kg', 12_500],
  [SEMICOLONS, MONEY, '100.000', POINT],
  [COMMA_MAP, MONEY, '100.000 Frw', 10_000_000],
  [POINT_MAP, MONEY, '100.000', TWO],
  [SEMICOLONS, WEIGHT, '12,500', 12_500, true],
  [SEMICOLONS, WEIGHT, '12.500', 12_500],
  [SEMICOLONS, WEIGHT, '1.250,50', 1_250_500, true],
  [SEMICOLONS, WEIGHT, '1,250,000', 1_250_000_000],
  [SEMICOLONS, MONEY, '1,250', TWO],
  [SEMICOLONS, MONEY, '1\u202f250,50', 125_050, true],
  [SEMICOLONS, MONEY, '1,250.50', 125_050],
  [COMMA_MAP, WEIGHT, '12.500', 12_500_000],
  [COMMA_MAP, WEIGHT, '12,500', 12_500],
  [COMMA_MAP, WEIGHT, '12.5', STYLE],
  [COMMA_MAP, WEIGHT, '1,250,000', STYLE],
  [COMMA_MAP, MONEY, '1 250 000,50', 125_000_050],
  [COMMA_MAP, MONEY, 'many', /valid number/],
  [POINT_MAP, WEIGHT, '12,500', 12_500_000],
  [POINT_MAP, WEIGHT, '12,5', COMMA],
  [WORKBOOK, WEIGHT, '12.500', 12_500],
  [WORKBOOK, MONEY, '12.500', TWO],
];

test('a comma and a point are read as the file or the map settles them, and refused where nothing does', () => {
  for (const [file, kind, cell, expected, isNoted = false] of CASES) {
    const notes: string[] = [];
    const value = readDecimal(kind)(cell, {
      ...cellContext(KIGALI, 0),
      ...file,
      note: (note) => void notes.push(note),
    });
    const what = `${cell} ${JSON.stringify(file)}`;
    if (expected instanceof RegExp)
      assert.match(value instanceof FieldError ? value.message : '', expected, what);
    else assert.equal(value, expected, what);
    const comma = notes.filter((note) => note !== 'unit');
    assert.deepEqual(comma, isNoted ? ['decimal_comma'] : [], what);
  }
});

test('a number may have its own unit before or behind it, with a note, and no other', () => {
  for (const [kind, cell, expected] of [
    [WEIGHT, '12.5kg', 12_500],
    [WEIGHT, '1,250.5 KGS', 1_250_500],
    [WEIGHT, '12,5 kilos', 12_500],
    [MONEY, '250,000 Frw', 25_000_000],
    [MONEY, '2\u00a0000 RWF', 200_000],
    [RATE, '18%', 1_800],
    [RATE, '% 18', 1_800],
    [MONEY, 'RWF 100,000', 10_000_000],
    [MONEY, 'Frw 5 000', 500_000],
    [MONEY, 'FRW.\u00a05\u202f000', 500_000],
    [MONEY_OR_ZERO, 'Rwf100000', 10_000_000],
    [MONEY, 'francs 1250,50', 125_050],
    [WEIGHT, 'kg 12.5', 12_500],
    [WEIGHT, 'KGS 12,5', 12_500],
    [WEIGHT, 'kilos 1,250.5', 1_250_500],
    [WEIGHT, 'Frw 12.5', undefined],
    [MONEY, 'kg 12', undefined],
    [MONEY, 'USD 12', undefined],
    [MONEY, 'RWF 12 Frw', undefined],
    [MONEY, 'Frw', undefined],
    [WEIGHT, 'kg 12,500', undefined],
    [WEIGHT, '12.5 Frw', undefined],
    [WEIGHT, '12.5 t', undefined],
    [MONEY, '12 kg', undefined],
    [MONEY, '12 USD', undefined],
    [RATE, 'kg', undefined],
    [WEIGHT, 'kg', undefined],
    [WEIGHT, '12,500 kg', undefined],
  ] as const) {
    const notes: string[] = [];
    const context = { ...cellContext(KIGALI, 0), note: (note: string) => void notes.push(note) };
    const value = readDecimal(kind)(cell, context);
    assert.equal(value instanceof FieldError ? undefined : value, expected, cell);
    assert.equal(notes.includes('unit'), expected !== undefined, cell);
  }
});

const HEADER = 'cooperative_code;member_code;reference;delivered_at;kg\n';
const delivery = (n: number, kg: string) => `A-1;M-1;P-${n};2025-03-01;${kg}\n`;

test('a comma before three digits is not read beside decimals with a point', async (context) => {
  const place = await startedPlace(context);
  const refused = await importText(
    place,
    'production',
    HEADER + delivery(1, '1250.5') + delivery(2, '12,500'),
  );
  assert.match(refused.faults[0]?.message ?? '', /Name the decimal mark in a map/);
  const certain = await importText(place, 'production', HEADER + delivery(1, '1250.5') + delivery(2, '12,5'));
  assert.equal(certain.report.outcome, 'imported');
});

test('a column with decimal commas and with points before three digits is refused without a map', async (context) => {
  const place = await startedPlace(context);
  const content = HEADER + delivery(1, '12.500') + delivery(2, '1.250,5');
  const { faults, report } = await importText(place, 'production', content, { skipInvalid: true });
  assert.equal(report.outcome, 'refused');
  assert.deepEqual(
    faults.map(({ line, column, refuses }) => [line, column, refuses]),
    [[1, 'kg', 'file']],
  );
  assert.match(faults[0]?.message ?? '', /Name the decimal mark in a map/);
  const map: FileLayout = {
    ...{ kind: 'production', columns: new Map(), constants: new Map(), values: new Map(), decimal: ',' },
  };
  const mapped = await importText(place, 'production', content, { map });
  assert.deepEqual([mapped.report.outcome, mapped.notes], ['imported', []]);
  assert.deepEqual(place.query('SELECT grams FROM production_entries ORDER BY id'), [
    { grams: 12_500_000 },
    { grams: 1_250_500 },
  ]);
});

test('a column in which commas are both marks is refused if it has a value that may be read in both ways', async (context) => {
  const place = await startedPlace(context);
  const COMMAS = HEADER.replaceAll(';', ',').replace(',kg', ',amount,account_number,kind');
  const savings = (amounts: string[]) =>
    COMMAS.replace('delivered_at', 'transacted_at') +
    amounts.map((amount, i) => `A-1,M-1,P-${i},2025-03-01,"${amount}",S-1,contribution\n`).join('');
  const weights = (kgs: string[]) => HEADER + kgs.map((kg, i) => delivery(i, kg)).join('');
  for (const [kind, content, outcome] of [
    ['production', weights(['1,250', '1,250.5']), 'refused'],
    ['production', weights(['12,5', '1,250.5']), 'imported'],
    ['savings', savings(['12,500', '1250,50']), 'refused'],
    ['savings', savings(['1,250,000', '1250,50']), 'imported'],
  ] as const) {
    const { faults, report } = await importText(place, kind, content, { skipInvalid: true });
    assert.equal(report.outcome, outcome, content);
    if (outcome === 'refused') assert.match(faults[0]?.message ?? '', /12,500 may be either/);
  }
});

test('decimal commas only, or points only, need no map where semicolons separate the cells', async (context) => {
  const place = await startedPlace(context);
  const commas = await importText(place, 'production', HEADER + delivery(1, '12,500') + delivery(2, '3,5'));
  assert.deepEqual([commas.report.outcome, commas.notes], ['imported', ['decimal_comma kg 2,3']]);
  const points = await importText(place, 'production', HEADER + delivery(3, '12.500') + delivery(4, '3.5'));
  assert.deepEqual([points.report.outcome, points.notes], ['imported', []]);
  assert.equal(place.value('SELECT sum(grams) FROM production_entries'), 32_000);
});

test('a row of totals does not speak for the decimals of its column', async (context) => {
  const place = await startedPlace(context);
  const content = `${HEADER}${delivery(1, '12,500')}Total;;;;18.004\n`;
  const { report, notes } = await importText(place, 'production', content);
  assert.deepEqual([report.outcome, notes], ['imported', ['decimal_comma kg 2', 'totals_row  3']]);
});

test('a point before three digits of money asks in every format, and a map answers', async (context) => {
  const header = ['cooperative_code', 'member_code', 'reference', 'interest_rate', 'amount'];
  const rows = [
    header,
    ['A-1', 'M-1', 'L-1', '18', '100.000 Frw'],
    ['A-1', 'M-1', 'L-2', '18', 'RWF 100,000.50'],
  ];
  const map: FileLayout = {
    ...{ kind: 'loans', columns: new Map(), constants: new Map(), values: new Map(), decimal: ',' },
  };
  const files = [
    rows.map((cells) => `${cells.join('\t')}\n`).join(''),
    workbookOf({ sheets: [{ name: 'S', rows: rowsOf(...rows) }] }),
  ];
  for (const content of files) {
    const place = await startedPlace(context);
    const amounts = () => place.query('SELECT amount_minor AS amount FROM loans ORDER BY id');
    const { faults, notes } = await importText(place, 'loans', content, { skipInvalid: true });
    assert.deepEqual(
      faults.map(({ line, column }) => [line, column]),
      [[2, 'amount']],
    );
    assert.match(faults[0]?.message ?? '', POINT);
    assert.deepEqual([amounts(), notes], [[{ amount: 10_000_050 }], ['unit amount 3']]);
    await importText(place, 'loans', content, { skipInvalid: true, map });
    assert.deepEqual(amounts(), [{ amount: 10_000_050 }, { amount: 10_000_000 }]);
  }
});
