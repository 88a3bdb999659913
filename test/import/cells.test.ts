/** What spreadsheets do to cells, openly and silently (docs/import-reference.md#effects-of-spreadsheets). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  importPlace,
  LOANS_HEADER,
  members,
  nid,
  SAVINGS_HEADER,
  startedPlace,
} from '../support/importing.ts';

const MEMBERS =
  'cooperative_code,identity_card,member_code,full_name,gender,date_of_birth,mobile,registration_date';
const PRODUCTION = 'cooperative_code,member_code,reference,delivered_at,kg';
const quote = (cell: string) => `"${cell}"`;

const memberRow = (given: Record<string, string>) => {
  const row = { nid: nid(70), gender: '', born: '', mobile: '', registered: '', ...given };
  return `${MEMBERS}\nA-1,${row.nid},M-70,Keza,${row.gender},${row.born},${row.mobile},${row.registered}\n`;
};
const production = (kg: string, at = '2025-03-01') => `${PRODUCTION}\nA-1,M-1,P-1,${at},${quote(kg)}\n`;
const saving = (amount: string, kind = 'contribution', at = '2025-03-01') =>
  `${SAVINGS_HEADER}\nA-1,M-1,S-1,R-1,${kind},${quote(amount)},${at}\n`;
const loan = (given: Record<string, string>) => {
  const row = {
    amount: '1000',
    rate: '18',
    status: '',
    paid: '',
    start: '',
    end: '',
    approved: '',
    ...given,
  };
  const terms = `${quote(row.amount)},${quote(row.rate)},${row.status},${row.paid}`;
  return `${LOANS_HEADER}\nA-1,M-1,L-1,${terms},${row.start},${row.end},${row.approved}\n`;
};

/** [sentence, kind, file, query, value] */
const READ: [string, string, string, string, unknown][] = [
  [
    'a national ID with spaces',
    'members',
    memberRow({ nid: '1 1985 8 9000123 0 42' }),
    'identity_card',
    '1198589000123042',
  ],
  [
    'a national ID with no-break spaces',
    'members',
    memberRow({ nid: '1\u00a01985 8\u202f9000123 0 42' }),
    'identity_card',
    '1198589000123042',
  ],
  ...['M', 'm', 'male', 'MALE', 'Gabo', 'GABO'].map((cell): [string, string, string, string, unknown] => [
    `the gender ${cell}`,
    'members',
    memberRow({ gender: cell }),
    'gender',
    'MALE',
  ]),
  ...['F', 'f', 'Female', 'gore', 'Gore'].map((cell): [string, string, string, string, unknown] => [
    `the gender ${cell}`,
    'members',
    memberRow({ gender: cell }),
    'gender',
    'FEMALE',
  ]),
  ['the gender other', 'members', memberRow({ gender: 'other' }), 'gender', 'OTHER'],
  ['the date 2024-03-31', 'members', memberRow({ born: '1984-03-31' }), 'date_of_birth', '1984-03-31'],
  ['the date 31/03/2024', 'members', memberRow({ born: '31/03/1984' }), 'date_of_birth', '1984-03-31'],
  [
    'a date-time where a date is meant',
    'members',
    memberRow({ born: '1984-03-31T00:00:00' }),
    'date_of_birth',
    '1984-03-31',
  ],
  [
    "a date without a time as midnight in the registry's zone",
    'members',
    memberRow({ registered: '2024-03-31' }),
    'registration_date',
    Date.UTC(2024, 2, 30, 22) / 1000,
  ],
  [
    '31/03/2024 as midnight too',
    'members',
    memberRow({ registered: '31/03/2024' }),
    'registration_date',
    Date.UTC(2024, 2, 30, 22) / 1000,
  ],
  [
    "a date-time without offset in the registry's zone",
    'members',
    memberRow({ registered: '2024-03-31T08:30:00' }),
    'registration_date',
    Date.UTC(2024, 2, 31, 6, 30) / 1000,
  ],
  [
    'a date-time with its own offset',
    'members',
    memberRow({ registered: '2024-03-31T08:30:00Z' }),
    'registration_date',
    Date.UTC(2024, 2, 31, 8, 30) / 1000,
  ],
  [
    'a mobile number as people write it',
    'members',
    memberRow({ mobile: '0781 234-567' }),
    'mobile',
    '+250781234567',
  ],
  ['the amount 1,250,000.50', 'savings', saving('1,250,000.50'), 'amount_minor', 125_000_050],
  ['the amount 1 250 000', 'savings', saving('1 250 000'), 'amount_minor', 125_000_000],
  [
    'the amount 1 250 000 with no-break spaces',
    'savings',
    saving('1\u00a0250\u202f000'),
    'amount_minor',
    125_000_000,
  ],
  ['12,500 in money as thousands', 'savings', saving('12,500'), 'amount_minor', 1_250_000],
  ['the largest amount, exactly', 'savings', saving('999999999999.99'), 'amount_minor', 99_999_999_999_999],
  ['kilograms to the gram', 'production', production('14.125'), 'grams', 14_125],
  [
    '1,250,000 kg, where no decimals can be meant',
    'production',
    production('1,250,000'),
    'grams',
    1_250_000_000,
  ],
  ['a decimal comma in kilograms', 'production', production('1250,5'), 'grams', 1_250_500],
  ['a decimal comma in money', 'savings', saving('1250,50'), 'amount_minor', 125_050],
  ['a decimal comma after thousands', 'savings', saving('1.250.000,50'), 'amount_minor', 125_000_050],
  ['a decimal comma in a rate', 'loans', loan({ rate: '18,5' }), 'interest_rate_hundredths', 1850],
  ['any loan status', 'loans', loan({ status: 'defaulted' }), 'status', 'defaulted'],
  ['a loan without a status as pending', 'loans', loan({}), 'status', 'pending'],
  ['a loan without a paid amount as 0', 'loans', loan({}), 'paid_amount_minor', 0],
  ['an interest rate of 0', 'loans', loan({ rate: '0' }), 'interest_rate_hundredths', 0],
  [
    'a planned end of a loan in the future',
    'loans',
    loan({ end: '2029-01-01' }),
    'loan_end_date',
    Date.UTC(2028, 11, 31, 22) / 1000,
  ],
];

