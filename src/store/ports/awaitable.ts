/** Values that are there now, or come later from across a network. */

/** An engine in this process answers at once, one across a network later. */
export type Awaitable<T> = T | PromiseLike<T>;

export const isThenable = <T>(value: Awaitable<T>): value is PromiseLike<T> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';

/**
 * Goes on with a value, in the same event-loop iteration when it is there already: the way of the hottest
 * route.
 */
export const whenReady = <T, U>(value: Awaitable<T>, work: (value: T) => Awaitable<U>): Awaitable<U> =>
  isThenable(value) ? value.then(work) : work(value);
