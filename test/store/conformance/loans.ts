/** Conformance of a store of loans. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { RegistryStore } from '../../../src/open-registry.ts';
import type { LoanFilter } from '../../../src/registry/loans.ts';
import { RegistryError } from '../../../src/values/errors.ts';
import { type Engine, nextIteration, openPlace, openRegistry } from './engine.ts';
import { COOPERATIVE, LOAN, MEMBER, memberOf } from './sample.ts';

/** Two cooperatives; persons 1 and 2 in the first, 3 and person 1 again in the second. */
export async function fillWithMembers(store: RegistryStore): Promise<void> {
  await store.cooperatives.create(COOPERATIVE, 1, 'key:1');
  await store.cooperatives.create({ ...COOPERATIVE, code: 'B-2', name: 'Berwa' }, 1, 'key:1');
  await store.members.create(memberOf(1), 1, 'key:1');
  await store.members.create(memberOf(2), 1, 'key:1');
  await store.members.create(memberOf(3, { cooperativeId: 2 }), 1, 'key:1');
  await store.members.create(memberOf(1, { cooperativeId: 2 }), 1, 'key:1');
}

export const refusedWith = (fields: object) => (error: unknown) => {
  assert.ok(error instanceof RegistryError, String(error));
  assert.deepEqual({ ...error.fields }, fields);
  return error.code === 'invalid';
};

export const hasCode = (code: string) => (error: unknown) =>
  error instanceof RegistryError && error.code === code;

