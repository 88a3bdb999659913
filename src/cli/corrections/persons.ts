/** `persons`: what concerns a person in all cooperatives (docs/correcting.md#a-death). */
import type { Command } from 'commander';
import { openConfiguredStorage } from '../../app/storage.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { formatJson } from '../terminal/output.ts';
import { addSettingOptions, configOf, type SettingOptions } from '../terminal/settings.ts';
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

interface ShowOptions extends SettingOptions {
  readonly json?: true;
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
  addSettingOptions(persons.command('show'), 'REGISTRY_DB')
    .description('show everything held about a person, in all cooperatives and statuses: personal data')
    .argument('<nid>', 'national ID of the person, also a former one')
    .option('--json', 'print one JSON document')
    .action((nid: string, options: ShowOptions) => show(context, nid, options));
}

async function show(context: CliContext, nid: string, options: ShowOptions): Promise<void> {
  const identityCard = readNumber(nid);
  const config = configOf(context, options);
  const store = openConfiguredStorage(config, context.clock).openHeldData();
  try {
    const person = await store.findPerson(identityCard);
    if (person === undefined) throw new CommandError(EXIT.refused, 'Nobody has this national ID.');
    if (options.json === true) context.out(formatJson(describePerson(person, config.zone)));
    else context.out(formatPerson(person, config.zone));
  } finally {
    await store.close();
  }
}
