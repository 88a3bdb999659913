/** Conformance of a store of members. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { isVisible } from '../../../src/access/api-keys.ts';
import type { RegistryStore } from '../../../src/open-registry.ts';
import { MEMBER_STATUSES, type MemberValues } from '../../../src/registry/members.ts';
import { RegistryError } from '../../../src/values/errors.ts';
import { type Engine, nextIteration, openPlace, openRegistry } from './engine.ts';
import { COOPERATIVE, MEMBER, memberOf } from './sample.ts';

const refusedFor = (fields: object) => (error: unknown) => {
  assert.ok(error instanceof RegistryError);
  assert.deepEqual({ ...error.fields }, fields);
  return true;
};

export function membersConformance(engine: Engine): void {
  const title = (text: string) => `${engine.name}: ${text}`;

  /** With three cooperatives. */
  async function open(context: TestContext): Promise<RegistryStore> {
    const store = openRegistry(context, openPlace(engine, context).storage);
    for (const code of ['A-1', 'B', 'C'])
      await store.cooperatives.create({ ...COOPERATIVE, code }, 1, 'key:1');
    return store;
  }

  test(title('a member is found as it was written'), async (context) => {
    const store = await open(context);
    const values = memberOf(1, {
      firstName: 'Aline',
      lastName: 'Uwase',
      gender: 'FEMALE',
      dateOfBirth: '1985-01-01',
      mobile: '+250781234567',
      role: 'TREASURER',
      status: 'suspended',
      registrationDate: 1_500_000_000,
    });
    const written = await store.members.create(values, 7, 'key:1');
    const cooperative = { cooperativeCode: 'A-1', cooperativeName: 'Abahuje' };
    assert.deepEqual(written, { ...values, id: 1, ...cooperative, createdAt: 7, updatedAt: 7 });
    await nextIteration();
    assert.deepEqual(await store.members.find(1), written);
    assert.equal(await store.members.find(2), undefined);
  });

  test(title('an update that changes nothing leaves updated_at as it was'), async (context) => {
    const store = await open(context);
    await store.members.create(MEMBER, 1, 'key:1');
    assert.equal((await store.members.update(1, () => MEMBER, 9, 'key:1')).updatedAt, 1);
    assert.equal(
      (await store.members.update(1, () => ({ ...MEMBER, fullName: 'Keza' }), 9, 'key:1')).updatedAt,
      9,
    );
    await assert.rejects(
      store.members.update(7, () => MEMBER, 1, 'key:1'),
      (error) => error instanceof RegistryError && error.code === 'not_found',
    );
  });

  test(
    title('a member cannot be moved to another cooperative, whatever an update decides'),
    async (context) => {
      const store = await open(context);
      await store.members.create(MEMBER, 1, 'key:1');
      const moved = { ...MEMBER, cooperativeId: 2, status: 'suspended' } as const;
      await assert.rejects(
        store.members.update(1, () => moved, 2, 'key:1'),
        refusedFor({ cooperative_id: ['This field cannot be changed.'] }),
      );
      await nextIteration();
      assert.equal(
        (await store.members.list({ cooperativeId: 1, status: 'active' }, { page: 1, pageSize: 9 })).count,
        1,
      );
    },
  );

  test(
    title('a person and a member code are in a cooperative once, and the cooperative exists'),
    async (context) => {
      const store = await open(context);
      await store.members.create(MEMBER, 1, 'key:1');
      const both = {
        non_field_errors: ['The fields cooperative_id, identity_card must make a unique set.'],
        member_code: ['This field must be unique.'],
      };
      await assert.rejects(store.members.create(MEMBER, 1, 'key:1'), refusedFor(both));
      await nextIteration();
      assert.deepEqual({ ...(await store.members.conflicts(MEMBER)) }, both);
      assert.deepEqual({ ...(await store.members.conflicts(MEMBER, 1)) }, {});
      assert.equal((await store.members.create({ ...MEMBER, cooperativeId: 2 }, 1, 'key:1')).id, 2);
      await assert.rejects(
        store.members.create({ ...MEMBER, cooperativeId: 9 }, 1, 'key:1'),
        refusedFor({ cooperative_id: ['Invalid pk "9" - object does not exist.'] }),
      );
    },
  );

  test(title('national IDs beyond 2^53 stay apart from their neighbours'), async (context) => {
    const store = await open(context);
    const cards = [
      '0000000000000001',
      '9007199254740992',
      '9007199254740993',
      '9999999999999998',
      '9999999999999999',
    ];
    for (const card of cards)
      await store.members.create({ ...MEMBER, identityCard: card, memberCode: card }, 1, 'key:1');
    for (const card of cards) {
      const found = await store.members.listActiveMemberships(card, null);
      assert.deepEqual(
        found.map(({ identityCard }) => identityCard),
        [card],
      );
    }
  });

  test(
    title('a lookup gives the active memberships, newest registration first, then the higher id'),
    async (context) => {
      const store = await open(context);
      const { identityCard } = MEMBER;
      for (const [cooperativeId, registrationDate] of [
        [1, 5],
        [2, 9],
        [3, 5],
      ] as const)
        await store.members.create({ ...MEMBER, cooperativeId, registrationDate }, 1, 'key:1');
      await nextIteration();
      const found = await store.members.listActiveMemberships(identityCard, null);
      assert.deepEqual(
        found.map(({ cooperative }) => cooperative.id),
        [2, 3, 1],
      );
      assert.ok(found.every(({ financials }) => financials === null));
      await store.members.update(2, () => ({ ...MEMBER, cooperativeId: 2, status: 'deceased' }), 2, 'key:1');
      await nextIteration();
      assert.equal((await store.members.listActiveMemberships(identityCard, null)).length, 2);
      assert.equal(await store.members.findActiveMembership(2, identityCard, null), undefined);
      assert.equal((await store.members.findActiveMembership(3, identityCard, null))?.id, 3);
    },
  );

  test(title('without entries the financials of a membership are empty, not missing'), async (context) => {
    const store = await open(context);
    await store.members.create(MEMBER, 1, 'key:1');
    const found = await store.members.findActiveMembership(1, MEMBER.identityCard, 1_750_000_000);
    assert.deepEqual(found?.financials?.production, { entriesCount: 0, totalGrams: 0, lastDeliveryAt: null });
    assert.deepEqual(JSON.parse(found?.financials?.loanHistory ?? ''), []);
    assert.equal(JSON.parse(found?.financials?.savingsSummary ?? '').accounts_count, 0);
  });

  const person = fc.record({
    cooperativeId: fc.integer({ min: 1, max: 3 }),
    status: fc.constantFrom(...MEMBER_STATUSES),
    later: fc.option(fc.constantFrom(...MEMBER_STATUSES)),
  });
  test(
    title('every list has the right count and the right rows on every page, after any writes'),
    async (context) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(person, { maxLength: 20 }),
          fc.constantFrom(1, 3, 7),
          async (people, pageSize) => {
            const store = await open(context);
            await Promise.all(
              people.map((each, n) => store.members.create(memberOf(n, toValues(each)), 1, 'key:1')),
            );
            for (const [n, { later, ...each }] of people.entries())
              if (later !== null)
                await store.members.update(
                  n + 1,
                  () => memberOf(n, { ...toValues(each), status: later }),
                  2,
                  'key:1',
                );
            await nextIteration();
            for (const cooperativeId of [undefined, 1, 2, 3, 99])
              for (const status of [undefined, ...MEMBER_STATUSES]) {
                const expected = people.flatMap(({ later, ...each }, n) => {
                  const now = later ?? each.status;
                  const isListed =
                    (cooperativeId ?? each.cooperativeId) === each.cooperativeId && (status ?? now) === now;
                  return isListed ? [n + 1] : [];
                });
                const filter = {
                  ...(cooperativeId === undefined ? {} : { cooperativeId }),
                  ...(status === undefined ? {} : { status }),
                };
                for (let page = 1; page <= Math.ceil(expected.length / pageSize) + 1; page++) {
                  const { count, rows } = await store.members.list(filter, { page, pageSize });
                  assert.equal(count, expected.length);
                  assert.deepEqual(
                    rows.map(({ id }) => id),
                    expected.slice((page - 1) * pageSize, page * pageSize),
                  );
                }
              }
          },
        ),
        { numRuns: 12 },
      );
    },
  );

  // Few values of each, so that any two filters meet.
  const listed = fc.record({
    cooperativeId: fc.integer({ min: 1, max: 3 }),
    status: fc.constantFrom('active', 'withdrawn'),
    person: fc.integer({ min: 1, max: 4 }),
    memberCode: fc.constantFrom('1', '2', '3'),
    mobile: fc.constantFrom(null, '+250780000001', '+250780000002'),
  });
  const filters = fc.record(
    {
      cooperativeId: fc.integer({ min: 1, max: 4 }),
      status: fc.constantFrom('active', 'withdrawn'),
      identityCard: fc.constantFrom(1, 4, 5).map((n) => memberOf(n).identityCard),
      memberCode: fc.constantFrom('1', '3', '01'),
      mobile: fc.constantFrom('+250780000001', '+250780000009'),
      ids: fc.uniqueArray(fc.integer({ min: 1, max: 14 }), { minLength: 1 }),
    } as const,
    { requiredKeys: [] },
  );
  test(title('any filters of members together give the rows that match each of them'), async (context) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(listed, { maxLength: 12 }),
        fc.array(filters, { minLength: 20, maxLength: 20 }),
        async (drawn, each) => {
          const store = await open(context);
          const rows: MemberValues[] = [];
          for (const { person: n, ...values } of drawn) {
            const member = memberOf(n, values);
            const isTaken = (other: MemberValues) =>
              other.cooperativeId === member.cooperativeId &&
              (other.identityCard === member.identityCard || other.memberCode === member.memberCode);
            if (rows.some(isTaken)) continue;
            rows.push(member);
            await store.members.create(member, 1, 'key:1');
          }
          await nextIteration();
          for (const [at, { ids, ...filter }] of each.entries()) {
            const visible = [null, [1], [3, 2], [1, 2, 3, 4]][at % 4] ?? null;
            const wanted = Object.entries(filter) as [keyof MemberValues, unknown][];
            const expected = rows.flatMap((row, i) =>
              isVisible(visible, row.cooperativeId) &&
              (ids?.includes(i + 1) ?? true) &&
              wanted.every(([name, value]) => row[name] === value)
                ? [i + 1]
                : [],
            );
            for (let page = 1; page <= expected.length / 2 + 1; page++) {
              const found = await store
                .narrowedTo(visible)
                .members.list(ids === undefined ? filter : { ...filter, ids }, { page, pageSize: 2 });
              assert.equal(found.count, expected.length, JSON.stringify({ ids, ...filter }));
              assert.deepEqual(
                found.rows.map(({ id }) => id),
                expected.slice((page - 1) * 2, page * 2),
              );
            }
          }
        },
      ),
      { numRuns: 15 },
    );
  });

  test(title('the rows of one person are listed in every status, with other filters'), async (context) => {
    const store = await open(context);
    for (const [cooperativeId, status] of [
      [1, 'active'],
      [2, 'withdrawn'],
      [3, 'active'],
    ] as const)
      await store.members.create({ ...MEMBER, cooperativeId, status }, 1, 'key:1');
    await store.members.create(memberOf(9), 1, 'key:1');
    await nextIteration();
    const ids = async (more: object) => {
      const filter = { identityCard: MEMBER.identityCard, ...more };
      const { count, rows } = await store.members.list(filter, { page: 1, pageSize: 2 });
      return [count, rows.map(({ id }) => id)];
    };
    assert.deepEqual(await ids({}), [3, [1, 2]]);
    assert.deepEqual(await ids({ status: 'active' }), [2, [1, 3]]);
    assert.deepEqual(await ids({ cooperativeId: 3 }), [1, [3]]);
    assert.deepEqual(await ids({ cooperativeId: 2, status: 'active' }), [0, []]);
  });
}

const toValues = ({
  cooperativeId,
  status,
}: {
  cooperativeId: number;
  status: (typeof MEMBER_STATUSES)[number];
}) => ({
  cooperativeId,
  status,
});
