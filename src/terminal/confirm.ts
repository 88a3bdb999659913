/** Asks the user for confirmation (docs/operating.md#commands). */

import type { Command } from 'commander';
import type { Awaitable } from '../values/errors.ts';
import type { Language } from '../values/language.ts';
import { say, type Text } from '../values/message.ts';
import { type CliContext, CommandError, EXIT, languageFor, translate } from './context.ts';

export interface ConfirmOptions {
  readonly yes?: true;
  readonly dryRun?: true;
}

export const addConfirmOptions = (command: Command): Command =>
  command
    .option('--yes', 'do it without asking')
    .option('--dry-run', 'change nothing, and show what would be changed');

/** Users expect `y` in every language. */
const YES: { readonly [language in Language]: readonly string[] } = {
  en: ['y', 'yes'],
  fr: ['y', 'o', 'oui'],
  rw: ['y', 'yego'],
};

/**
 * @param question ends with the possible answers
 * @returns false if the user cannot be asked
 */
export async function asksYes(context: CliContext, question: Text, signal: AbortSignal): Promise<boolean> {
  const answer = await context.ask?.(`${translate(context, question)} `, signal);
  return YES[languageFor(context)].includes(answer?.trim().toLowerCase() ?? '');
}

/**
 * @param show prints the preview of a change; throws if the change would be refused
 * @returns the result of `show`, which the user has confirmed; undefined with `--yes` or `--dry-run`
 * @throws CommandError with status 1 if the user declines or cannot be asked
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

/** For a change whose effect differs from the confirmed preview. */
export const changedMeanwhile = () =>
  new CommandError(EXIT.refused, say('Nothing was changed: the registry has changed meanwhile. Try again.'));
