/** The dependencies of every command, so that a test can run it without a separate process. */

import type { AccessLedger } from '../access/access-ledger.ts';
import type { Clock } from '../runtime/scheduler.ts';
import type { Storage } from '../sqlite/storage.ts';
import type { Awaitable } from '../values/errors.ts';
import { hideIdentityCards } from '../values/identity-card.ts';
import { inLanguage, type Language, languageOf } from '../values/language.ts';
import { say, type Text } from '../values/message.ts';

/** Receives the error of a text that could not be written. */
export type OnLost = (error: NodeJS.ErrnoException) => void;

/** The running command's state in the access ledger. */
export interface CommandAccess {
  readonly command: string;
  /** True once the command may print results. */
  isRecorded: boolean;
}

export interface CliContext {
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /**
   * Writes results, which programs read. A failed write makes the exit status 1 unless `onLost` handles it.
   * @returns a promise while the reader is behind: wait for it before reading more of a long result
   */
  out: (text: string, onLost?: OnLost) => Awaitable<void>;
  /** Writes progress, notes and errors, which people read. */
  readonly err: (text: string) => void;
  /** Standard error if it is a terminal, for a progress bar. */
  readonly terminal: NodeJS.WriteStream | undefined;
  /** Passes messages of a command to the program that has started it and displays them. */
  readonly news?: ((news: object) => void) | undefined;
  /** Opens the ledger that records the personal data shown by a command. */
  openLedger?: (storage: Storage) => Promise<AccessLedger>;
  /** Set by `--lang`; defaults to the language of `env`. */
  language?: Language;
  reading?: CommandAccess;
  /**
   * Asks the user at the terminal; undefined unless standard input and standard error are terminals. The
   * answer is empty if the input ends, at Ctrl-C, or if the signal is aborted.
   */
  readonly ask?: ((question: string, signal: AbortSignal) => Promise<string>) | undefined;
}

export const languageFor = ({ language, env }: CliContext): Language => language ?? languageOf(env);

export const translate = (context: CliContext, text: Text): string => inLanguage(text, languageFor(context));

/** Prints a line to standard error, without national IDs: paths may contain them, too. */
export const tell = (context: CliContext, text: Text): void =>
  context.err(`${hideIdentityCards(translate(context, text))}\n`);

/** Prints a line of results for people. */
export const print = (context: CliContext, text: Text): void =>
  void context.out(`${translate(context, text)}\n`);

/** Exit statuses (docs/operating.md#commands); `partly`: all but a part of the access ledger. */
export const EXIT = { done: 0, refused: 1, usage: 2, partly: 3 } as const;

/** Ends a command with this exit status; its message, unless empty, is printed to standard error. */
export class CommandError extends Error {
  readonly exitCode: number;

  readonly text: Text;

  constructor(exitCode: number, text: Text) {
    super(String(text));
    this.exitCode = exitCode;
    this.text = text;
  }
}

/** The refusal to create a registry that was not asked for. */
export const noRegistryHere = ({ location }: { readonly location: string }): CommandError =>
  new CommandError(
    EXIT.usage,
    say('There is no registry at {location}. Check the path, or add --create to begin an empty one.', {
      location,
    }),
  );
