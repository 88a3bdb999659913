/** Every page of the desk with nothing, with one row of everything, and with more than a page takes. */
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

for (const rows of [1, MORE_THAN_A_PAGE]) {
  // Hundreds of pages.
  const slow = { timeout: 180_000 };
  test(`every page of the desk is there with ${rows} rows of everything`, slow, async (context) => {
    assertComplete(await visitEveryPage(context, rows), rows);
  });
}

for (const language of ['fr', 'rw'] as const) {
  test(`every page of the desk is in ${language}`, async (context) => {
    const [empty, visited] = [
      await visitEveryPage(context, 0, { language }),
      await visitEveryPage(context, 1, { language }),
    ];
    assertComplete(visited, 1);
    assert.deepEqual([...empty.untranslated, ...visited.untranslated], []);
  });
}
