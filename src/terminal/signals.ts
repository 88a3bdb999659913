/** Ends commands after SIGTERM or SIGINT, and explains errors of listening on a port. */

import type { SocketAddress } from '../runtime/config.ts';
import type { Awaitable } from '../values/errors.ts';
import { CommandError, EXIT } from './context.ts';

/** Resolves after a first signal. A second signal ends the process at once. */
export function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isStopping = false;
  const onSignal = () => {
    if (isStopping) process.exit(EXIT.refused);
    isStopping = true;
    resolve();
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  return promise;
}

/**
 * Lets SIGTERM or SIGINT abort the work. The same signal again ends the process at once.
 * @param interrupted creates the reason of the abort
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

/**
 * Explains to the operator why the port cannot be used. Returns other errors unchanged.
 * @param setting name of the option or setting for the port
 */
export function toListenError(
  error: unknown,
  { host, port, setting }: SocketAddress & { readonly setting: string },
): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new CommandError(EXIT.refused, `Port ${port} is in use. Choose another one with ${setting}.`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new CommandError(EXIT.usage, `${host} is not an address of this machine.`);
    case 'EACCES':
      return new CommandError(
        EXIT.refused,
        `This process may not listen on port ${port}. Choose one above 1023.`,
      );
    default:
      return error;
  }
}
