/** What every command depends on, so that a test can run it without a process of its own. */
import { hideIdentityCards } from '../../domain/membership/identity-card.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';
import { say, type Text } from '../../domain/values/message.ts';
import type { ImportNews } from '../../import/run/import-news.ts';
import { inLanguage, type Language, languageOf } from '../../language/language.ts';
import type { Clock } from '../../runtime/clock.ts';

/** Takes the error of a text that could not be written. */
export type OnLost = (error: NodeJS.ErrnoException) => void;

/** What the command that runs has recorded in the access ledger. */
export interface CommandReading {
  /** Its words. */
  readonly command: string;
  /** Whether it may print results. */
  isRecorded: boolean;
}

export interface CliContext {
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /**
   * Results: what a program reads. Unless a lost one is taken care of, it makes the exit status 1.
   * @returns a promise while the reader is behind: wait for it before more of a long result is read
   */
  out: (text: string, onLost?: OnLost) => Awaitable<void>;
  /** Progress, notes and errors: what a person reads. */
  readonly err: (text: string) => void;
  /** Standard error when it is a terminal: where a progress bar may be drawn. */
  readonly terminal: NodeJS.WriteStream | undefined;
  /** Takes what an import says, for the program that has started this one and shows it. */
  readonly news?: ((news: ImportNews) => void) | undefined;
  /** Given by `--lang`; without it the language is that of `env`. */
  language?: Language;
  /** Of the command that runs. */
  reading?: CommandReading;
  /**
   * Asks the person at the terminal; undefined unless standard input and standard error are one. The answer
   * is empty when the input ends, at Ctrl-C, or when the signal is aborted.
   */
  readonly ask?: ((question: string, signal: AbortSignal) => Promise<string>) | undefined;
}

export const languageFor = ({ language, env }: CliContext): Language => language ?? languageOf(env);

/** A text in the language of the person who reads it. */
export const translate = (context: CliContext, text: Text): string => inLanguage(text, languageFor(context));

/** Tells the person at the terminal, on a line, without national IDs: paths may hold them, too. */
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

/** The refusal to create a registry where nobody has asked for one. */
export const noRegistryHere = ({ location }: { readonly location: string }): CommandError =>
  new CommandError(
    EXIT.usage,
    say('There is no registry at {location}. Check the path, or add --create to begin an empty one.', {
      location,
    }),
  );
