/** Each planted fault has its place in the code: without it, torture would catch nothing. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FAULTS, ROOT } from './faults.ts';

test('what each planted fault replaces is in its file exactly once', () => {
  const lost = Object.entries(FAULTS)
    .filter(([, { file, old }]) => readFileSync(join(ROOT, file), 'utf8').split(old).length !== 2)
    .map(([name]) => name);
  assert.deepEqual(lost, []);
});
