/** `persons`: what concerns a person in all cooperatives (docs/correcting.md#a-death). */
import type { Command } from 'commander';
import { openConfiguredStorage } from '../../app/storage.ts';
import { type CliContext, CommandError, EXIT, translate } from '../terminal/context.ts';
import { formatJson } from '../terminal/output.ts';
import { addPrintOptions, configOf, type PrintOptions } from '../terminal/settings.ts';
import { withStore } from '../terminal/with-store.ts';
import {
  addCorrectionOptions,
  type CorrectionCommandOptions,
  correct,
  readNumber,
  readPastDate,
} from './correction-command.ts';
import { describePerson, formatPerson } from './person-text.ts';

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
  addCorrectionOptions(persons.command('erase'))
    .description('remove what says who a person is, everywhere in the registry; it cannot be undone')
    .argument('<nid>', 'national ID of the person, also a former one')
    .action(async (nid: string, options: CorrectionCommandOptions) => {
      const identityCard = readNumber(nid);
      await correct(context, options, (store, given) => store.erasePerson(identityCard, given));
    });
  addPrintOptions(persons.command('show'))
    .description('show everything held about a person, in all cooperatives and statuses: personal data')
    .argument('<nid>', 'national ID of the person, also a former one')
    .action((nid: string, options: PrintOptions) => show(context, nid, options));
}

async function show(context: CliContext, nid: string, options: PrintOptions): Promise<void> {
  const identityCard = readNumber(nid);
  const config = configOf(context, options);
  const store = openConfiguredStorage(config, context.clock).openHeldData();
  const person = await withStore(store, () => store.findPerson(identityCard));
  if (person === undefined) throw new CommandError(EXIT.refused, 'Nobody has this national ID.');
  if (options.json === true) context.out(formatJson(describePerson(person, config.zone)));
  else context.out(formatPerson(person, config.zone, (text) => translate(context, text)));
}
