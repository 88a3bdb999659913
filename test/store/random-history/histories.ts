/** Runs random histories, as many as the suite that asks for them has time for. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { EVENT_TYPES } from '../../../src/registry/changes/event-types.ts';
import { History } from './history.ts';
import { everyOperation, importsAndWrites, type Operation, person, START, startFiles } from './steps.ts';

const { HISTORY_RUNS, HISTORY_SEED, HISTORY_PATH } = process.env;

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
  last?: Operation,
): Promise<number> {
  const history = new History(context, isRefusalExact);
  try {
    for (const operation of operations) await history.take(operation);
    const { size } = await history.finish();
    if (last !== undefined) await history.take(last);
    return size;
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

function parametersOf(runs: number, seed: number | undefined) {
  const chosen = HISTORY_SEED === undefined ? seed : Number(HISTORY_SEED);
  return {
    numRuns: Number(HISTORY_RUNS ?? runs),
    ...(chosen === undefined || (HISTORY_RUNS !== undefined && HISTORY_SEED === undefined)
      ? {}
      : { seed: chosen }),
    // Making a failure smaller takes minutes.
    endOnFailure: true,
    ...(HISTORY_PATH === undefined ? {} : { path: HISTORY_PATH }),
  };
}

/**
 * @param runs of each test
 * @param seed for always the same histories; without it others each time
 */
export function testHistories(runs: number, seed?: number): void {
  const timeout = 20_000 * Math.max(runs, Number(HISTORY_RUNS ?? 0));

  test('imports that are undone in any order leave nothing behind, and a refused one has what builds on it', {
    timeout,
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
      parametersOf(runs, seed),
    );
    const added = ['delivery done', 'unnumbered done', 'saving done'];
    const expected = ['undo done', 'undo refused', 'writes done', 'writes refused', 'payments done'];
    if (seesAll(runs)) assertSeen(seen.outcomes, [...expected, ...added]);
  });

  test('every operation leaves rows, counts, events, lookups and erased persons as they must be', {
    timeout,
  }, async (context) => {
    const seen: Seen = { outcomes: new Map(), events: new Set() };
    await fc.assert(
      fc.asyncProperty(startFiles, everyOperation, person, async (start, operations, from) => {
        await run(context, [...start, ...operations], false, seen, { kind: 'erase', from, to: 0 });
      }),
      parametersOf(runs, seed),
    );
    const kinds = ['replace', 'merge', 'move', 'transfer', 'release', 'cooperatives', 'death', 'remove'];
    const expected = [...kinds, 'erase', 'undo'].map((kind) => `${kind} done`);
    if (seesAll(runs)) assertSeen(seen.outcomes, expected);
    if (seesAll(runs)) assert.deepEqual([...seen.events].sort(), [...EVENT_TYPES].sort());
  });
}

/** In so many histories everything happens. */
const seesAll = (runs: number): boolean => HISTORY_PATH === undefined && Number(HISTORY_RUNS ?? runs) >= 100;

const assertSeen = (seen: ReadonlyMap<string, number>, outcomes: readonly string[]): void =>
  assert.deepEqual(
    outcomes.filter((outcome) => !seen.has(outcome)),
    [],
  );
