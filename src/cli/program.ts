/** The command line: one program, a file per group of commands. */
import { Command, CommanderError } from 'commander';
import { ConfigError, SETTINGS } from '../config.ts';
import { StorageError } from '../store/ports.ts';
import { addCheckCommand } from './check.ts';
import { type CliContext, CommandError, EXIT } from './context.ts';
import { addImportCommand } from './import.ts';
import { addKeysCommand } from './keys.ts';
import { addSeedCommand } from './seed.ts';
import { addServeCommand } from './serve.ts';
import { addSummarizeCommand } from './summarize.ts';

const settingsHelp = Object.entries(SETTINGS).map(([name, text]) => `  ${name.padEnd(18)}${text}`);

export function createProgram(context: CliContext): Command {
  const program = new Command('cooperative-registry')
    .description("The registry of a country's cooperatives: lookups by national ID over HTTP and SQLite.")
    .showHelpAfterError('Add --help to see what is expected.')
    .addHelpText('after', `\nSettings (environment):\n${settingsHelp.join('\n')}\n`);
  // Before the commands are added: they inherit both.
  program.exitOverride().configureOutput({ writeOut: context.out, writeErr: context.err });
  addServeCommand(program, context);
  addSeedCommand(program, context);
  addImportCommand(program, context);
  addKeysCommand(program, context);
  addCheckCommand(program, context);
  addSummarizeCommand(program, context);
  return program;
}

/**
 * Runs one command line.
 * @param args without the program's own name
 * @returns the exit status: 0 done, 1 refused or partly refused, 2 wrong usage
 */
export async function runCommand(args: readonly string[], context: CliContext): Promise<number> {
  try {
    await createProgram(context).parseAsync(args, { from: 'user' });
    return EXIT.done;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    if (error instanceof CommandError) {
      if (error.message !== '') context.err(`${error.message}\n`);
      return error.exitCode;
    }
    if (error instanceof ConfigError) {
      context.err(`Wrong settings:\n${error.faults.map((fault) => `  ${fault}\n`).join('')}`);
      return EXIT.usage;
    }
    // Loaded only here: it brings the engine with it.
    const fault =
      error instanceof StorageError ? error : (await import('../store/open.ts')).toStorageError(error);
    if (fault === undefined) throw error;
    context.err(`${fault.message}\n`);
    return fault.kind === 'unusable' ? EXIT.usage : EXIT.refused;
  }
}
