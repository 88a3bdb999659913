/** Ends a command on SIGTERM or SIGINT, and words the errors of listening on a port. */

import type { Command } from 'commander';
import type { SocketAddress } from '../runtime/config.ts';
import type { Awaitable } from '../values/errors.ts';
import type { Language } from '../values/language.ts';
import { say, type Text } from '../values/message.ts';
import { type CliContext, CommandError, EXIT, languageFor, translate } from './context.ts';

/**
 * For a command that runs until a signal. Resolves at the first one; a second one ends the process at once.
 */
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
 * Runs work that ends before its next step when a signal arrives; a second one ends the process at once.
 * @param interrupted creates the error with which the work is aborted
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

/** Returns an error of listening that the operator can act on; any other error unchanged. */
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

// Asks for confirmation of actions that need more than one keystroke (docs/operating.md#commands).

export interface ConfirmOptions {
  readonly yes?: true;
  readonly dryRun?: true;
}

export const addConfirmOptions = (command: Command): Command =>
  command
    .option('--yes', 'do it without asking')
    .option('--dry-run', 'change nothing, and show what would be changed');

/** Affirmative answers in each language; `y` is one in all of them, as users expect it. */
const YES: { readonly [language in Language]: readonly string[] } = {
  en: ['y', 'yes'],
  fr: ['y', 'o', 'oui'],
  rw: ['y', 'yego'],
};

/**
 * Asks the user at the terminal.
 * @param question text that ends with the possible answers
 * @returns true if the answer is yes; false if there is no terminal
 */
export async function asksYes(context: CliContext, question: Text, signal: AbortSignal): Promise<boolean> {
  const answer = await context.ask?.(`${translate(context, question)} `, signal);
  return YES[languageFor(context)].includes(answer?.trim().toLowerCase() ?? '');
}

/**
 * Shows what would be done, and asks for confirmation.
 * @param show prints it; throws if it would be refused
 * @returns the result of `show` once the user has confirmed it; undefined if no question was asked
 * @throws CommandError with status 1 unless the user at the terminal agrees
 */
export async function confirm<Preview>(
  context: CliContext,
  { yes, dryRun }: ConfirmOptions,
  show: () => Awaitable<Preview>,
): Promise<Preview | undefined> {
  if (yes === true || dryRun === true) return undefined;
  const preview = await show();
  if (context.ask === undefined)
    throw new CommandError(EXIT.refused, 'Nothing was changed. Without a terminal, add --yes to do this.');
  if (!(await asksYes(context, 'Do it? [y/N]', new AbortController().signal)))
    throw new CommandError(EXIT.refused, 'Nothing was changed.');
  return preview;
}

/** The refusal of a change that is no longer the one that the user confirmed. */
export const changedMeanwhile = () =>
  new CommandError(EXIT.refused, say('Nothing was changed: the registry has changed meanwhile. Try again.'));
