/** Values that are there now, or come later: from a thread, a body, the disk or a reader. */

export type Awaitable<T> = T | PromiseLike<T>;

export const isThenable = <T>(value: Awaitable<T>): value is PromiseLike<T> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';

/** Continues with a value, in the same event-loop iteration when it is there already, as in a lookup. */
export const whenReady = <T, U>(value: Awaitable<T>, work: (value: T) => Awaitable<U>): Awaitable<U> =>
  isThenable(value) ? value.then(work) : work(value);
