/** A value is used at once, a promise is waited for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isThenable, whenReady } from '../../src/values/errors.ts';

/** As another library may return it: not an instance of Promise. */
const later = <T>(value: T): PromiseLike<T> => ({
  // biome-ignore lint/suspicious/noThenProperty: a thenable is what is tested
  then: (resolve) => Promise.resolve(value).then(resolve),
});

test('work goes on in the same iteration with a value that is there', () => {
  assert.equal(
    whenReady(2, (value) => value + 1),
    3,
  );
  // biome-ignore lint/suspicious/noThenProperty: not a function, so not a thenable
  for (const value of [undefined, null, 0, '', { then: 'no function' }]) {
    assert.equal(isThenable(value), false);
    assert.equal(
      whenReady(value, (given) => given === value),
      true,
    );
  }
});

test('a promise, and anything else with a then, is waited for', async () => {
  for (const value of [Promise.resolve(2), later(2)]) {
    assert.equal(isThenable(value), true);
    const worked = whenReady(value, (given) => given + 1);
    assert.ok(isThenable(worked));
    assert.equal(await worked, 3);
  }
  await assert.rejects(
    async () =>
      whenReady(Promise.reject(new Error('gone')), () => assert.fail('There was nothing to work on.')),
    /gone/,
  );
});
