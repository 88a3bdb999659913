/** Statistics follow the registry in turns, over months, and when events are no longer kept. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type CountryStatistics, noLoans, noMembers, sumTotals } from '../../../src/domain/statistics.ts';
import { KIGALI } from '../../../src/domain/values/date-time.ts';
import { openStatisticsReader } from '../../../src/store/sqlite/statistics/reader.ts';
import { importPlace, member, members, nid } from '../../support/importing.ts';
import { openFile } from '../../support/sqlite.ts';

/** 2025-06-15T12:00:00+02:00. */
const NOW = Date.UTC(2025, 5, 15, 10) / 1000;
/** 2025-06-30T23:59:59+02:00. */
const END_OF_JUNE = Date.UTC(2025, 5, 30, 21, 59, 59) / 1000;
const DELIVERIES = 'cooperative_code,member_code,reference,delivered_at,kg,product\n';

/** Members 1 and 2 in A-1, 3 in B-2; the first and last moments of months. @param sliceMs of a turn */
async function start(context: TestContext, sliceMs?: number) {
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
  return { place, db, reader: openStatisticsReader(db, KIGALI, sliceMs) };
}

const producedIn = ({ production }: Pick<CountryStatistics, 'production'>) =>
  production.map(({ month, product, deliveries, members: who, grams }) => [
    ...[month, product, deliveries, who, grams],
  ]);
const JULY = ['2023-07', 'milk', 2, 2, 19_999_999_998];
const JUNE = ['2025-06', null, 1, 1, 4_000];

test('24 calendar months of the zone count, and the first goes when the next begins', async (context) => {
  const { reader } = await start(context);
  const at = (now: number) => producedIn(reader.ofCountry(null, now) as CountryStatistics);
  assert.deepEqual(at(NOW), [JULY, JUNE]);
  assert.deepEqual(at(END_OF_JUNE), [JULY, JUNE]);
  assert.deepEqual(at(END_OF_JUNE + 1), [JUNE]);
  assert.deepEqual(at(NOW), [JULY, JUNE]);
});

test('all are summed in turns, and what changes between two of them is included', async (context) => {
  const { place, reader } = await start(context, -1);
  assert.equal(reader.ofCountry(null, NOW), undefined);
  await place.load('members', members(member(4)));
  let turns = 1;
  let found: CountryStatistics | undefined;
  while (found === undefined) {
    assert.ok(++turns < 10);
    found = reader.ofCountry(null, NOW);
  }
  assert.deepEqual(
    [found.members.total, found.sequence],
    [4, place.value('SELECT max(sequence) FROM events')],
  );
  assert.equal(reader.ofCountry([2], NOW)?.members.total, 1);
  assert.equal(reader.ofCountry(null, NOW)?.members.total, 4);
});

test('without the events since, everything is computed again', async (context) => {
  const { db, reader } = await start(context);
  assert.equal(reader.ofCooperative(1, NOW)?.members.byStatus.active, 2);
  db.exec(`UPDATE members SET status = 'inactive' WHERE id = 1;
    INSERT INTO events (type, row_id, cooperative_id, fields, at, actor)
      VALUES (0, 2, 2, 0, 0, 0), (0, 2, 2, 0, 0, 0)`);
  db.exec('DELETE FROM events WHERE sequence < (SELECT max(sequence) FROM events)');
  assert.equal(reader.ofCooperative(1, NOW)?.members.byStatus.active, 1);
  assert.equal(reader.ofCooperative(9, NOW), undefined);
});

test('sums of the largest amounts are exact beyond 2^53', () => {
  const amount = 99_999_999_999_999;
  const sums = { count: 1, amountMinor: amount, paidAmountMinor: 0, outstandingMinor: amount };
  const savings = { accounts: 1, contributionsMinor: amount, withdrawalsMinor: 0 };
  const one = { members: noMembers(), production: [], loans: { ...noLoans(), approved: sums }, savings };
  const { loans, savings: saved } = sumTotals(Array.from({ length: 101 }, () => one));
  const exact = 10_099_999_999_999_899n;
  assert.deepEqual(
    [loans.approved.amountMinor, loans.approved.outstandingMinor, saved.contributionsMinor],
    [exact, exact, exact],
  );
});
