/** What happens at the end of an event-loop iteration, and in which order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Scheduler } from '../../src/runtime/scheduler.ts';

/** By iterations, not by time: on a busy machine a timer may fire before the end of the first one. */
async function nextIteration(): Promise<void> {
  for (let i = 0; i < 4; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}

test('storage comes before output, with the microtasks of storage in between', async () => {
  const scheduler = new Scheduler();
  const order: string[] = [];
  scheduler.atEnd('log', () => order.push('log'));
  scheduler.atEnd('storage', () => {
    order.push('commit');
    void Promise.resolve().then(() => {
      order.push('handler');
      scheduler.atEnd('send', () => order.push('response'));
    });
  });
  order.push('iteration');
  await nextIteration();
  assert.deepEqual(order, ['iteration', 'commit', 'handler', 'response', 'log']);
});

test('output that a commit made possible is sent in the same iteration', async () => {
  const scheduler = new Scheduler();
  const order: string[] = [];
  scheduler.atEnd('storage', () => {
    void Promise.resolve().then(() => scheduler.atEnd('send', () => order.push('response')));
    setImmediate(() => order.push('next iteration'));
  });
  await nextIteration();
  assert.deepEqual(order, ['response', 'next iteration']);
});

test('work that is scheduled during its own step runs once, at the end of the next iteration', async () => {
  const scheduler = new Scheduler();
  const order: string[] = [];
  for (const step of ['storage', 'send', 'log'] as const) {
    scheduler.atEnd(step, () => {
      order.push(step);
      scheduler.atEnd(step, () => order.push(`${step} again`));
    });
  }
  await nextIteration();
  assert.deepEqual(order, ['storage', 'send', 'log', 'storage again', 'send again', 'log again']);
});

test('a log line of what is sent now is written in the same iteration', async () => {
  const scheduler = new Scheduler();
  const order: string[] = [];
  scheduler.atEnd('send', () => {
    order.push('send');
    scheduler.atEnd('log', () => order.push('log'));
    setImmediate(() => order.push('next iteration'));
  });
  await nextIteration();
  assert.deepEqual(order, ['send', 'log', 'next iteration']);
});

test('two schedulers share nothing', async () => {
  const [one, other] = [new Scheduler(), new Scheduler()];
  const order: string[] = [];
  one.atEnd('send', () => order.push('one: send'));
  other.atEnd('storage', () => order.push('other: storage'));
  await nextIteration();
  assert.deepEqual(order, ['one: send', 'other: storage']);
});
