/** Statistics over months, in another time zone, and beyond 2^53; their totals are kept by every write. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { checkStorage } from '../../../src/check/check.ts';
import { changeTimeZone } from '../../../src/health/derived-data-commands.ts';
import {
  openStatisticsOf,
  openStatisticsReader,
  type Statistics,
} from '../../../src/statistics/statistics-store.ts';
import { KIGALI, parseTimeZone, type TimeZone } from '../../../src/values/date-time.ts';
import { importPlace, member, members, nid } from '../../support/importing.ts';
import { openFile } from '../../support/sqlite.ts';
import { storageAt } from '../../support/storage.ts';

/** 2025-06-15T12:00:00+02:00. */
const NOW = Date.UTC(2025, 5, 15, 10) / 1000;
/** 2025-06-30T23:59:59+02:00. */
const END_OF_JUNE = Date.UTC(2025, 5, 30, 21, 59, 59) / 1000;
const DELIVERIES = 'cooperative_code,member_code,reference,delivered_at,kg,product\n';

/** Members 1 and 2 in A-1, 3 in B-2; the first and last moments of months. */
async function start(context: TestContext) {
  const place = importPlace(context);
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
  await place.load('members', members(member(1), member(2), `B-2,${nid(3)},N-3,Person 3`));
  const rows = [
    ['M-1', 'P-1', '2023-06-30T23:59:59+02:00', '1', 'milk'],
    ['M-1', 'P-2', '2023-07-01T00:00:00+02:00', '9999999.999', 'milk'],
    ['M-2', 'P-3', '2023-07-31T23:59:59+02:00', '9999999.999', 'milk'],
    ['M-1', 'P-4', '2025-06-01T00:00:00+02:00', '4', ''],
  ].map((row) => `A-1,${row.join(',')}\n`);
  await place.load('production', DELIVERIES + rows.join(''));
  const file = join(place.folder, 'registry.db');
  const db = openFile(file);
  context.after(() => db.close());
  return { place, file, db, reader: openStatisticsReader(db, KIGALI) };
}

const producedIn = ({ production }: Pick<Statistics, 'production'>) =>
  production.map(({ month, product, deliveries, grams }) => [month, product, deliveries, grams]);
const JULY = ['2023-07', 'milk', 2, 19_999_999_998];
const JUNE = ['2025-06', null, 1, 4_000];

test('24 calendar months of the zone count, and the first goes when the next begins', async (context) => {
  const { reader } = await start(context);
  const at = (now: number) => producedIn(reader.ofCountry(null, now));
  assert.deepEqual(at(NOW), [JULY, JUNE]);
  assert.deepEqual(at(END_OF_JUNE), [JULY, JUNE]);
  assert.deepEqual(at(END_OF_JUNE + 1), [JUNE]);
  assert.deepEqual(at(NOW), [JULY, JUNE]);
});

test('the sums of several cooperatives are kept until somebody writes, for each group of them', async (context) => {
  const { place, reader } = await start(context);
  const before = reader.ofCountry(null, NOW);
  assert.equal(reader.ofCountry(null, NOW + 1).members, before.members);
  await place.load('members', members(member(4)));
  const after = reader.ofCountry(null, NOW);
  assert.deepEqual(
    [after.members.total, after.sequence],
    [4, place.value('SELECT max(sequence) FROM events')],
  );
  assert.equal(reader.ofCountry([2], NOW).members.total, 1);
  assert.equal(reader.ofCooperative(9, NOW), undefined);
});

test('in another time zone nothing is answered until the registry is moved to it', async (context) => {
  const { file, db, reader } = await start(context);
  const zone = parseTimeZone('+03:00') as TimeZone;
  const moved = openStatisticsReader(db, zone);
  const refused = { name: 'RegistryError', code: 'unavailable' };
  assert.throws(() => moved.ofCountry(null, NOW), refused);
  assert.throws(() => openStatisticsOf(storageAt(file, zone)), /Set TIME_ZONE_OFFSET=\+02:00, or move/);
  await assert.rejects(changeTimeZone(storageAt(file, zone), NOW), /has .* open. Stop the service/);
  assert.deepEqual(producedIn(reader.ofCountry(null, NOW)), [JULY, JUNE]);
  db.close();
  assert.equal(await changeTimeZone(storageAt(file, zone), NOW), 2);
  assert.throws(() => openStatisticsOf(storageAt(file)), /is in the time zone \+03:00/);
  const statistics = openStatisticsOf(storageAt(file, zone));
  assert.deepEqual(producedIn(statistics.ofCountry(null, NOW)), [
    ['2023-07', 'milk', 2, 1_000 + 9_999_999_999],
    ['2023-08', 'milk', 1, 9_999_999_999],
    JUNE,
  ]);
  statistics.close();
});

test('a large import adds its rows as a set, beside those that are there', async (context) => {
  const { place, file, reader } = await start(context);
  const faults = async () => (await checkStorage(storageAt(file))).filter(({ fault }) => fault !== null);
  const rows = (from: number, count: number) =>
    Array.from(
      { length: count },
      (_, i) => `A-1,M-1,R-${from + i},2025-05-${10 + (i % 20)},${(from + i) / 1_000},tea\n`,
    );
  const tea = () => producedIn(reader.ofCountry(null, NOW)).filter(([, product]) => product === 'tea');
  for (const [from, count] of [
    [1, 20_000],
    [20_001, 10_000],
    [30_001, 10],
  ] as const) {
    await place.load('production', DELIVERIES + rows(from, count).join(''));
    const last = from + count - 1;
    assert.deepEqual(tea(), [['2025-05', 'tea', last, (last * (last + 1)) / 2]]);
  }
  assert.deepEqual(await faults(), []);
});

test('sums of the largest amounts are exact beyond 2^63, and the check finds a wrong total', async (context) => {
  const { file, db, reader } = await start(context);
  const amount = 99_999_999_999_999;
  db.exec(`UPDATE batches SET size = 1;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
    INSERT INTO loans (cooperative_id, member_id, reference, amount_minor, interest_rate_hundredths, status,
        paid_amount_minor, created_at, updated_at)
      SELECT 1 + i % 2, 1, 'L-' || i, ${amount}, 0, 'approved', i % 2 * ${amount}, 1, 1 FROM n;
    -- A hundred thousand times as many.
    UPDATE loan_totals SET ${['amount', 'paid', 'outstanding']
      .flatMap((sum) => [`${sum}_millions`, `${sum}_rest`])
      .map((sum) => `${sum} = ${sum} * 100000`)}`);
  const { approved } = reader.ofCountry(null, NOW).loans;
  assert.deepEqual(approved, {
    count: 1_000,
    amountMinor: BigInt(amount) * 100_000_000n,
    paidAmountMinor: BigInt(amount) * 50_000_000n,
    outstandingMinor: BigInt(amount) * 50_000_000n,
  });
  const wrong = async () =>
    (await checkStorage(storageAt(file))).filter(({ fault }) => fault !== null).map(({ check }) => check);
  const before = await wrong();
  db.exec('UPDATE production_totals SET grams_rest = grams_rest + 1');
  assert.deepEqual(
    (await wrong()).filter((check) => !before.includes(check)),
    ['totals of production_entries'],
  );
});
