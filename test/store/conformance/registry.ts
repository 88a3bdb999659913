/** Conformance of a registry store: one method is one atomic change, on disk when its promise settles. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkStorage } from '../../../src/check/check.ts';
import { refreshReadModel } from '../../../src/health/derived-data-commands.ts';
import { removeStaleStaging } from '../../../src/import/staging/import-session.ts';
import { StorageError } from '../../../src/sqlite/sqlite-errors.ts';
import type { RegistryError } from '../../../src/values/errors.ts';
import { type Engine, nextIteration, openPlace, openRegistry } from './engine.ts';
import { fillWithMembers, hasCode, refusedWith } from './loans.ts';
import { COOPERATIVE, LOAN, MEMBER, memberOf, PAYMENT } from './sample.ts';

export function registryConformance(engine: Engine): void {
  const title = (text: string) => `${engine.name}: ${text}`;

  test(
    title('a location is empty until something is opened there, and has a sound registry then'),
    async (context) => {
      const { storage, elsewhere } = openPlace(engine, context);
      assert.equal(await storage.exists(), false);
      const unusable = (error: unknown) => error instanceof StorageError && error.kind === 'unusable';
      await assert.rejects(async () => checkStorage(storage), unusable);
      await assert.rejects(async () => refreshReadModel(storage, 1), unusable);
      assert.equal(await storage.exists(), false);
      const store = openRegistry(context, storage);
      assert.equal(await store.isReady(), true);
      assert.equal(await elsewhere.exists(), true);
      const findings = await checkStorage(elsewhere);
      assert.ok(findings.length > 0);
      assert.deepEqual(
        findings.filter(({ fault }) => fault !== null),
        [],
      );
      assert.equal(await refreshReadModel(elsewhere, 1), 0);
      assert.equal(removeStaleStaging(elsewhere.location), 0);
    },
  );

  test(title('a store that was closed is not ready'), async (context) => {
    const store = openRegistry(context, openPlace(engine, context).storage);
    await store.close();
    assert.equal(await store.isReady(), false);
  });

  test(
    title('two writes that collide at one moment give one success and one clear error'),
    async (context) => {
      const store = openRegistry(context, openPlace(engine, context).storage);
      const [first, second] = await Promise.allSettled([
        store.cooperatives.create(COOPERATIVE, 1, 'key:1'),
        store.cooperatives.create({ ...COOPERATIVE, name: 'Other' }, 1, 'key:1'),
      ]);
      assert.equal(first.status, 'fulfilled');
      assert.equal(second.status, 'rejected');
      const { fields } = second.reason as RegistryError;
      assert.deepEqual({ ...fields }, { code: ['This field must be unique.'] });
      assert.equal((await store.cooperatives.list({}, { page: 1, pageSize: 10 })).count, 1);
    },
  );

  test(title('a write that fails leaves nothing, and those beside it stay'), async (context) => {
    const { storage, elsewhere } = openPlace(engine, context);
    const store = openRegistry(context, storage);
    await store.cooperatives.create(COOPERATIVE, 1, 'key:1');
    const results = await Promise.allSettled([
      store.members.create(MEMBER, 1, 'key:1'),
      store.cooperatives.update(
        1,
        () => {
          throw new Error('decided otherwise');
        },
        1,
        'key:1',
      ),
      store.members.create({ ...MEMBER, identityCard: '1198589000123043' }, 1, 'key:1'),
      store.members.create({ ...MEMBER, identityCard: '1198589000123044', memberCode: 'M-2' }, 1, 'key:1'),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
    );
    assert.match(String((results[1] as PromiseRejectedResult).reason), /decided otherwise/);
    assert.equal((await store.members.list({}, { page: 1, pageSize: 10 })).count, 2);
    assert.deepEqual(
      (await checkStorage(elsewhere)).filter(({ fault }) => fault !== null),
      [],
    );
  });

  test(title('a write is seen elsewhere when its promise settles'), async (context) => {
    const { storage, elsewhere } = openPlace(engine, context);
    const store = openRegistry(context, storage);
    const other = openRegistry(context, elsewhere);
    assert.equal(await other.cooperatives.find(1), undefined);
    await store.cooperatives.create(COOPERATIVE, 1, 'key:1');
    await nextIteration();
    assert.equal((await other.cooperatives.find(1))?.code, 'A-1');
  });

  test(title('stores of two processes write beside each other'), async (context) => {
    const { storage, elsewhere } = openPlace(engine, context);
    const stores = [openRegistry(context, storage), openRegistry(context, elsewhere)];
    await stores[0]?.cooperatives.create(COOPERATIVE, 1, 'key:1');
    const writes = Array.from({ length: 40 }, (_, n) =>
      stores[n % 2]?.members.create(memberOf(n), 1, 'key:1'),
    );
    assert.equal(new Set((await Promise.all(writes)).map((member) => member?.id)).size, 40);
    await nextIteration();
    for (const store of stores)
      assert.equal((await store.members.list({ status: 'active' }, { page: 1, pageSize: 1 })).count, 40);
  });

  test(title('closing finishes the writes that are queued'), async (context) => {
    const { storage, elsewhere } = openPlace(engine, context);
    const store = openRegistry(context, storage);
    const writing = store.cooperatives.create(COOPERATIVE, 1, 'key:1');
    await store.close();
    assert.equal((await writing).id, 1);
    assert.equal((await openRegistry(context, elsewhere).cooperatives.find(1))?.code, 'A-1');
  });

  test(title('narrowed to some cooperatives, no write reaches the rows of others'), async (context) => {
    const store = openRegistry(context, openPlace(engine, context).storage);
    await fillWithMembers(store);
    const lent = { ...LOAN, memberId: 1, reference: 'L-1', status: 'approved' } as const;
    await store.loans.create(lent, 1, 'key:1');
    await store.payments.create(PAYMENT, () => PAYMENT, 1, 'key:1');
    const { cooperatives, members, loans, payments } = store.narrowedTo([2, 99]);
    await nextIteration();
    const unknown = (id: number) => [`Invalid pk "${id}" - object does not exist.`];
    const missing = hasCode('not_found');
    const decided = () => assert.fail('nothing is decided of a row that is not seen');
    await assert.rejects(cooperatives.update(1, decided, 2, 'key:1'), missing);
    await assert.rejects(members.update(1, decided, 2, 'key:1'), missing);
    await assert.rejects(loans.update(1, decided, 2, 'key:1'), missing);
    await assert.rejects(payments.update(1, decided, 2, 'key:1'), missing);
    const refused = { cooperative_id: unknown(1) };
    await assert.rejects(members.create(memberOf(9), 2, 'key:1'), refusedWith(refused));
    await assert.rejects(members.create(memberOf(1), 2, 'key:1'), refusedWith(refused));
    await assert.rejects(loans.create(lent, 2, 'key:1'), refusedWith({ member_id: unknown(1) }));
    const paid = payments.create(PAYMENT, decided, 2, 'key:1');
    await assert.rejects(paid, refusedWith({ loan_id: unknown(1) }));
    assert.deepEqual({ ...(await members.conflicts(memberOf(1))) }, refused);
    assert.deepEqual({ ...(await loans.conflicts(lent)) }, { member_id: unknown(1) });
    assert.deepEqual({ ...(await payments.conflicts(PAYMENT)) }, { loan_id: unknown(1) });
    assert.equal((await members.create(memberOf(9, { cooperativeId: 2 }), 2, 'key:1')).cooperativeId, 2);
    assert.equal((await cooperatives.update(2, (stored) => stored, 2, 'key:1')).id, 2);
  });
}
