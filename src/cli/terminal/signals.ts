/** How a command is asked to end: by SIGTERM or SIGINT. */
import type { Awaitable } from '../../domain/values/awaitable.ts';
import { EXIT } from './context.ts';

/** Of a command that runs until then. Resolves at the first signal; a second one ends the process at once. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    const onSignal = () => {
      if (isStopping) process.exit(EXIT.refused);
      isStopping = true;
      resolve();
    };
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  });
}

/**
 * Runs work that ends before its next step when a signal comes; a second one ends the process at once.
 * @param interrupted gives what the work is aborted with
 */
export async function interruptible<T>(
  interrupted: () => Error,
  work: (signal: AbortSignal) => Awaitable<T>,
): Promise<T> {
  const interruption = new AbortController();
  const onSignal = () => interruption.abort(interrupted());
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    return await work(interruption.signal);
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}
