/** A thread of the ledger whose disk does not answer until a number in shared memory is set. */
import { serveTasks } from '../../../../src/runtime/task-thread.ts';

serveTasks(({ flag }: { readonly flag: Int32Array }) => ({
  append() {
    Atomics.wait(flag, 0, 0);
    return { first: 1, hash: 'f'.repeat(64) };
  },
  removeOld: () => 0,
}));
