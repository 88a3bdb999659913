/** Corrections beside a service that runs, as a command makes them. */
import assert from 'node:assert/strict';
import type { CorrectionOptions } from '../../src/journal/operations.ts';
import type { CorrectionResult } from '../../src/people/correction-result.ts';
import { type CorrectionStore, openCorrections } from '../../src/people/corrections/correction-store.ts';
import { nowSeconds } from '../../src/runtime/scheduler.ts';
import type { Awaitable } from '../../src/values/errors.ts';
import type { TestApp } from './app.ts';

/** @returns the id of the correction */
export async function correct(
  app: TestApp,
  work: (store: CorrectionStore, options: CorrectionOptions) => Awaitable<CorrectionResult>,
): Promise<number> {
  const store = openCorrections(app.registry.storage);
  const options = { reason: 'test', systemUser: 'operator', nowSeconds: nowSeconds(app.clock) };
  const result = await work(store, options);
  await store.close();
  assert.equal(result.outcome, 'done', JSON.stringify(result));
  return result.outcome === 'done' ? (result.correctionId as number) : 0;
}
