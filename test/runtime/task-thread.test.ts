/** Work in a thread of its own: results, refusals and defects come back; a lost thread is replaced. */
import assert from 'node:assert/strict';
import { getPriority } from 'node:os';
import { type TestContext, test } from 'node:test';
import { moduleBeside, TaskThread } from '../../src/runtime/task-thread.ts';
import type { EchoTasks } from './echo-thread.ts';

function start(context: TestContext, maxWaiting = 10): TaskThread<EchoTasks> {
  const module = moduleBeside(import.meta.url, 'echo-thread');
  const thread = new TaskThread<EchoTasks>({ module, setup: { greeting: 'Muraho' }, maxWaiting });
  context.after(() => thread.close());
  return thread;
}

test('a task gets its input and what the thread was set up with, and gives its result', async (context) => {
  const thread = start(context);
  const names = ['a', 'b', 'c'];
  const greetings = await Promise.all(names.map((name) => thread.run('greet', name)));
  assert.deepEqual(greetings, ['Muraho a', 'Muraho b', 'Muraho c']);
});

test('a refusal stays a refusal, and a defect an error with its own message', async (context) => {
  const thread = start(context);
  await assert.rejects(thread.run('refuse', undefined), {
    ...{ name: 'RegistryError', code: 'unavailable', message: 'Not now.', retryAfterSeconds: 7 },
  });
  await assert.rejects(thread.run('fail', undefined), { name: 'TypeError', message: 'This is a defect.' });
  await assert.rejects(thread.run('failWithNothing', undefined));
});

test('what waits is bounded: one more is refused until a task has ended', async (context) => {
  const thread = start(context, 1);
  const running = [thread.run('slowly', 50), thread.run('slowly', 1)];
  await assert.rejects(thread.run('greet', 'x'), { code: 'unavailable', retryAfterSeconds: 2 });
  assert.deepEqual(await Promise.all(running), [50, 1]);
  assert.equal(await thread.run('greet', 'x'), 'Muraho x');
});

test('a thread that is lost rejects its tasks, and the next task gets another one', async (context) => {
  const thread = start(context);
  await assert.rejects(thread.run('die', undefined), /This ends the thread/);
  assert.equal(await thread.run('greet', 'again'), 'Muraho again');
});

test('closing ends what runs, and nothing runs afterwards', async (context) => {
  const thread = start(context);
  const ended: string[] = [];
  const greeted = thread.run('greet', 'x').then(() => ended.push('greeted'));
  const running = assert.rejects(thread.run('slowly', 60_000), { code: 'unavailable' });
  const behind = assert.rejects(thread.run('greet', 'y'), { code: 'unavailable' });
  await greeted;
  await thread.close();
  await Promise.all([running, behind]);
  assert.deepEqual(ended, ['greeted']);
  await assert.rejects(thread.run('greet', 'x'), { code: 'unavailable' });
});

test('on Linux, a thread leaves the event loop most of the processor', async (context) => {
  if (process.platform !== 'linux') return context.skip('a priority is that of the process');
  const own = getPriority();
  assert.equal(await start(context).run('priority', undefined), Math.min(own + 5, 19));
  assert.equal(getPriority(), own);
});
