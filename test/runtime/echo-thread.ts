/** The module of a thread for task-thread.test.ts. */
import { getPriority } from 'node:os';
import { setTimeout as after } from 'node:timers/promises';
import { serveTasks } from '../../src/runtime/task-thread.ts';
import { RegistryError } from '../../src/values/errors.ts';

const createTasks = (setup: { readonly greeting: string }) => ({
  greet: (name: string) => `${setup.greeting} ${name}`,
  priority: () => getPriority(),
  slowly: async (ms: number) => {
    await after(ms);
    return ms;
  },
  refuse: () => {
    throw new RegistryError('unavailable', 'Not now.', { retryAfterSeconds: 7 });
  },
  fail: () => {
    throw new TypeError('This is a defect.');
  },
  failWithNothing: () => {
    throw undefined;
  },
  die: () => {
    setImmediate(() => {
      throw new Error('This ends the thread.');
    });
    return new Promise<never>(() => {});
  },
});
export type EchoTasks = ReturnType<typeof createTasks>;

serveTasks(createTasks);
