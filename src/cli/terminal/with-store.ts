/** Work with what a command has opened. */
import type { Awaitable } from '../../domain/values/awaitable.ts';

/** Runs work with a store, and closes it however the work ends. */
export async function withStore<S extends { close(): void }, T>(
  store: S,
  work: (store: S) => Awaitable<T>,
): Promise<T> {
  try {
    return await work(store);
  } finally {
    store.close();
  }
}
