/** Asks before something is done that one keystroke should not do (docs/operating.md#commands). */

import type { Command } from 'commander';
import type { Awaitable } from '../../domain/values/awaitable.ts';
import { say, type Text } from '../../domain/values/message.ts';
import type { Language } from '../../language/language.ts';
import { type CliContext, CommandError, EXIT, languageFor, translate } from './context.ts';

export interface ConfirmOptions {
  readonly yes?: true;
  readonly dryRun?: true;
}

/** Adds `--yes` and `--dry-run`. */
export const addConfirmOptions = (command: Command): Command =>
  command
    .option('--yes', 'do it without asking')
    .option('--dry-run', 'change nothing, and show what would be changed');

/** What agrees to a question in each language; `y` does in all of them, as people are used to it. */
const YES: { readonly [language in Language]: readonly string[] } = {
  en: ['y', 'yes'],
  fr: ['y', 'o', 'oui'],
  rw: ['y', 'yego'],
};

/**
 * Asks the person at the terminal.
 * @param question ends with the answers to it
 * @returns whether the answer is yes; false where there is nobody to ask
 */
export async function asksYes(context: CliContext, question: Text, signal: AbortSignal): Promise<boolean> {
  const answer = await context.ask?.(`${translate(context, question)} `, signal);
  return YES[languageFor(context)].includes(answer?.trim().toLowerCase() ?? '');
}

/**
 * Shows what would be done, and asks.
 * @param show prints it; throws when it would be refused
 * @returns what `show` gives, once somebody has agreed to it; undefined where nobody was asked
 * @throws CommandError with status 1 unless somebody at the terminal agrees
 */
export async function confirm<Shown>(
  context: CliContext,
  { yes, dryRun }: ConfirmOptions,
  show: () => Awaitable<Shown>,
): Promise<Shown | undefined> {
  if (yes === true || dryRun === true) return undefined;
  const shown = await show();
  if (context.ask === undefined)
    throw new CommandError(EXIT.refused, 'Nothing was changed. Without a terminal, add --yes to do this.');
  if (!(await asksYes(context, 'Do it? [y/N]', new AbortController().signal)))
    throw new CommandError(EXIT.refused, 'Nothing was changed.');
  return shown;
}

/** What would be done is not what somebody has agreed to. */
export const changedMeanwhile = () =>
  new CommandError(EXIT.refused, say('Nothing was changed: the registry has changed meanwhile. Try again.'));
