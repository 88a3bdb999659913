/** Each part of `make torture`, in a few seconds: nothing is lost, and the planted fault is caught. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryFolder } from '../support/app.ts';
import { isGood } from './figures.ts';
import { PARTS } from './parts.ts';

for (const [name, run] of Object.entries(PARTS)) {
  test(`what make torture does: ${name}`, async (context) => {
    const folder = temporaryFolder(context);
    const said: string[] = [];
    const outcome = await run({ folder, isSmall: true, seed: 1, progress: (text) => said.push(text) });
    if ('skipped' in outcome) {
      context.skip(outcome.skipped);
      return;
    }
    assert.ok(outcome.figures.length > 0);
    for (const figure of outcome.figures) assert.ok(isGood(figure), JSON.stringify([figure, said]));
  });
}
