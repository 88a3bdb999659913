/** Dependencies of commands, which tests replace to run commands within the process of the test. */

import type { AccessLedger } from '../access/access-ledger.ts';
import type { Clock } from '../runtime/scheduler.ts';
import type { Storage } from '../sqlite/storage.ts';
import type { Awaitable } from '../values/errors.ts';
import { hideIdentityCards } from '../values/identity-card.ts';
import { inLanguage, type Language, languageOf } from '../values/language.ts';
import { say, type Text } from '../values/message.ts';

/** Handles the error of a failed write. */
export type OnLost = (error: NodeJS.ErrnoException) => void;

export interface CommandAccess {
  readonly command: string;
  /** True once the command may print results. */
  isRecorded: boolean;
}

export interface CliContext {
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /**
   * Writes results, for programs. After a failed write, the exit status is 1, unless `onLost` handles the
   * error.
   * @returns a promise if the reader is slower than the command, to await before further long output
   */
  out: (text: string, onLost?: OnLost) => Awaitable<void>;
  /** Writes progress, notes and errors, for people. */
  readonly err: (text: string) => void;
  /** Standard error, for a progress bar; undefined unless it is a terminal. */
  readonly terminal: NodeJS.WriteStream | undefined;
  /** Sends a message, such as progress, to the parent process. */
  readonly news?: ((news: object) => void) | undefined;
  openLedger?: (storage: Storage) => Promise<AccessLedger>;
  /** Language of `--lang`; undefined for the language of `env`. */
  language?: Language;
  reading?: CommandAccess;
  /**
   * Asks the user. The answer is empty at the end of the input, after Ctrl-C, and when the signal is aborted.
   * Undefined if there is neither a terminal nor a parent process.
   */
  readonly ask?: ((question: string, signal: AbortSignal) => Promise<string>) | undefined;
}

export const languageFor = ({ language, env }: CliContext): Language => language ?? languageOf(env);

export const translate = (context: CliContext, text: Text): string => inLanguage(text, languageFor(context));

/** Prints a line to standard error. Hides national IDs, which even paths may contain. */
export const tell = (context: CliContext, text: Text): void =>
  context.err(`${hideIdentityCards(translate(context, text))}\n`);

export const print = (context: CliContext, text: Text): void =>
  void context.out(`${translate(context, text)}\n`);

/** Exit statuses (docs/operating.md#commands). `partly` stands for an incomplete access ledger. */
export const EXIT = { done: 0, refused: 1, usage: 2, partly: 3, crashed: 4 } as const;

/** Ends a command. The message is printed to standard error unless it is empty. */
export class CommandError extends Error {
  readonly exitCode: number;
  readonly text: Text;

  constructor(exitCode: number, text: Text) {
    super(String(text));
    this.exitCode = exitCode;
    this.text = text;
  }
}

/** For a command that creates a registry only with `--create`. */
export const noRegistryHere = ({ location }: { readonly location: string }): CommandError =>
  new CommandError(
    EXIT.usage,
    say('There is no registry at {location}. Check the path, or add --create to begin an empty one.', {
      location,
    }),
  );