export function loansConformance(engine: Engine): void {
  const title = (text: string) => `${engine.name}: ${text}`;
  async function open(context: TestContext): Promise<RegistryStore> {
    const store = openRegistry(context, openPlace(engine, context).storage);
    await fillWithMembers(store);
    return store;
  }

  test(
    title('a loan is found as it was written, with its member, cooperative and times'),
    async (context) => {
      const store = await open(context);
      const values = {
        ...LOAN,
        loanStartDate: 50,
        loanEndDate: 90,
        status: 'approved',
        approvedAt: 7,
      } as const;
      const written = await store.loans.create(values, 7, 'key:1');
      assert.deepEqual(written, {
        ...values,
        ...{ id: 1, paidAmountMinor: 0, openingBalanceMinor: 0, paidUntil: null, createdAt: 7, updatedAt: 7 },
        ...{ memberId: 1, identityCard: memberOf(1).identityCard, fullName: MEMBER.fullName },
        ...{ cooperativeId: 1, cooperativeCode: 'A-1', cooperativeName: 'Abahuje' },
      });
      await nextIteration();
      assert.deepEqual(await store.loans.find(1), written);
      assert.equal(await store.loans.find(2), undefined);
    },
  );

  test(
    title('loans are listed in order of id, by any filters together, with an exact count'),
    async (context) => {
      const store = await open(context);
      for (let n = 0; n < 12; n++) {
        const status = n % 3 === 0 ? 'approved' : 'pending';
        await store.loans.create({ ...LOAN, memberId: 1 + (n % 4), reference: `L-${n}`, status }, 1, 'key:1');
      }
      await nextIteration();
      const ids = async (filter: LoanFilter, page = 1, pageSize = 5) => {
        const { count, rows } = await store.loans.list(filter, { page, pageSize });
        return [count, rows.map(({ id }) => id)];
      };
      const identityCard = memberOf(1).identityCard;
      assert.deepEqual(await ids({}), [12, [1, 2, 3, 4, 5]]);
      assert.deepEqual(await ids({}, 3), [12, [11, 12]]);
      assert.deepEqual(await ids({}, 4), [12, []]);
      assert.deepEqual(await ids({ status: 'approved' }), [4, [1, 4, 7, 10]]);
      assert.deepEqual(await ids({ cooperativeId: 2 }), [6, [3, 4, 7, 8, 11]]);
      assert.deepEqual(await ids({ cooperativeId: 2 }, 2), [6, [12]]);
      assert.deepEqual(await ids({ cooperativeId: 2, status: 'approved' }), [2, [4, 7]]);
      assert.deepEqual(await ids({ memberId: 4 }), [3, [4, 8, 12]]);
      assert.deepEqual(await ids({ memberId: 4, status: 'approved' }), [1, [4]]);
      assert.deepEqual(await ids({ memberId: 4, cooperativeId: 1 }), [0, []]);
      assert.deepEqual(await ids({ identityCard }), [6, [1, 4, 5, 8, 9]]);
      assert.deepEqual(await ids({ identityCard }, 2, 4), [6, [9, 12]]);
      assert.deepEqual(await ids({ identityCard, memberId: 1, status: 'pending' }), [2, [5, 9]]);
      assert.deepEqual(await ids({ identityCard, memberId: 2 }), [0, []]);
      assert.deepEqual(await ids({ identityCard, cooperativeId: 2, status: 'approved' }), [1, [4]]);
      assert.deepEqual(await ids({ ids: [12, 3, 4, 99, 1] }, 1, 3), [4, [1, 3, 4]]);
      assert.deepEqual(await ids({ ids: [12, 3, 4, 99, 1] }, 2, 3), [4, [12]]);
      assert.deepEqual(await ids({ ids: [12, 3, 4, 1], identityCard }), [3, [1, 4, 12]]);
      assert.deepEqual(await ids({ ids: [12, 3, 4, 1], status: 'approved' }), [2, [1, 4]]);
      assert.deepEqual(await ids({ ids: [12, 3, 4, 1], cooperativeId: 2 }), [3, [3, 4, 12]]);
      assert.deepEqual(await ids({ ids: [12, 3, 4, 1], memberId: 4 }), [2, [4, 12]]);
      const { rows } = await store.loans.list({ cooperativeId: 2, memberId: 4 }, { page: 1, pageSize: 1 });
      assert.deepEqual(rows, [await store.loans.find(4)]);
    },
  );

  test(
    title('an update decides from the stored loan, and one that changes nothing leaves updated_at'),
    async (context) => {
      const store = await open(context);
      const { id } = await store.loans.create(LOAN, 1, 'key:1');
      const same = await store.loans.update(id, () => LOAN, 9, 'key:1');
      assert.equal(same.updatedAt, 1);
      const changed = await store.loans.update(
        id,
        (stored) => ({ ...LOAN, reference: `${stored.reference} II`, status: 'approved', approvedAt: 9 }),
        9,
        'key:1',
      );
      const { reference, status, approvedAt, createdAt, updatedAt } = changed;
      assert.deepEqual(
        [reference, status, approvedAt, createdAt, updatedAt],
        ['L-1 II', 'approved', 9, 1, 9],
      );
      const { count } = await store.loans.list(
        { status: 'approved', cooperativeId: 1 },
        { page: 1, pageSize: 5 },
      );
      assert.equal(count, 1);
      await assert.rejects(
        store.loans.update(7, () => LOAN, 1, 'key:1'),
        hasCode('not_found'),
      );
      await assert.rejects(
        store.loans.update(id, () => ({ ...LOAN, memberId: 2 }), 1, 'key:1'),
        refusedWith({ member_id: ['This field cannot be changed.'] }),
      );
    },
  );

  test(
    title('a reference belongs to one loan of a cooperative; its own is not a conflict'),
    async (context) => {
      const store = await open(context);
      const { id } = await store.loans.create(LOAN, 1, 'key:1');
      await store.loans.create({ ...LOAN, memberId: 3 }, 1, 'key:1');
      const other = await store.loans.create({ ...LOAN, reference: 'L-2' }, 1, 'key:1');
      const unique = { reference: ['This field must be unique.'] };
      await nextIteration();
      assert.deepEqual({ ...(await store.loans.conflicts(LOAN)) }, unique);
      assert.deepEqual({ ...(await store.loans.conflicts({ reference: 'L-2' }, id)) }, unique);
      assert.deepEqual({ ...(await store.loans.conflicts({ reference: 'L-1' }, id)) }, {});
      await assert.rejects(store.loans.create({ ...LOAN, memberId: 2 }, 1, 'key:1'), refusedWith(unique));
      await assert.rejects(
        store.loans.update(other.id, () => LOAN, 1, 'key:1'),
        refusedWith(unique),
      );
      const unknown = { member_id: ['Invalid pk "99" - object does not exist.'] };
      assert.deepEqual({ ...(await store.loans.conflicts({ memberId: 99, reference: 'L-1' })) }, unknown);
      await assert.rejects(store.loans.create({ ...LOAN, memberId: 99 }, 1, 'key:1'), refusedWith(unknown));
    },
  );
}
