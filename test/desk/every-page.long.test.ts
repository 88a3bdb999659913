/** Every page of the desk with one row of everything, and in each language. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertComplete, visitEveryPage } from '../support/desk-pages.ts';

// Hundreds of pages.
const slow = { timeout: 180_000 };

test('every page of the desk is there with one row of everything', slow, async (context) => {
  assertComplete(await visitEveryPage(context, 1), 1);
});

for (const language of ['fr', 'rw'] as const) {
  test(`every page of the desk is in ${language}`, slow, async (context) => {
    const [empty, visited] = [
      await visitEveryPage(context, 0, { language }),
      await visitEveryPage(context, 1, { language }),
    ];
    assertComplete(visited, 1);
    assert.deepEqual([...empty.untranslated, ...visited.untranslated], []);
  });
}
