/** The command line: one program, a file per group of commands. */
import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config.ts';
import { RegistryError } from '../domain/values/errors.ts';
import { packageVersion } from '../runtime/version.ts';
import { StorageError } from '../store/contract/storage-error.ts';
import { guardResults } from './persons/shown-persons.ts';
import { type CliContext, CommandError, EXIT, tell } from './terminal/context.ts';
import { refuseEmptyValues } from './terminal/empty-values.ts';
import { addLanguageOption, withoutLanguage } from './terminal/language-option.ts';
import { settingsHelp } from './terminal/settings.ts';

type Declare = (command: Command, context: CliContext) => void;

interface CommandEntry {
  readonly description: string;
  /** Loads the file of the command, and with it all that the command needs. */
  readonly load: () => Promise<Declare>;
}

/**
 * Only the file of the command that runs is loaded: `keys list` and `--help` need neither the server nor the
 * import.
 */
const COMMANDS: { readonly [name: string]: CommandEntry } = {
  serve: {
    description: 'serve the registry over HTTP; the log goes to standard output',
    load: async () => (await import('./service/serve.ts')).declareServe,
  },
  desk: {
    description: 'open a page for those who run the registry in a browser of this machine; it prints a link',
    load: async () => (await import('./desk/desk.ts')).declareDesk,
  },
  status: {
    description:
      'how the registry is doing, on one screen; ' +
      'status 0 all is well, 1 something needs attention, 2 no database',
    load: async () => (await import('./service/status.ts')).declareStatus,
  },
  seed: {
    description: 'create the demo data and demo keys in an empty database',
    load: async () => (await import('./service/seed.ts')).declareSeed,
  },
  import: {
    description:
      'import CSV files and workbooks: a folder with <kind>*.csv and <kind>*.xlsx, or one file of a kind',
    load: async () => (await import('./import/import.ts')).declareImport,
  },
  export: {
    description: 'write all rows of a kind to a file: CSV that can be imported, NDJSON or a workbook',
    load: async () => (await import('./export/export.ts')).declareExport,
  },
  imports: {
    description: 'the imports that were applied: list, show, undo',
    load: async () => (await import('./journal/imports.ts')).declareImports,
  },
  history: {
    description: 'what has changed in a member or a cooperative, and who changed it',
    load: async () => (await import('./journal/history.ts')).declareHistory,
  },
  nid: {
    description: 'national IDs that were wrong or were reissued: replace, release',
    load: async () => (await import('./corrections/corrections.ts')).declareCorrections,
  },
  members: {
    description:
      'members by name; who are one person, change cooperative, or are in a wrong one: find, show, merge, ' +
      'transfer, move',
    load: async () => (await import('./corrections/members.ts')).declareMembers,
  },
  cooperatives: {
    description: 'cooperatives that were merged',
    load: async () => (await import('./corrections/corrections.ts')).declareCorrections,
  },
  persons: {
    description: 'what concerns a person in all cooperatives: show everything held, record a death, erase',
    load: async () => (await import('./corrections/persons.ts')).declarePersons,
  },
  entries: {
    description: 'deliveries, savings transactions and loans one by one: list, remove',
    load: async () => (await import('./corrections/entries.ts')).declareEntries,
  },
  duplicates: {
    description: 'members who may be one person, registered twice; those that are two people are dismissed',
    load: async () => (await import('./corrections/duplicates.ts')).declareDuplicates,
  },
  statistics: {
    description: 'sums of a cooperative, or of all: members, production, loans, savings',
    load: async () => (await import('./statistics/statistics.ts')).declareStatistics,
  },
  ledger: {
    description: 'who has read whose data: person, key, verify, prune, export',
    load: async () => (await import('./ledger/ledger.ts')).declareLedger,
  },
  keys: {
    description: 'issue and manage API keys',
    load: async () => (await import('./keys/keys.ts')).declareKeys,
  },
  webhooks: {
    description:
      'endpoints that are told of changes: add, list, test, deliveries, replay, skip, rotate, remove',
    load: async () => (await import('./webhooks/webhooks.ts')).declareWebhooks,
  },
  check: {
    description: 'check integrity, foreign keys, settings and counters; status 0 sound, 1 not, 2 no database',
    load: async () => (await import('./backup/check.ts')).declareCheck,
  },
  backup: {
    description: 'write a backup of everything the registry keeps, while it is in use',
    load: async () => (await import('./backup/backup.ts')).declareBackup,
  },
  restore: {
    description: 'put a backup in the place of the registry, which nothing may have open',
    load: async () => (await import('./backup/restore.ts')).declareRestore,
  },
  summarize: {
    description:
      'refresh the read model where it is out of date: after an upgrade or an import that was killed',
    load: async () => (await import('./service/summarize.ts')).declareSummarize,
  },
  'time-zone': {
    description: 'the time zone that the registry belongs to; with --to, move it to another',
    load: async () => (await import('./service/time-zone.ts')).declareTimeZone,
  },
};

/** @param loaded names of the commands to load; the others have a name and a description only */
export async function createProgram(
  context: CliContext,
  loaded: readonly string[] = Object.keys(COMMANDS),
): Promise<Command> {
  const program = new Command('cooperative-registry')
    .description("The registry of a country's cooperatives: lookups by national ID over HTTP and SQLite.")
    .version(packageVersion(), '--version', 'the version of this program')
    .showHelpAfterError('Add --help to see what is expected.')
    .addHelpText('after', `\nSettings (environment variables):\n${settingsHelp()}`);
  // Before the commands are added, as they inherit both. What follows a command's name is the command's.
  program
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeOut: context.out, writeErr: context.err })
    .hook('preAction', (_, command) => guardResults(context, command));
  for (const [name, { description, load }] of Object.entries(COMMANDS)) {
    const command = program.command(name).description(description);
    if (loaded.includes(name)) (await load())(command, context);
  }
  addLanguageOption(program, context);
  refuseEmptyValues(program);
  return program;
}

/**
 * Runs one command line.
 * @param args without the program's own name
 * @returns the exit status: 0 done, 1 refused or partly refused, 2 wrong usage
 */
export async function runCommand(args: readonly string[], given: CliContext): Promise<number> {
  const context = { ...given };
  try {
    // The first word names the command, after `help` the second.
    const program = await createProgram(context, withoutLanguage(args).slice(0, 2));
    await program.parseAsync(args, { from: 'user' });
    return EXIT.done;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    if (error instanceof CommandError) {
      if (error.message !== '') tell(context, error.text);
      return error.exitCode;
    }
    if (error instanceof ConfigError) {
      context.err(`Invalid settings:\n${error.faults.map((fault) => `  ${fault}\n`).join('')}`);
      return EXIT.usage;
    }
    if (error instanceof RegistryError) {
      tell(context, error.message);
      return EXIT.refused;
    }
    // Loaded only here: it brings the engine with it.
    const storageError =
      error instanceof StorageError ? error : (await import('../app/storage.ts')).toStorageError(error);
    if (storageError === undefined) throw error;
    tell(context, storageError.message);
    return storageError.kind === 'unusable' ? EXIT.usage : EXIT.refused;
  }
}