const TABLES: Record<string, string> = {
  members: 'members',
  production: 'production_entries',
  loans: 'loans',
  savings: 'savings_transactions',
};

for (const [sentence, kind, content, column, expected] of READ) {
  test(`${sentence} is read`, async (context) => {
    const place = await startedPlace(context);
    const result = await place.load(kind, content);
    assert.equal(result.status, 0, result.err);
    assert.equal(place.value(`SELECT ${column} FROM ${TABLES[kind]} ORDER BY id DESC LIMIT 1`), expected);
  });
}

const FUTURE = 'This date is in the future.';
/** [sentence, kind, file, column, message] */
const REFUSED: [string, string, string, string, RegExp][] = [
  [
    '1.19858E+15 says that a spreadsheet did it',
    'members',
    memberRow({ nid: '1.19858E+15' }),
    'identity_card',
    /spreadsheet.*number.*text/,
  ],
  [
    '1,19858E+15 says so too',
    'members',
    `${MEMBERS}\nA-1,"1,19858E+15",M-70,Keza,,,,\n`,
    'identity_card',
    /spreadsheet/,
  ],
  [
    'a national ID of 15 digits',
    'members',
    memberRow({ nid: '119858900007004' }),
    'identity_card',
    /16 digits/,
  ],
  ['31/12/1849', 'members', memberRow({ born: '31/12/1849' }), 'date_of_birth', /before 1850-01-01/],
  [
    "a date-time of 1849 in the registry's zone",
    'members',
    memberRow({ registered: '1850-01-01T00:00:00+14:00' }),
    'registration_date',
    /before 1850-01-01/,
  ],
  [
    "a loan's end after 9999 in the registry's zone",
    'loans',
    loan({ end: '9999-12-31T23:59:59-05:00' }),
    'loan_end_date',
    /after 9999-12-31/,
  ],
  [
    'a one-digit day and month',
    'members',
    memberRow({ born: '1/3/1984' }),
    'date_of_birth',
    /1 March or 3 January/,
  ],
  ['31/02/2024', 'members', memberRow({ registered: '31/02/2024' }), 'registration_date', /format/],
  ['an unknown gender', 'members', memberRow({ gender: 'X' }), 'gender', /choice/],
  ['12,500 kg is ambiguous', 'production', production('12,500'), 'kg', /thousands or decimals|ambiguous/i],
  ['three decimals after a comma', 'production', production('1250,500'), 'kg', /decimal comma/i],
  ['no number', 'production', production('many'), 'kg', /A valid number is required\./],
  ['0 kg', 'production', production('0'), 'kg', /greater than 0/],
  ['a negative amount', 'savings', saving('-5'), 'amount', /greater than 0/],
  ['an amount of 0', 'loans', loan({ amount: '0.00' }), 'amount', /greater than 0/],
  ['a rate above 100', 'loans', loan({ rate: '100.01' }), 'interest_rate', /less than or equal to 100/],
  ['a negative paid amount', 'loans', loan({ paid: '-1' }), 'paid_amount', /greater than or equal to 0/],
  ['more decimals than francs have', 'savings', saving('5.0055'), 'amount', /2 decimal places/],
  ['more than 12 digits of money', 'savings', saving('1234567890123'), 'amount', /12 digits/],
  ['more than 7 digits of kilograms', 'production', production('12345678'), 'kg', /7 digits/],
  ['an unknown kind of transaction', 'savings', saving('5', 'gift'), 'kind', /choice/],
  [
    'a birth in the future',
    'members',
    memberRow({ born: '2025-06-16' }),
    'date_of_birth',
    new RegExp(FUTURE),
  ],
  [
    'a registration in the future',
    'members',
    memberRow({ registered: '2025-06-15T12:00:01+02:00' }),
    'registration_date',
    new RegExp(FUTURE),
  ],
  [
    'a delivery in the future',
    'production',
    production('1', '2025-06-16'),
    'delivered_at',
    new RegExp(FUTURE),
  ],
  [
    'a transaction in the future',
    'savings',
    saving('1', 'withdrawal', '2025-06-16'),
    'transacted_at',
    new RegExp(FUTURE),
  ],
  ['an approval in the future', 'loans', loan({ approved: '2025-06-16' }), 'approved_at', new RegExp(FUTURE)],
  ['a required cell that is empty', 'production', production(''), 'kg', /blank/],
];

