/** The files of data/samples, each as delivered: what comes in of them (docs/importing.md). */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type ImportPlace, importPlace } from '../support/importing.ts';

const SAMPLES = fileURLToPath(new URL('../../data/samples/', import.meta.url));
/** After the newest date in them. */
const AS_OF_MS = Date.UTC(2026, 9, 1);

const sample = (name: string) => join(SAMPLES, name);
const MEMBERS = {
  kinyarwanda: ['members', sample('members-kinyarwanda.csv'), '--cooperative', 'URUGERO-KAWA'],
  french: ['members', sample('members-french.csv'), '--map', sample('members-french-map.json')],
  english: ['members', sample('members-english.csv'), '--cooperative', 'URUGERO-UBUDOZI'],
};

async function importSamples(place: ImportPlace, ...files: readonly (readonly string[])[]): Promise<void> {
  for (const args of files) {
    const { status, err } = await place.run(...args);
    assert.equal(status, 0, err);
  }
}

async function samplesPlace(context: TestContext, ...files: readonly (readonly string[])[]) {
  const place = importPlace(context);
  place.clock.advance(AS_OF_MS - place.clock.now());
  await importSamples(place, ['cooperatives', sample('cooperatives.csv')], ...files);
  return place;
}

/** Rows as texts, in the order of their ids. */
const rowsOf = (place: ImportPlace, columns: string, from: string): string[] =>
  place.query(`SELECT ${columns} FROM ${from} ORDER BY t.id`).map((row) => Object.values(row).join('|'));

const MEMBER_COLUMNS = `member_code, identity_card, full_name, gender, date_of_birth, mobile, role, status,
  date(registration_date, 'unixepoch', '+2 hours')`;

test('the Kinyarwanda list comes in without its titles, its empty row and its total', async (context) => {
  const place = await samplesPlace(context, MEMBERS.kinyarwanda);
  const rows = rowsOf(place, MEMBER_COLUMNS, 'members t');
  assert.equal(rows.length, 12);
  assert.deepEqual(rows.slice(0, 5), [
    'KW-001|1198079400137140|Mukatuzeru Espérance|FEMALE||+250788000000|PRESIDENT|active|2013-01-01',
    'KW-002|1197489400274269|Nkurunziro Aimé|MALE||+250788001234|VICE_PRESIDENT|active|2014-02-06',
    'KW-003|1199179400411001|Uwimbabaze Chantalle|FEMALE||+250788002468|SECRETARY|active|2015-03-11',
    'KW-004|1196889400548130|Habyarugira Désiré|MALE||+250788003702|TREASURER|active|2016-04-16',
    'KW-005|1195979400685259|Nyirandimubanze Odette|FEMALE|||MEMBER|active|2017-05-21',
  ]);
  assert.equal(
    rows.at(-1),
    'KW-012|1199089401644068|Rukundore Étienne-Marie|MALE||+250788013574|MEMBER|active|2015-12-02',
  );
});

test('the French list needs a map for one word, and its dates are read day first', async (context) => {
  const place = await samplesPlace(context);
  const refused = await place.run('members', sample('members-french.csv'));
  assert.equal(refused.status, 1);
  assert.match(refused.err, /line 6, column status: "Démissionnaire" is not a valid choice/);
  assert.equal(place.value('SELECT count(*) FROM members'), 0);
  await importSamples(place, MEMBERS.french);
  const rows = rowsOf(place, MEMBER_COLUMNS, 'members t');
  assert.equal(rows.length, 10);
  assert.deepEqual(
    [rows[1], rows[4], rows[6], rows[8]],
    [
      'AM02|1198889400822088|Jean Pierre TUYIBERUKA' +
        '|MALE|1988-08-04|+250788006170|VICE_PRESIDENT|active|2016-06-12',
      'AM05|1199579401233078|Clémence INGABIRWA|FEMALE|1995-05-13|+250788009872|MEMBER|withdrawn|2019-09-17',
      'AM07|1196479401507239|Agnes UMWIBATEGA|FEMALE|1964-07-19|+250788012340|MEMBER|deceased|2015-07-11',
      'AM09|1198679401781100|Josianne MUKAGASANZA' +
        '|FEMALE|1986-09-25|+250788014808|ADVISOR|suspended|2017-05-05',
    ],
  );
});

test('the English list takes its cooperative from the command and the first of two telephones', async (context) => {
  const place = await samplesPlace(context, MEMBERS.english);
  const rows = rowsOf(place, MEMBER_COLUMNS, 'members t');
  assert.equal(rows.length, 8);
  assert.deepEqual(
    [rows[0], rows[1], rows[3]],
    [
      'UB/01|1199579401233078|Ingabirwa, Clémence|FEMALE||+250788009872|PRESIDENT|active|2014-01-01',
      'UB/02|1197189401370110|Ndayisenge, Fidélio|MALE||+250788011106|SECRETARY|active|2015-02-10',
      'UB/04|1199089401644068|Rukundore, Étienne-Marie|MALE|||MEMBER|active|2017-04-01',
    ],
  );
});

const LEDGER = ['production', sample('production-coffee-ledger.csv'), '--cooperative', 'URUGERO-KAWA'];

