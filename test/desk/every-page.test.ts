/** Every page of the desk with nothing, and with one row of everything. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SCREENS } from '../../src/desk-screens.ts';
import { assertComplete, visitEveryPage } from '../support/desk-pages.ts';

test('every page of the desk is there while the registry is empty', async (context) => {
  const { screens } = await visitEveryPage(context, 0);
  const expected = SCREENS.filter(({ path }) => !path.includes(':')).map(({ path }) => path);
  assert.deepEqual(
    expected.filter((path) => !screens.has(path)),
    [],
  );
});

test('every page of the desk is there with one row of everything', async (context) => {
  assertComplete(await visitEveryPage(context, 1), 1);
});