for (const [sentence, kind, content, column, message] of REFUSED) {
  test(`refused: ${sentence}`, async (context) => {
    const place = await startedPlace(context);
    const result = await place.load(kind, content);
    assert.equal(result.status, 1, result.out);
    const shown = result.err
      .split('\n')
      .find((line) => line.startsWith(`${kind}.csv line 2, column ${column}: `));
    assert.match(shown ?? '', message, result.err);
  });
}

test('a founding date in the future is refused', async (context) => {
  const place = importPlace(context);
  const result = await place.load('cooperatives', 'code,name,registration_date\nA-1,Abahuje,2025-06-16\n');
  assert.match(result.err, new RegExp(`line 2, column registration_date: ${FUTURE}`));
});

test('every fault of a row is reported, not only the first', async (context) => {
  const place = await startedPlace(context);
  const row = memberRow({ nid: '12', gender: 'X', born: 'spring', mobile: '1', registered: '2031-01-01' });
  const { errors } = JSON.parse((await place.load('members', row.replace('A-1,', 'Z-9,'), '--json')).out)
    .files[0];
  const columns = errors.map(({ column }: { column: string }) => column).sort();
  assert.deepEqual(columns, [
    'cooperative_code',
    'date_of_birth',
    'gender',
    'identity_card',
    'mobile',
    'registration_date',
  ]);
});

const endingInZero = (count: number) =>
  members(
    ...Array.from(
      { length: count },
      (_, i) => `A-1,11985890001${String(i).padStart(2, '0')}040,Z-${i},Person`,
    ),
  );

test('20 different national IDs that all end in 0 are refused with that reason', async (context) => {
  const place = await startedPlace(context);
  for (const args of [[], ['--skip-invalid'], ['--dry-run']]) {
    const result = await place.load('members', endingInZero(20), ...args);
    assert.equal(result.status, 1);
    assert.match(result.err, /column identity_card: .*end.* 0.*--accept-trailing-zero/);
  }
  assert.equal(place.value('SELECT count(*) FROM members'), 3);
  assert.equal((await place.load('members', endingInZero(20), '--accept-trailing-zero')).status, 0);
  assert.equal(place.value('SELECT count(*) FROM members'), 23);
});

test('19 national IDs that end in 0, or 20 with another one, are accepted', async (context) => {
  const place = await startedPlace(context);
  assert.equal((await place.load('members', endingInZero(19))).status, 0);
  const withAnother = `${endingInZero(20)}A-1,${nid(60)},M-60,Person\n`;
  assert.equal((await place.load('members', withAnother)).status, 0);
});

test('one person 20 times, ending in 0, is not 20 different ones', async (context) => {
  const place = await startedPlace(context);
  const rows = Array.from({ length: 20 }, (_, i) => `C-${i},1198589000100040,M-1,Person`);
  const codes = rows.map((_, i) => `C-${i},Coop ${i}`);
  assert.equal((await place.load('cooperatives', `code,name\n${codes.join('\n')}\n`)).status, 0);
  assert.equal((await place.load('members', members(...rows))).status, 0);
});
