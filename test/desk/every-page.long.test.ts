/**
 * Every page of the desk with one more row of everything than a page shows, and with more than a block of the
 * counts; every page and every answer to a form in French and Kinyarwanda.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAllSent, assertComplete, visitEveryPage } from '../support/desk-pages.ts';

for (const rows of [51, 2_001]) {
  test(`every page of the desk is there with ${rows} rows of everything`, async (context) => {
    assertComplete(await visitEveryPage(context, rows), rows);
  });
}

// Two of them may be one person, and one may be two.
const ROWS_WITH_FORMS = 3;

for (const language of ['fr', 'rw'] as const) {
  test(`every page of the desk is in ${language}`, async (context) => {
    const [empty, visited] = [
      await visitEveryPage(context, 0, { language }),
      await visitEveryPage(context, 1, { language }),
    ];
    assertComplete(visited, 1);
    assert.deepEqual([...empty.untranslated, ...visited.untranslated], []);
  });

  test(`every answer to a form of the desk is in ${language}`, async (context) => {
    const visited = await visitEveryPage(context, ROWS_WITH_FORMS, { language, sendsForms: true });
    assertComplete(visited, ROWS_WITH_FORMS);
    assert.deepEqual([...visited.untranslated], []);
    assertAllSent(visited);
  });
}
