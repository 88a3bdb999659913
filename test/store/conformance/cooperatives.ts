/** Conformance of a store of cooperatives. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { RegistryError } from '../../../src/values/errors.ts';
import { type Engine, nextIteration, openPlace, openRegistry } from './engine.ts';
import { COOPERATIVE, MEMBER, memberOf } from './sample.ts';

export function cooperativesConformance(engine: Engine): void {
  const title = (text: string) => `${engine.name}: ${text}`;
  const open = (context: TestContext) => openRegistry(context, openPlace(engine, context).storage);

  test(
    title('a cooperative is found as it was written, with its times and its active members'),
    async (context) => {
      const store = open(context);
      const values = {
        ...COOPERATIVE,
        sector: 'agriculture',
        province: 'South',
        district: 'Huye',
        registrationDate: '2019-05-06',
      } as const;
      const written = await store.cooperatives.create(values, 7, 'key:1');
      assert.deepEqual(written, { ...values, id: 1, membersCount: 0, createdAt: 7, updatedAt: 7 });
      await store.members.create(MEMBER, 8, 'key:1');
      await store.members.create(memberOf(2, { status: 'withdrawn' }), 8, 'key:1');
      await nextIteration();
      assert.deepEqual(await store.cooperatives.find(1), { ...written, membersCount: 1 });
      assert.equal(await store.cooperatives.find(2), undefined);
    },
  );

  test(
    title('cooperatives are listed in order of id, by any filters together, with an exact count'),
    async (context) => {
      const store = open(context);
      for (let n = 0; n < 12; n++) {
        const district = n % 2 === 0 ? 'Huye' : 'Gasabo';
        const status = n % 3 === 0 ? 'inactive' : 'active';
        await store.cooperatives.create({ ...COOPERATIVE, code: `C-${n}`, district, status }, 1, 'key:1');
      }
      await nextIteration();
      const ids = async (filter: Parameters<typeof store.cooperatives.list>[0], page = 1, pageSize = 5) => {
        const { count, rows } = await store.cooperatives.list(filter, { page, pageSize });
        return [count, rows.map(({ id }) => id)];
      };
      assert.deepEqual(await ids({}), [12, [1, 2, 3, 4, 5]]);
      assert.deepEqual(await ids({}, 3), [12, [11, 12]]);
      assert.deepEqual(await ids({}, 4), [12, []]);
      assert.deepEqual(await ids({ district: 'Huye', status: 'inactive' }), [2, [1, 7]]);
      assert.deepEqual(await ids({ code: 'C-4' }), [1, [5]]);
      assert.deepEqual(await ids({ sector: 'mining' }), [0, []]);
    },
  );

  test(
    title('a district is found in any letter case, with accents too, and never by a part'),
    async (context) => {
      const store = open(context);
      for (const [n, district] of ['Huye', 'HUYE', 'Rubavú', 'RUBAVÚ', null].entries())
        await store.cooperatives.create({ ...COOPERATIVE, code: `C-${n}`, district }, 1, 'key:1');
      await nextIteration();
      const ids = async (district: string) => {
        const { count, rows } = await store.cooperatives.list({ district }, { page: 1, pageSize: 5 });
        return [count, rows.map(({ id }) => id)];
      };
      assert.deepEqual(await ids('huye'), [2, [1, 2]]);
      assert.deepEqual(await ids('rubavÚ'), [2, [3, 4]]);
      assert.deepEqual(await ids('Hu'), [0, []]);
    },
  );

  test(
    title('an update decides from the stored row, and one that changes nothing leaves updated_at'),
    async (context) => {
      const store = open(context);
      const { id } = await store.cooperatives.create(COOPERATIVE, 1, 'key:1');
      assert.equal((await store.cooperatives.update(id, (stored) => stored, 9, 'key:1')).updatedAt, 1);
      const renamed = await store.cooperatives.update(
        id,
        (stored) => ({ ...stored, name: `${stored.name} II` }),
        9,
        'key:1',
      );
      assert.deepEqual([renamed.name, renamed.createdAt, renamed.updatedAt], ['Abahuje II', 1, 9]);
      await assert.rejects(
        store.cooperatives.update(7, (stored) => stored, 1, 'key:1'),
        (error) => error instanceof RegistryError && error.code === 'not_found',
      );
    },
  );

  test(title('a code belongs to one cooperative; its own is not a conflict'), async (context) => {
    const store = open(context);
    await store.cooperatives.create(COOPERATIVE, 1, 'key:1');
    const { id } = await store.cooperatives.create({ ...COOPERATIVE, code: 'B' }, 1, 'key:1');
    const unique = { code: ['This field must be unique.'] };
    await nextIteration();
    assert.deepEqual({ ...(await store.cooperatives.conflicts({ code: 'A-1' })) }, unique);
    assert.deepEqual({ ...(await store.cooperatives.conflicts({ code: 'B' }, id)) }, {});
    await assert.rejects(
      store.cooperatives.update(id, () => COOPERATIVE, 2, 'key:1'),
      (error: RegistryError) => {
        assert.deepEqual({ ...error.fields }, unique);
        return true;
      },
    );
  });

  test(title('a new name is shown with every member, elsewhere too'), async (context) => {
    const { storage, elsewhere } = openPlace(engine, context);
    const [store, other] = [openRegistry(context, storage), openRegistry(context, elsewhere)];
    await store.cooperatives.create(COOPERATIVE, 1, 'key:1');
    await store.members.create(MEMBER, 1, 'key:1');
    const names = async () => {
      await nextIteration();
      const [here, there] = [store, other].map((each) =>
        each.members.listActiveMemberships(MEMBER.identityCard, null),
      );
      return [(await here)?.[0]?.cooperative.name, (await there)?.[0]?.cooperative.name];
    };
    assert.deepEqual(await names(), ['Abahuje', 'Abahuje']);
    await store.cooperatives.update(1, (stored) => ({ ...stored, name: 'Twisungane' }), 2, 'key:1');
    assert.deepEqual(await names(), ['Twisungane', 'Twisungane']);
  });
}
