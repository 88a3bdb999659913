/** Conformance of a store of API keys. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageError } from '../../../src/sqlite/sqlite-errors.ts';
import { type Engine, nextIteration, openKeys, openPlace, openRegistry } from './engine.ts';
import { createSecret, KEY } from './sample.ts';

export function keysConformance(engine: Engine): void {
  const title = (text: string) => `${engine.name}: ${text}`;

  test(title('keys that nobody has issued yet can be served and issued, not managed'), async (context) => {
    const { storage } = openPlace(engine, context);
    await openRegistry(context, storage).close();
    const unusable = (error: unknown) => error instanceof StorageError && error.kind === 'unusable';
    assert.throws(() => openKeys(context, storage, 'manage'), unusable);
    openKeys(context, storage, 'serve');
    openKeys(context, storage, 'manage');
  });

  test(title('a key is found by its secret and its id as it was issued'), async (context) => {
    const keys = openKeys(context, openPlace(engine, context).storage, 'issue');
    const secret = createSecret();
    const issued = await keys.create(KEY, secret, 7);
    assert.deepEqual(issued, {
      ...KEY,
      id: 1,
      isActive: true,
      prefixes: ['crs_abcdef'],
      createdAt: 7,
      updatedAt: 7,
    });
    assert.deepEqual(await keys.find(1, 8), issued);
    assert.deepEqual(await keys.findBySecret(secret.hex, 8), issued);
    assert.deepEqual(await keys.list(8), [issued]);
    assert.equal(await keys.find(2, 8), undefined);
    assert.equal(await keys.findBySecret(createSecret().hex, 8), undefined);
  });

  test(
    title('a change by another process is seen from the next iteration of the event loop'),
    async (context) => {
      const { storage, elsewhere } = openPlace(engine, context);
      await openRegistry(context, storage).close();
      const [serving, command] = [
        openKeys(context, storage, 'serve'),
        openKeys(context, elsewhere, 'manage'),
      ];
      const secret = createSecret();
      const found = async () => {
        await nextIteration();
        return serving.findBySecret(secret.hex, 5);
      };
      // Looked up before it was issued, twice: the result may have been cached.
      assert.deepEqual([await found(), await found()], [undefined, undefined]);
      const { id } = await command.create(KEY, secret, 1);
      assert.equal((await found())?.isActive, true);
      await command.update(id, { isActive: false }, 2);
      assert.deepEqual([(await found())?.isActive, (await found())?.updatedAt], [false, 2]);
      await command.update(id, { isActive: true, scopes: ['loans:read'] }, 3);
      assert.deepEqual([(await found())?.isActive, (await found())?.scopes], [true, ['loans:read']]);
      await command.rotate(id, createSecret(), 0, 4);
      assert.equal(await found(), undefined);
    },
  );

  test(
    title('a change replaces what it names and keeps the rest; of an unknown key it is undefined'),
    async (context) => {
      const keys = openKeys(context, openPlace(engine, context).storage, 'issue');
      const issued = await keys.create(KEY, createSecret(), 1);
      const changes = { limits: { perHour: 6, perDay: 60 }, allowedHosts: ['a.rw'], expiresAt: 99 };
      assert.deepEqual(await keys.update(1, changes, 2), { ...issued, ...changes, updatedAt: 2 });
      assert.equal(await keys.update(9, changes, 2), undefined);
      assert.equal(await keys.rotate(9, createSecret(), 0, 2), undefined);
    },
  );

  test(
    title('after a rotation both secrets work until the overlap ends, then only the new one'),
    async (context) => {
      const keys = openKeys(context, openPlace(engine, context).storage, 'issue');
      const [first, second, third] = [
        createSecret('crs_first'),
        createSecret('crs_second'),
        createSecret('crs_third'),
      ];
      await keys.create(KEY, first, 10);
      await keys.rotate(1, second, 5, 20);
      const working = async (now: number) => {
        const found = await Promise.all([first, second, third].map(({ hex }) => keys.findBySecret(hex, now)));
        return found.map((key) => key?.id);
      };
      assert.deepEqual(await working(24), [1, 1, undefined]);
      assert.deepEqual((await keys.find(1, 24))?.prefixes, ['crs_first', 'crs_second']);
      assert.deepEqual(await working(25), [undefined, 1, undefined]);
      assert.deepEqual((await keys.find(1, 25))?.prefixes, ['crs_second']);
      await keys.rotate(1, third, 0, 30);
      assert.deepEqual(await working(30), [undefined, undefined, 1]);
      assert.equal((await keys.list(30)).length, 1);
    },
  );

  test(
    title('a key that has expired is still found, as callers decide whether it may be used'),
    async (context) => {
      const keys = openKeys(context, openPlace(engine, context).storage, 'issue');
      const secret = createSecret();
      await keys.create({ ...KEY, expiresAt: 5 }, secret, 1);
      assert.equal((await keys.findBySecret(secret.hex, 9))?.expiresAt, 5);
    },
  );
}
