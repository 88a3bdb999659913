/** Ends commands on SIGTERM or SIGINT, and explains errors of listening on a port. */

import type { SocketAddress } from '../runtime/config.ts';
import type { Awaitable } from '../values/errors.ts';
import { CommandError, EXIT } from './context.ts';

/** Resolves at the first signal, for `serve` and `desk`. A second signal ends the process at once. */
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
 * Runs work that a signal aborts before the next step. A second signal ends the process at once.
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

// Errors of listening on a port

interface ListeningPlace extends SocketAddress {
  /** Name of the option or setting for the port. */
  readonly setting: string;
}

/** Explains an error of listening to the operator, and returns other errors unchanged. */
export function toListenError(error: unknown, { host, port, setting }: ListeningPlace): unknown {
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
