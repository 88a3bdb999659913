/** Asks before something is done that one keystroke should not do (docs/operating.md#commands). */
import type { Command } from 'commander';
import { type CliContext, CommandError, EXIT } from './context.ts';

export interface ConfirmOptions {
  readonly yes?: true;
  readonly dryRun?: true;
}

/** Adds `--yes` and `--dry-run`. */
export const addConfirmOptions = (command: Command): Command =>
  command
    .option('--yes', 'do it without asking')
    .option('--dry-run', 'change nothing, and show what would be changed');

/**
 * Shows what would be done, and asks.
 * @param show prints it; throws when it would be refused
 * @throws CommandError with status 1 unless somebody at the terminal agrees
 */
export async function confirm(
  context: CliContext,
  { yes, dryRun }: ConfirmOptions,
  show: () => Promise<void>,
): Promise<void> {
  if (yes === true || dryRun === true) return;
  await show();
  if (context.ask === undefined)
    throw new CommandError(EXIT.refused, 'Nothing was changed. Without a terminal, add --yes to do this.');
  const answer = await context.ask('Do it? [y/N] ', new AbortController().signal);
  if (answer.trim().toLowerCase() !== 'y') throw new CommandError(EXIT.refused, 'Nothing was changed.');
}
