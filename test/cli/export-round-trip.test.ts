/** What `export` writes, `import` reads back as the same registry, whatever its values look like. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { asTextCell } from '../../src/formats/spreadsheet-cells-and-empty-words.ts';
import { formatCsvRow } from '../../src/formats/write-csv-and-workbooks.ts';
import { LANGUAGES } from '../../src/values/language.ts';
import { parseText } from '../../src/values/text.ts';
import { type ImportPlace, importPlace, nid } from '../support/importing.ts';
import { quickOrLong } from '../support/quick-or-long.ts';

const ERRORS = ['#N/A', '#REF!', 'Err:502'];

const LOOK_LIKE_SOMETHING = [
  ...['=1+1', '="07"', '="-"', "'07", "'=x", '-', 'n/a', 'Nta', '007', '+1', '@SUM(A1)', '-5'],
  ...ERRORS,
  ...['1.19858E+15', '2024-03-31', '31/03/2024', '1,250', '12.500', '1e3', 'TRUE', 'Total', 'TOTAL', '0'],
  ...[
    'a,b',
    'a;b',
    'a|b',
    '"q"',
    'a"b',
    '""',
    '<b>&amp;',
    ']]>',
    '_x0041_',
    '_X000d_x0041_',
    'É’lodie',
    '\ufffe\uffff',
    '𝒳',
    'id',
    'name',
  ],
];

const text = fc
  .oneof(
    fc.constantFrom(...LOOK_LIKE_SOMETHING),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }),
    fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 12 }),
  )
  .map((given) => parseText(given, 30))
  .filter((parsed) => typeof parsed === 'string');

const PEOPLE = 4;
/** Always there: a name, two places that may be missing, and a name. */
const ALWAYS = ['_x0041_', '-', '="x"', "'07"];
const texts = fc.array(text, { minLength: 40, maxLength: 40 }).map((given) => [...ALWAYS, ...given]);
/** Unique ones, also where letter cases and accents do not count. */
const unique = fc.uniqueArray(text, { minLength: 30, maxLength: 30, selector: (each) => each.toLowerCase() });

type Cells = readonly (string | number | null)[];

const line = (cells: Cells): string => formatCsvRow(cells.map((cell) => asTextCell(String(cell ?? ''))));
const csv = (header: string, rows: readonly Cells[]): string => `${header}\n${rows.map(line).join('')}`;

/** Fills a registry from files whose texts are these. */
async function fill(place: ImportPlace, any: readonly string[], own: readonly string[]): Promise<void> {
  const load = async (kind: string, header: string, rows: readonly Cells[]) => {
    const { status, out, err } = await place.load(kind, csv(header, rows), '--yes');
    assert.equal(status, 0, out + err);
  };
  const some = any.values();
  const next = (): string => some.next().value as string;
  const key = own.values();
  const unused = (): string => key.next().value as string;
  await load('cooperatives', 'code,name,sector,province,district,registration_date,status', [
    ['A-1', next(), 'other', next(), next(), '1999-12-31', 'active'],
    ['7', next(), null, null, null, null, 'dissolved'],
  ]);
  const codes = Array.from({ length: PEOPLE }, unused);
  const people = codes.map((code, i) => ({ cooperative: i < 3 ? 'A-1' : '7', code, nid: nid(i + 1) }));
  await load(
    'members',
    'cooperative_code,identity_card,member_code,full_name,first_name,last_name,gender,date_of_birth,mobile,' +
      'role,status,registration_date',
    people.map((person, i) => [
      ...[person.cooperative, person.nid, person.code, next()],
      ...(i === 0 ? [null, null] : [next(), next()]),
      ...(i === 1 ? [null, null, null] : ['OTHER', '1899-12-31', '+250788000001']),
      ...['TREASURER', i === 2 ? 'withdrawn' : 'active', `2024-0${i + 1}-29T23:59:59+02:00`],
    ]),
  );
  const delivery = (i: number) => [people[i]?.cooperative, people[i]?.code, `2024-05-0${i + 1}`, '12.500'];
  await load('production', 'cooperative_code,member_code,delivered_at,kg,product,reference', [
    ...people.map((_, i) => [...delivery(i), next(), i === 0 ? null : unused()] as Cells),
    [...delivery(0), 'twice', null] as Cells,
    [...delivery(0), 'twice', null] as Cells,
  ]);
  const loans = ['pending', 'approved', 'defaulted', 'paid'].map((status) => ({
    status,
    reference: unused(),
  }));
  await load(
    'loans',
    'cooperative_code,identity_card,reference,amount,interest_rate,status,paid_amount,paid_until,' +
      'loan_start_date,loan_end_date,approved_at',
    loans.map(({ status, reference }, i) => [
      ...['A-1', nid(1 + (i % 3)), reference, '123456789012.34', '0.05', status],
      ...(i % 2 === 0 ? [null, null] : ['0.01', '2024-06-30T23:59:59+02:00']),
      ...(i === 0 ? [null, '2999-12-31', null] : ['2024-01-01T00:00:01+02:00', null, '2024-01-01']),
    ]),
  );
  await load('payments', 'cooperative_code,loan_reference,reference,amount,method,status,paid_at', [
    ['A-1', loans[1]?.reference ?? '', unused(), '1000.10', 'cash', 'recorded', '2024-07-01T00:00:01+02:00'],
    ['A-1', loans[2]?.reference ?? '', unused(), '2.00', 'mobile_money', 'void', '2024-07-02'],
  ]);
  const account = unused();
  const saving = ['A-1', people[0]?.code ?? '', account];
  await load('savings', 'cooperative_code,member_code,account_number,reference,kind,amount,transacted_at', [
    [...saving, unused(), 'contribution', '5.50', '2024-01-02'],
    [...saving, null, 'withdrawal', '1.00', '2024-01-03T08:00:00+02:00'],
  ]);
}

