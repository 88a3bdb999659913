/** Long lists on standard output: no more is kept in memory than the reader takes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { createJsonWriter } from '../../src/terminal/output.ts';

const LONG = 100_000;

for (const [what, of] of [
  ['items', (numbers: Iterable<number>) => numbers],
  ['numbers of an item', (numbers: Iterable<number>) => [{ kind: 'x', lines: numbers }]],
] as const)
  test(`a list of many ${what} waits for a reader that is slow`, async () => {
    let taken = 0;
    function* numbers() {
      while (taken < LONG) yield taken++;
    }
    const written: string[] = [];
    let goOn = () => {};
    const writer = createJsonWriter((text) => {
      written.push(text);
      return new Promise<void>((resolve) => {
        goOn = resolve;
      });
    });
    const done = writer.list(of(numbers()), '');
    for (let pieces = 1; pieces <= 3; pieces++) {
      await nextIteration();
      assert.equal(written.length, pieces);
      assert.ok(taken < LONG / 2, `${taken} numbers were taken for ${pieces} pieces`);
      goOn();
    }
    const timer = setInterval(() => goOn(), 0);
    await done;
    clearInterval(timer);
    writer.flush();
    const shown = JSON.parse(written.join(''));
    assert.deepEqual((shown[0].lines ?? shown).length, LONG);
  });

test('a list of which an item cannot be read is completed, so that a program can read the rest', async () => {
  let written = '';
  const writer = createJsonWriter((text) => {
    written += text;
  });
  function* lines() {
    yield 1;
    throw new Error('unreadable');
  }
  await assert.rejects(writer.list([{ kind: 'x' }, { kind: 'y', lines: lines() }], '  '), /unreadable/);
  writer.flush();
  assert.deepEqual(JSON.parse(written), [{ kind: 'x' }, { kind: 'y', lines: [1] }]);
});

test('a list of many numbers is written without waiting for each of them', async () => {
  let characters = 0;
  const writer = createJsonWriter((text) => {
    characters += text.length;
  });
  let [turns, isDone] = [0, false];
  const turn = (): void => {
    turns++;
    if (!isDone) queueMicrotask(turn);
  };
  queueMicrotask(turn);
  await writer.list(Array.from({ length: 200_000 }, (_, i) => i));
  isDone = true;
  writer.flush();
  assert.equal(characters, JSON.stringify(Array.from({ length: 200_000 }, (_, i) => i)).length);
  assert.ok(turns < 100, `${turns} turns of the queue`);
});
