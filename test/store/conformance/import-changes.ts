/** What an import session does to stored rows, on every engine. */
import assert from 'node:assert/strict';
import type { ImportSession } from '../../../src/import/staging/import-session.ts';
import type { StagedChange } from '../../../src/journal/operations.ts';
import type { ImportKind } from '../../../src/registry/file-columns.ts';
import type { Member } from '../../../src/registry/members.ts';
import type { StagedValue } from '../../../src/values/declared-fields.ts';
import {
  accepted,
  allMembers,
  type Cells,
  COOPERATIVES,
  changesOf,
  countsOf,
  delivery,
  deposit,
  type ImportPlace,
  LATER,
  loan,
  NOW,
  nextIteration,
  nid,
  person,
  RECORD,
  refused,
  rowFault,
  SKIPPING,
  type TestStarted,
} from './import-rows.ts';

export function testChanges(testStarted: TestStarted): void {
  testStarted('the changes that are counted are those that an apply makes', async (_place, session) => {
    await (await accepted(session, 'production', [delivery(1, 'P-1', 5), delivery(2, 'P-2', 5)])).apply(
      NOW,
      RECORD,
    );
    await (
      await accepted(session, 'savings', [deposit(1, 'S-1', 'R-1', 5), deposit(2, 'S-2', 'R-2', 5)])
    ).apply(NOW, RECORD);
    const expected = [1, 1, 1];
    for (const [kind, rows] of [
      ['cooperatives', [COOPERATIVES[0], { code: 'B-2', name: 'Renamed' }, { code: 'C-3', name: 'New' }]],
      ['members', [person(1), person(2, { full_name: 'Renamed' }), person(4)]],
      ['production', [delivery(1, 'P-1', 5), delivery(2, 'P-2', 6), delivery(3, 'P-3', 5)]],
      // The second moves to an account that does not exist yet.
      ['savings', [deposit(1, 'S-1', 'R-1', 5), deposit(2, 'S-9', 'R-2', 5), deposit(3, 'S-3', 'R-3', 5)]],
    ] as [ImportKind, Cells[]][]) {
      const counted = (await accepted(session, kind, rows)).changes;
      const file = await accepted(session, kind, rows);
      assert.deepEqual(countsOf(file.changes), expected, kind);
      assert.deepEqual(
        [countsOf(counted), countsOf(await file.apply(LATER, RECORD))],
        [expected, expected],
        kind,
      );
      const again = await accepted(session, kind, rows);
      assert.deepEqual(countsOf(again.changes), [0, 0, 3], kind);
      assert.deepEqual(countsOf(await again.apply(LATER, RECORD)), [0, 0, 3], kind);
    }
  });

  testStarted('each stored value that would change is listed as it was and as it will be', listsChanges);

  testStarted('changes are listed in order of line, however many there are', async (_place, session) => {
    const numbers = Array.from({ length: 1_300 }, (_, i) => i + 1);
    await (
      await accepted(
        session,
        'members',
        numbers.map((n) => person(n)),
      )
    ).apply(NOW, RECORD);
    const renamed = numbers.map((n) => person(n, { full_name: `New ${n}`, mobile: '+250781234567' }));
    const file = await accepted(session, 'members', renamed);
    const listed = await changesOf(file);
    assert.deepEqual(
      [...file.columns],
      [
        ['full_name', 1_300],
        ['mobile', 1_300],
      ],
    );
    const expected = numbers.flatMap((n) => [
      [n + 1, `M-${n}`, 'full_name'],
      [n + 1, `M-${n}`, 'mobile'],
    ]);
    assert.deepEqual(
      listed.map(({ line, row, column }) => [line, row, column]),
      expected,
    );
    assert.deepEqual(await changesOf(file), listed);
  });

  testStarted('a refused row that is left out changes nothing', async (place, session) => {
    const rows = [person(1, { full_name: 'Wrong' }), person(2, { full_name: 'Right' })];
    const file = await accepted(session, 'members', rows, SKIPPING, [rowFault(2, 'gender')]);
    assert.deepEqual(
      (await changesOf(file)).map(({ row }) => row),
      ['M-2'],
    );
    assert.deepEqual(countsOf(await file.apply(LATER, RECORD)), [0, 1, 0]);
    assert.equal(
      (await allMembers(place)).some(({ fullName }) => fullName === 'Wrong'),
      false,
    );
  });

  testStarted(
    'a value that another writer has changed since the check is compared again, and kept',
    async (place, session) => {
      const file = await accepted(session, 'members', [person(1), person(2, { full_name: 'Renamed' })]);
      assert.deepEqual(
        (await changesOf(file)).map(({ row }) => row),
        ['M-2'],
      );
      await place.registry.members.update(
        1,
        (stored) => ({ ...stored, fullName: 'Meanwhile' }),
        NOW,
        'key:1',
      );
      assert.deepEqual(countsOf(await file.apply(LATER, RECORD)), [0, 1, 1]);
      const names = (await allMembers(place)).map(({ id, fullName }) => [id, fullName]).sort();
      assert.deepEqual(names.slice(0, 2), [
        [1, 'Meanwhile'],
        [2, 'Renamed'],
      ]);
    },
  );

  testStarted(
    'a row that equals the stored one keeps its time of change, another one gets the time of the apply',
    async (place, session) => {
      const rows = [person(1), person(2, { full_name: 'Renamed' })];
      await (await accepted(session, 'members', rows)).apply(LATER, RECORD);
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
      await (await accepted(session, 'members', [person(1, full)])).apply(NOW, RECORD);
      await (await accepted(session, 'members', [person(1)])).apply(NOW, RECORD);
      assert.deepEqual(await valuesNow(), Object.values(full));
      const empty = Object.fromEntries(Object.keys(full).map((name) => [name, null]));
      await (await accepted(session, 'members', [person(1, empty)])).apply(NOW, RECORD);
      assert.deepEqual(await valuesNow(), [null, null, 'TREASURER', 1_000]);
    },
  );

  testStarted('lists count what is imported, new rows and changed statuses', async (place, session) => {
    const rows = [
      person(1, { status: 'suspended' }),
      person(4, { status: null }),
      person(5, { status: 'withdrawn' }),
    ];
    await (await accepted(session, 'members', rows)).apply(NOW, RECORD);
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
    await (await accepted(session, 'production', [delivery(1, 'P-1', 5), delivery(1, 'P-2', 5)])).apply(
      NOW,
      RECORD,
    );
    assert.equal(await entriesOf(), 2);
  });
}

