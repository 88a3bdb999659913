/**
 * Random histories of all operations, each step checked by what it did to the rows. A failure prints its seed
 * and path: HISTORY_SEED=1 HISTORY_PATH=2 tells it step by step and makes it smaller, and HISTORY_RUNS=500
 * tries other histories.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { EVENT_TYPES } from '../../../src/domain/events.ts';
import { History } from './history.ts';
import { everyOperation, importsAndWrites, type Operation, START, startFiles } from './steps.ts';

const { HISTORY_RUNS, HISTORY_SEED, HISTORY_PATH } = process.env;
/** Without a number of runs always the same ones, which see everything happen that is asserted below. */
const ALWAYS_SEEN = HISTORY_RUNS === undefined && HISTORY_SEED === undefined;
const parameters = {
  ...{ numRuns: Number(HISTORY_RUNS ?? 40), interruptAfterTimeLimit: 540_000 },
  ...(ALWAYS_SEEN ? { seed: 7 } : {}),
  ...(HISTORY_SEED === undefined ? {} : { seed: Number(HISTORY_SEED) }),
  // Making a failure smaller takes minutes.
  ...(HISTORY_PATH === undefined ? { endOnFailure: true } : { path: HISTORY_PATH }),
};

interface Seen {
  readonly outcomes: Map<string, number>;
  readonly events: Set<string>;
}

/** @returns how many rows are left after everything was undone that can be */
async function run(
  context: TestContext,
  operations: readonly Operation[],
  isRefusalExact: boolean,
  seen: Seen,
): Promise<number> {
  const history = new History(context, isRefusalExact);
  try {
    for (const operation of operations) await history.take(operation);
    return (await history.finish()).size;
  } catch (error) {
    if (HISTORY_PATH !== undefined) console.log(history.told.join('\n'));
    throw error;
  } finally {
    for (const [outcome, count] of history.seen)
      seen.outcomes.set(outcome, (seen.outcomes.get(outcome) ?? 0) + count);
    for (const type of history.announced) seen.events.add(type);
    await history.close();
  }
}

function assertSeen(seen: ReadonlyMap<string, number>, outcomes: readonly string[]): void {
  const missing = outcomes.filter((outcome) => !seen.has(outcome));
  assert.deepEqual(ALWAYS_SEEN ? missing : [], []);
}

test('imports that are undone in any order leave nothing behind, and a refused one has what builds on it', {
  timeout: 600_000,
}, async (context) => {
  const seen: Seen = { outcomes: new Map(), events: new Set() };
  await fc.assert(
    fc.asyncProperty(importsAndWrites, async (operations) => {
      const left = await run(context, [...START, ...operations], true, seen);
      const hasWrites = operations.some(
        (each) => each.kind === 'writes' || (each.kind === 'import' && each.beside !== undefined),
      );
      assert.ok(left === 0 || hasWrites, `${left} rows are left`);
    }),
    parameters,
  );
  assertSeen(seen.outcomes, ['undo done', 'undo refused', 'writes done', 'writes refused', 'payments done']);
});

test('every operation leaves rows, counts, events, lookups and erased persons as they must be', {
  timeout: 600_000,
}, async (context) => {
  const seen: Seen = { outcomes: new Map(), events: new Set() };
  await fc.assert(
    fc.asyncProperty(startFiles, everyOperation, async (start, operations) => {
      await run(context, [...start, ...operations], false, seen);
    }),
    parameters,
  );
  const kinds = ['replace', 'merge', 'move', 'release', 'cooperatives', 'death', 'remove', 'erase', 'undo'];
  assertSeen(
    seen.outcomes,
    kinds.map((kind) => `${kind} done`),
  );
  if (ALWAYS_SEEN) assert.deepEqual([...seen.events].sort(), [...EVENT_TYPES].sort());
});
