/** What an import session does to stored rows, on every engine. */
import assert from 'node:assert/strict';
import type { Member } from '../../../src/domain/members.ts';
import type { ImportKind } from '../../../src/store/ports/import-session.ts';
import {
  accepted,
  allMembers,
  type Cells,
  COOPERATIVES,
  countsOf,
  delivery,
  deposit,
  LATER,
  NOW,
  nextIteration,
  nid,
  person,
  type TestStarted,
} from './import-rows.ts';

export function testChanges(testStarted: TestStarted): void {
  testStarted('the changes that are counted are those that an apply makes', async (_place, session) => {
    await (await accepted(session, 'production', [delivery(1, 'P-1', 5), delivery(2, 'P-2', 5)])).apply(NOW);
    await (
      await accepted(session, 'savings', [deposit(1, 'S-1', 'R-1', 5), deposit(2, 'S-2', 'R-2', 5)])
    ).apply(NOW);
    const expected = [1, 1, 1];
    for (const [kind, rows] of [
      ['cooperatives', [COOPERATIVES[0], { code: 'B-2', name: 'Renamed' }, { code: 'C-3', name: 'New' }]],
      ['members', [person(1), person(2, { full_name: 'Renamed' }), person(4)]],
      ['production', [delivery(1, 'P-1', 5), delivery(2, 'P-2', 6), delivery(3, 'P-3', 5)]],
      // The second moves to an account that does not exist yet.
      ['savings', [deposit(1, 'S-1', 'R-1', 5), deposit(2, 'S-9', 'R-2', 5), deposit(3, 'S-3', 'R-3', 5)]],
    ] as [ImportKind, Cells[]][]) {
      const counted = await (await accepted(session, kind, rows)).countChanges();
      const file = await accepted(session, kind, rows);
      assert.deepEqual(countsOf(await file.countChanges()), expected, kind);
      assert.deepEqual([countsOf(counted), countsOf(await file.apply(LATER))], [expected, expected], kind);
      const again = await accepted(session, kind, rows);
      assert.deepEqual(countsOf(await again.countChanges()), [0, 0, 3], kind);
      assert.deepEqual(countsOf(await again.apply(LATER)), [0, 0, 3], kind);
    }
  });

  testStarted(
    'a row that equals the stored one keeps its time of change, another one gets the time of the apply',
    async (place, session) => {
      const rows = [person(1), person(2, { full_name: 'Renamed' })];
      await (await accepted(session, 'members', rows)).apply(LATER);
      const members = await allMembers(place);
      assert.deepEqual(
        members.map(({ id, fullName, createdAt, updatedAt }) => [id, fullName, createdAt, updatedAt]).sort(),
        [
          [1, 'Person 1', NOW, NOW],
          [2, 'Renamed', NOW, LATER],
          [3, 'Person 3', NOW, NOW],
        ],
      );
    },
  );

  testStarted(
    'of a stored row, a missing column keeps its value and an empty cell clears it or keeps it',
    async (place, session) => {
      const full = { gender: 'FEMALE', mobile: '+250781234567', role: 'TREASURER', registration_date: 1_000 };
      const valuesNow = async () => {
        await nextIteration();
        const found = await place.registry.members.find(1);
        return [found?.gender, found?.mobile, found?.role, found?.registrationDate];
      };
      await (await accepted(session, 'members', [person(1, full)])).apply(NOW);
      await (await accepted(session, 'members', [person(1)])).apply(NOW);
      assert.deepEqual(await valuesNow(), Object.values(full));
      const empty = Object.fromEntries(Object.keys(full).map((name) => [name, null]));
      await (await accepted(session, 'members', [person(1, empty)])).apply(NOW);
      assert.deepEqual(await valuesNow(), [null, null, 'TREASURER', 1_000]);
    },
  );

  testStarted('lists count what is imported, new rows and changed statuses', async (place, session) => {
    const rows = [
      person(1, { status: 'suspended' }),
      person(4, { status: null }),
      person(5, { status: 'withdrawn' }),
    ];
    await (await accepted(session, 'members', rows)).apply(NOW);
    await nextIteration();
    const count = async (status: Member['status']) =>
      (await place.registry.members.list({ status }, { page: 1, pageSize: 10 })).count;
    assert.deepEqual([await count('active'), await count('suspended'), await count('withdrawn')], [3, 1, 1]);
    assert.equal((await place.registry.cooperatives.find(1))?.membersCount, 3);
  });

  testStarted('lookups see imported deliveries at once', async (place, session) => {
    const entriesOf = async () => {
      await nextIteration();
      const found = await place.registry.members.findActiveMembership(1, nid(1), NOW);
      return found?.financials?.production.entriesCount;
    };
    assert.equal(await entriesOf(), 0);
    await (await accepted(session, 'production', [delivery(1, 'P-1', 5), delivery(1, 'P-2', 5)])).apply(NOW);
    assert.equal(await entriesOf(), 2);
  });
}