async function listsChanges(_place: ImportPlace, session: ImportSession): Promise<void> {
  await (await accepted(session, 'production', [delivery(1, 'P-1', 5)])).apply(NOW, RECORD);
  await (await accepted(session, 'savings', [deposit(1, 'S-1', 'R-1', 5)])).apply(NOW, RECORD);
  await (await accepted(session, 'loans', [loan(1, 'L-1', 500)])).apply(NOW, RECORD);
  const change = (row: string, column: string, before: StagedValue, after: StagedValue): StagedChange => ({
    ...{ line: 2, row, column, old: before, new: after },
  });
  for (const [kind, row, changes] of [
    [
      'cooperatives',
      { code: 'A-1', name: 'Renamed', sector: 'agriculture', status: null },
      [change('A-1', 'name', 'Abahuje', 'Renamed'), change('A-1', 'sector', null, 'agriculture')],
    ],
    [
      'members',
      person(1, { mobile: '+250781234567', member_code: 'M-100', role: 'SECRETARY' }),
      [
        change('M-1', 'member_code', 'M-1', 'M-100'),
        change('M-1', 'mobile', null, '+250781234567'),
        change('M-1', 'role', 'MEMBER', 'SECRETARY'),
      ],
    ],
    ['production', delivery(2, 'P-1', 5), undefined],
    ['production', { ...delivery(1, 'P-1', 6), member_code: 'M-100' }, [change('P-1', 'kg', 5, 6)]],
    ['loans', { ...loan(1, 'L-1', 600), member_code: 'M-100' }, [change('L-1', 'amount', 500, 600)]],
    [
      'savings',
      { ...deposit(1, 'S-2', 'R-1', 6), member_code: 'M-100' },
      [change('R-1', 'amount', 5, 6), change('R-1', 'account_number', 'S-1', 'S-2')],
    ],
  ] as [ImportKind, Cells, StagedChange[] | undefined][]) {
    if (changes === undefined) {
      // It belongs to another member: refused, and so not compared.
      assert.equal((await refused(session, kind, [row])).isRefused, true);
      continue;
    }
    const file = await accepted(session, kind, [row]);
    assert.deepEqual(await changesOf(file), changes, kind);
    assert.deepEqual(
      [...file.columns],
      changes.map(({ column }) => [column, 1]),
      kind,
    );
    await file.apply(LATER, RECORD);
    await assert.rejects(() => changesOf(file), kind);
  }
}
