/** Every page of the desk with nothing, and with more rows of everything than a page shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SCREENS } from '../../src/desk-screens.ts';
import { assertComplete, visitEveryPage } from '../support/desk-pages.ts';

/** One more than a page of a list shows. */
const MORE_THAN_A_PAGE = 51;

test('every page of the desk is there while the registry is empty', async (context) => {
  const { screens } = await visitEveryPage(context, 0);
  const expected = SCREENS.filter(({ path }) => !path.includes(':')).map(({ path }) => path);
  assert.deepEqual(
    expected.filter((path) => !screens.has(path)),
    [],
  );
});

test('every page of the desk is there with more rows than a page shows', async (context) => {
  assertComplete(await visitEveryPage(context, MORE_THAN_A_PAGE), MORE_THAN_A_PAGE);
});
