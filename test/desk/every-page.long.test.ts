/** Every page of the desk with more rows than any page, and than most registries have of most things. */
import { test } from 'node:test';
import { assertComplete, visitEveryPage } from '../support/desk-pages.ts';

for (const rows of [201, 10_000]) {
  test(`every page of the desk is there with ${rows} rows of everything`, async (context) => {
    assertComplete(await visitEveryPage(context, rows), rows);
  });
}