test('the ledger knows people by national ID, and its sum is the total that it states', async (context) => {
  const place = await samplesPlace(context, MEMBERS.kinyarwanda, LEDGER);
  const rows = rowsOf(
    place,
    "member_code, date(delivered_at, 'unixepoch', '+2 hours'), grams",
    'production_entries t JOIN members m ON m.id = t.member_id',
  );
  assert.equal(rows.length, 25);
  assert.deepEqual(rows.slice(6, 8), ['KW-007|2026-03-11|88125', 'KW-008|2026-03-12|12500']);
  assert.deepEqual(rows.slice(23), ['KW-012|2026-03-30|19000', 'KW-012|2026-03-30|19000']);
  assert.equal(place.value('SELECT sum(grams) FROM production_entries'), 1_329_750);
  const before = place.query('SELECT * FROM production_entries');
  await importSamples(place, LEDGER);
  assert.deepEqual(place.query('SELECT * FROM production_entries'), before);
});

test('the workbook of loans and the savings of "Unicode text" come in', async (context) => {
  const place = await samplesPlace(
    context,
    MEMBERS.french,
    ['loans', sample('loans-workbook.xlsx'), '--cooperative', 'URUGERO-AMATA'],
    ['savings', sample('savings-unicode.csv'), '--cooperative', 'URUGERO-AMATA'],
  );
  const loans = rowsOf(
    place,
    `reference, amount_minor, interest_rate_hundredths, status, paid_amount_minor,
     date(loan_start_date, 'unixepoch', '+2 hours'), date(loan_end_date, 'unixepoch', '+2 hours')`,
    'loans t',
  );
  assert.equal(loans.length, 6);
  assert.deepEqual(loans.slice(0, 3), [
    'L-2026-01|15000000|1450|approved|1250050|2026-01-05|2027-01-04',
    'L-2026-02|30000000|1800|paid|30000000|2026-02-05|2027-02-04',
    'L-2026-03|45000000|1450|pending|0||',
  ]);
  const savings = rowsOf(
    place,
    "account_number, kind, amount_minor, datetime(transacted_at, 'unixepoch', '+2 hours')",
    'savings_transactions t JOIN savings_accounts a ON a.id = t.account_id',
  );
  assert.equal(savings.length, 14);
  assert.deepEqual(
    [savings[0], savings[2], savings[4]],
    [
      'EP-001|contribution|500000|2026-04-03 08:15:00',
      'EP-003|contribution|200050|2026-06-05 10:15:00',
      'EP-005|withdrawal|500000|2026-05-07 12:15:00',
    ],
  );
});

const LOANS = ['loans', sample('loans-workbook.xlsx'), '--map', sample('loans-map.json')];
const PAYMENTS = ['payments', sample('payments-french.csv'), '--cooperative', 'URUGERO-AMATA'];

test('the payments add to what the workbook counts until the day that its map names', async (context) => {
  const place = await samplesPlace(context, MEMBERS.french, LOANS, PAYMENTS);
  const payments = rowsOf(
    place,
    `t.reference, l.reference AS loan, t.amount_minor, method, t.status,
     datetime(paid_at, 'unixepoch', '+2 hours')`,
    'payments t JOIN loans l ON l.id = t.loan_id',
  );
  assert.deepEqual(payments, [
    'R-101|L-2026-01|1250050|cash|recorded|2026-07-05 00:00:00',
    'R-102|L-2026-04|2500000|mobile_money|recorded|2026-07-07 00:00:00',
    'R-103|L-2026-01|1250050|bank|recorded|2026-08-05 00:00:00',
    'R-104|L-2026-05|1000000|deduction|recorded|2026-08-09 00:00:00',
    'R-105|L-2026-06|15000000|mobile_money|void|2026-08-12 00:00:00',
    'R-106|L-2026-06|1500000|mobile_money|recorded|2026-08-12 00:00:00',
    'R-107|L-2026-02|125025|cash|recorded|2026-09-15 00:00:00',
  ]);
  // The total that the file states, without the cancelled receipt.
  assert.equal(place.value("SELECT sum(amount_minor) FROM payments WHERE status = 'recorded'"), 7_625_125);
  const loans = rowsOf(
    place,
    `reference, opening_balance_minor, datetime(paid_until, 'unixepoch', '+2 hours'), paid_amount_minor`,
    'loans t',
  );
  assert.deepEqual(loans, [
    'L-2026-01|1250050|2026-06-30 00:00:00|3750150',
    'L-2026-02|30000000|2026-06-30 00:00:00|30125025',
    'L-2026-03|0||0',
    'L-2026-04|5000200|2026-06-30 00:00:00|7500200',
    'L-2026-05|6250250|2026-06-30 00:00:00|7250250',
    'L-2026-06|7500300|2026-06-30 00:00:00|9000300',
  ]);
});

test('every sample imported again changes nothing', async (context) => {
  const files = [
    MEMBERS.kinyarwanda,
    MEMBERS.french,
    MEMBERS.english,
    LEDGER,
    LOANS,
    PAYMENTS,
    ['savings', sample('savings-unicode.csv'), '--cooperative', 'URUGERO-AMATA'],
  ];
  const place = await samplesPlace(context, ...files);
  const everything = () =>
    ['members', 'production_entries', 'loans', 'payments', 'savings_transactions'].map((table) =>
      place.query(`SELECT * FROM ${table}`),
    );
  const before = everything();
  place.clock.advance(60_000);
  await importSamples(place, ...files);
  assert.deepEqual(everything(), before);
});
