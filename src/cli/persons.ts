/** `persons`: what concerns a person in all cooperatives (docs/correcting.md#a-death). */
import type { Command } from 'commander';
import { nowSeconds } from '../clock.ts';
import { FUTURE_ERROR, formatDate, parseDate } from '../domain/date-time.ts';
import { FieldError } from '../domain/errors.ts';
import { type CliContext, CommandError, EXIT } from './context.ts';
import {
  addCorrectionOptions,
  type CorrectionCommandOptions,
  correct,
  readNumber,
} from './correction-command.ts';
import { configOf } from './settings.ts';

interface DeceasedOptions extends CorrectionCommandOptions {
  readonly on: string;
}

export function declarePersons(persons: Command, context: CliContext): void {
  addCorrectionOptions(persons.command('deceased'))
    .description('record the death of a person, in every membership')
    .argument('<nid>', 'national ID of the person')
    .requiredOption('--on <date>', 'day of the death, YYYY-MM-DD')
    .action(async (nid: string, options: DeceasedOptions) => {
      const [identityCard, date] = [readNumber(nid), readPastDate(context, options)];
      await correct(context, options, (store, given) => store.recordDeath(identityCard, date, given));
    });
}

/** @throws CommandError with status 2 for what is not a date until today in the registry's zone */
function readPastDate(context: CliContext, options: DeceasedOptions): string {
  const today = formatDate(nowSeconds(context.clock), configOf(context, options).zone);
  const parsed = parseDate(options.on);
  const date = typeof parsed === 'string' && parsed > today ? FUTURE_ERROR : parsed;
  if (date instanceof FieldError) throw new CommandError(EXIT.usage, `--on: ${date.message}`);
  return date;
}