const CODES = '(SELECT code FROM cooperatives WHERE id = t.cooperative_id) AS cooperative';
const MEMBER = (id: string) => `(SELECT member_code FROM members WHERE id = ${id}) AS member`;
const OWN_ROWS = [
  'SELECT code, name, sector, province, district, registration_date, status FROM cooperatives t',
  `SELECT ${CODES}, identity_card, member_code, full_name, first_name, last_name, gender, date_of_birth,
     mobile, role, status, registration_date FROM members t`,
  `SELECT ${CODES}, ${MEMBER('t.member_id')}, reference, delivered_at, grams, product
   FROM production_entries t`,
  `SELECT ${CODES}, ${MEMBER('t.member_id')}, reference, amount_minor, interest_rate_hundredths, status,
     paid_amount_minor, opening_balance_minor, paid_until, loan_start_date, loan_end_date, approved_at
   FROM loans t`,
  `SELECT ${CODES}, (SELECT reference FROM loans WHERE id = t.loan_id) AS loan, reference,
     amount_minor, method, status, paid_at FROM payments t`,
  `SELECT ${CODES}, ${MEMBER('t.member_id')}, account_number FROM savings_accounts t`,
  `SELECT ${CODES}, (SELECT account_number FROM savings_accounts WHERE id = t.account_id) AS account,
     reference, kind, amount_minor, transacted_at FROM savings_transactions t`,
];

/** Everything but ids and what is computed, in order of id. */
const contentOf = (place: ImportPlace) => OWN_ROWS.map((sql) => place.query(`${sql} ORDER BY t.id`));

async function goRound(place: ImportPlace, copy: ImportPlace, options: readonly string[]): Promise<void> {
  const folder = join(copy.folder, 'exported');
  const exported = await place.command('export', 'all', '--out', folder, ...options);
  assert.equal(exported.status, 0, exported.err);
  const { status, out, err } = await copy.run(folder, '--yes');
  assert.equal(status, 0, out + err);
  assert.deepEqual(contentOf(copy), contentOf(place));
  // The files are what the registry has: nothing is new, and nothing changes.
  const again = await place.run(folder, '--yes');
  assert.equal(again.status, 0, again.out + again.err);
  assert.doesNotMatch(again.out, /[1-9]\d* (?:new|changed)/);
}

const property = (context: TestContext, options: fc.Arbitrary<readonly string[]>) =>
  fc.assert(
    fc.asyncProperty(texts, unique, options, async (any, own, chosen) => {
      const [place, copy] = [importPlace(context), importPlace(context)];
      await fill(place, any, own);
      assert.equal(place.value('SELECT full_name FROM members WHERE id = 1'), any[4]);
      await goRound(place, copy, chosen);
      const { out } = await copy.command('check');
      assert.match(out, /is sound/);
    }),
    {
      numRuns: quickOrLong(2, 60),
      endOnFailure: true,
      ...(process.env.SEED ? { seed: Number(process.env.SEED) } : {}),
    },
  );

const FORMATS = ['csv', 'xlsx'];

for (const format of FORMATS)
  test(`${format} of texts that look like errors of formulas is imported as it was`, async (context) => {
    const [place, copy] = [importPlace(context), importPlace(context)];
    const rows = ERRORS.map((text, i) => [`C-${i}`, text]);
    assert.equal((await place.load('cooperatives', csv('code,name', rows))).status, 0);
    await goRound(place, copy, ['--format', format]);
  });

for (const format of FORMATS)
  test(`${format} of all kinds is imported into an empty registry as the same registry`, (context) =>
    property(context, fc.constant(['--format', format])));

test('so are files for people, whatever the language of their headings and choices', (context) =>
  property(
    context,
    fc
      .record({ format: fc.constantFrom(...FORMATS), language: fc.constantFrom(...LANGUAGES) })
      .map(({ format, language }) => ['--format', format, '--labels', '--lang', language]),
  ));
