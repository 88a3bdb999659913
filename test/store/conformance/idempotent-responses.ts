/** Conformance of what a store keeps for requests that are repeated. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type ResponseToSave, SAVED_SECONDS } from '../../../src/sqlite/idempotent-writes.ts';
import { RegistryError } from '../../../src/values/errors.ts';
import { type Engine, nextIteration, openPlace, openRegistry } from './engine.ts';
import { COOPERATIVE, MEMBER } from './sample.ts';

const keepFor = (more: Partial<ResponseToSave<{ id: number }>> = {}): ResponseToSave<{ id: number }> => ({
  keyId: 1,
  idempotencyKey: 'k',
  requestHash: 'h',
  compose: ({ id }) => ({ status: 201, location: `/${id}`, etag: null, body: `{"id":${id}}` }),
  ...more,
});

const isRepeated = (error: unknown): boolean => error instanceof RegistryError && error.code === 'repeated';

export function idempotentResponsesConformance(engine: Engine): void {
  const title = (text: string) => `${engine.name}: ${text}`;
  const open = (context: TestContext) => openRegistry(context, openPlace(engine, context).storage);

  test(
    title('a response is kept with the row that it answers, and for each key of its own'),
    async (context) => {
      const store = open(context);
      await store.cooperatives.create(COOPERATIVE, 100, 'key:1', keepFor());
      await store.members.create(MEMBER, 100, 'key:1', keepFor({ keyId: 2 }));
      await nextIteration();
      const stored = { requestHash: 'h', status: 201, location: '/1', etag: null, body: '{"id":1}' };
      for (const keyId of [1, 2])
        assert.deepEqual({ ...(await store.responses.find(keyId, 'k', 100)) }, stored);
      assert.equal(await store.responses.find(3, 'k', 100), undefined);
      assert.equal(await store.responses.find(1, 'K', 100), undefined);
      assert.ok(await store.responses.find(1, 'k', 100 + SAVED_SECONDS - 1));
      assert.equal(await store.responses.find(1, 'k', 100 + SAVED_SECONDS), undefined);
    },
  );

  test(
    title('a key that was used is refused before the conflicts of the row, by another process too'),
    async (context) => {
      const { storage, elsewhere } = openPlace(engine, context);
      const [store, other] = [openRegistry(context, storage), openRegistry(context, elsewhere)];
      await store.cooperatives.create(COOPERATIVE, 1, 'key:1', keepFor());
      for (const each of [store, other]) {
        await assert.rejects(each.cooperatives.create(COOPERATIVE, 2, 'key:1', keepFor()), isRepeated);
        await assert.rejects(
          each.cooperatives.create({ ...COOPERATIVE, code: 'B' }, 2, 'key:1', keepFor({ requestHash: 'x' })),
          isRepeated,
        );
      }
      await nextIteration();
      assert.equal((await store.cooperatives.list({}, { page: 1, pageSize: 5 })).count, 1);
      // After a day the key is free.
      const again = store.cooperatives.create(
        { ...COOPERATIVE, code: 'B' },
        1 + SAVED_SECONDS,
        'key:1',
        keepFor(),
      );
      assert.equal((await again).id, 2);
    },
  );

  test(
    title('what cannot be composed or created is kept neither as a row nor as a response'),
    async (context) => {
      const store = open(context);
      const compose = () => {
        throw new Error('not composed');
      };
      await assert.rejects(
        store.cooperatives.create(COOPERATIVE, 1, 'key:1', keepFor({ compose })),
        /not composed/,
      );
      await store.cooperatives.create(COOPERATIVE, 1, 'key:1');
      await assert.rejects(store.cooperatives.create(COOPERATIVE, 1, 'key:1', keepFor()));
      await nextIteration();
      assert.equal(await store.responses.find(1, 'k', 1), undefined);
      assert.equal((await store.cooperatives.list({}, { page: 1, pageSize: 5 })).count, 1);
    },
  );
}
