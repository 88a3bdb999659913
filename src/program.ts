/** The command line: declares all commands, and runs one. */

import { Command } from 'commander';
import type { CommandEntry } from './module.ts';
import { loadSearch, loadStatus, MODULES } from './modules.ts';
import { packageVersion } from './runtime/process.ts';
import { type CliContext, EXIT } from './terminal/context.ts';
import { addLanguageOption, refuseEmptyValues, withoutLanguage } from './terminal/options.ts';
import { guardResults } from './terminal/record-reading.ts';
import { exitStatusOf } from './terminal/run.ts';
import { settingsHelp } from './terminal/settings.ts';

/** Commands that do not belong to modules. Only the file of the running command is loaded. */
const COMMANDS: { readonly [name: string]: CommandEntry } = {
  serve: {
    description: 'serve the registry over HTTP; the log goes to standard output',
    load: async () => (await import('./serve-command.ts')).declareServe,
  },
  desk: {
    description:
      'open the desk, the pages for clerks and operators, in a browser of this machine; prints a link',
    load: async () => (await import('./desk-command.ts')).declareDesk,
  },
  status: {
    description:
      'the health of the registry on one screen; ' +
      'status 0 all is well, 1 something needs attention, 2 no database',
    load: async () => (await import('./health/status-command.ts')).declareStatus(await loadStatus()),
  },
  seed: {
    description: 'create the demo data and demo keys in an empty database',
    load: async () => (await import('./demo/seed-command.ts')).declareSeed,
  },
  import: {
    description: 'import one CSV file or workbook, or all files of a folder that are named after their kind',
    load: async () => (await import('./import/commands/import-command.ts')).declareImport,
  },
  imports: {
    description: 'applied imports: list, show, undo',
    load: async () => (await import('./journal/imports-command.ts')).declareImports,
  },
  history: {
    description: 'the changes of a member or a cooperative, with their authors',
    load: async () => (await import('./journal/history-commands.ts')).declareHistory,
  },
  nid: {
    description: 'correct national IDs that were wrong or reissued: replace, release',
    load: async () => (await import('./people/correction-command.ts')).declareCorrections,
  },
  members: {
    description:
      'find members by name, merge duplicates, change their cooperative: find, show, merge, transfer, move',
    load: async () => (await import('./people/member-commands.ts')).declareMembers(await loadSearch()),
  },
  cooperatives: {
    description: 'merge cooperatives',
    load: async () => (await import('./people/correction-command.ts')).declareCorrections,
  },
  persons: {
    description: 'a person in all cooperatives: show all data, record a death, erase',
    load: async () => (await import('./people/person-commands.ts')).declarePersons,
  },
  entries: {
    description: 'deliveries, savings transactions and loans one by one: list, remove',
    load: async () => (await import('./people/member-commands.ts')).declareEntries,
  },
  duplicates: {
    description: 'list pairs of members who may be one person registered twice; set a checked pair aside',
    load: async () => (await import('./people/duplicates-command.ts')).declareDuplicates,
  },
  ledger: {
    description:
      'the access ledger, which records accesses to personal data: person, key, verify, prune, export',
    load: async () => (await import('./ledger/ledger-commands.ts')).declareLedger,
  },
  keys: {
    description: 'issue and manage API keys',
    load: async () => (await import('./keys/key-commands.ts')).declareKeys,
  },
  check: {
    description: 'check integrity, foreign keys, settings and counters; status 0 sound, 1 not, 2 no database',
    load: async () => (await import('./check/check.ts')).declareCheck,
  },
  backup: {
    description: 'write a backup of all data of the registry, while it is in use',
    load: async () => (await import('./backup/backup-command.ts')).declareBackup,
  },
  restore: {
    description: 'replace the registry by a backup; no process may have the registry open',
    load: async () => (await import('./backup/restore-command.ts')).declareRestore,
  },
  summarize: {
    description: 'refresh the read model if it is out of date, after an upgrade or a killed import',
    load: async () => (await import('./health/derived-data-commands.ts')).declareSummarize,
  },
  'time-zone': {
    description: 'show the time zone of the registry; with --to, change it',
    load: async () => (await import('./health/derived-data-commands.ts')).declareTimeZone,
  },
};

const ALL_COMMANDS = Object.entries(COMMANDS).flatMap(([name, entry]) => [
  ...MODULES.flatMap(({ commands = {} }) =>
    Object.entries(commands).filter(([, { before }]) => before === name),
  ),
  [name, entry] as const,
]);

/** @param loaded names of the commands to load. The other commands get only a name and a description. */
export async function createProgram(
  context: CliContext,
  loaded: readonly string[] = ALL_COMMANDS.map(([name]) => name),
): Promise<Command> {
  const program = new Command('cooperative-registry')
    .description("The registry of a country's cooperatives: lookups by national ID over HTTP and SQLite.")
    .version(packageVersion(), '--version', 'the version of this program')
    .showHelpAfterError('Add --help to see the usage.')
    .addHelpText('after', `\nSettings (environment variables):\n${settingsHelp()}`);
  // Set before the commands are added, because they inherit these settings.
  program
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeOut: context.out, writeErr: context.err })
    .hook('preAction', (_, command) => guardResults(context, command));
  for (const [name, { description, load }] of ALL_COMMANDS) {
    const command = program.command(name).description(description);
    if (loaded.includes(name)) (await load())(command, context);
  }
  addLanguageOption(program, context);
  refuseEmptyValues(program);
  return program;
}

/** @param args arguments without the name of the program @returns the exit status (`EXIT`) */
export async function runCommand(args: readonly string[], caller: CliContext): Promise<number> {
  const context: CliContext = {
    openLedger: async (storage) =>
      (await import('./ledger/open-ledger.ts')).openCommandLedger(storage.pathForOpening()),
    ...caller,
  };
  try {
    // The first two words, because the command may follow `help`.
    const program = await createProgram(context, withoutLanguage(args).slice(0, 2));
    await program.parseAsync(args, { from: 'user' });
    return EXIT.done;
  } catch (error) {
    return exitStatusOf(error, context);
  }
}
