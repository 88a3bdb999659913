/** A running command, with its options, settings and storage, and its exit status after an error. */
import { type Command, CommanderError } from 'commander';
import { type Config, ConfigError } from '../runtime/config.ts';
import { systemUser } from '../runtime/process.ts';
import { nowSeconds } from '../runtime/scheduler.ts';
import { toStorageError } from '../sqlite/sqlite-errors.ts';
import type { Storage } from '../sqlite/storage.ts';
import type { TimeZone } from '../values/date-time.ts';
import { type Awaitable, RegistryError } from '../values/errors.ts';
import { type CliContext, CommandError, EXIT, tell } from './context.ts';
import { formatJson } from './output.ts';
import { configOf, openConfiguredStorage, type PrintOptions } from './settings.ts';

/** Returns the name to record with changes, such as `root` or, with an operator, `N. N. (root)`. */
export const describeUser = ({ operator }: Config): string =>
  operator === undefined ? systemUser() : `${operator} (${systemUser()})`;

export interface Run<Options = PrintOptions> extends CliContext {
  readonly options: Options;
  readonly config: Config;
  readonly storage: Storage;
  readonly zone: TimeZone;
  /** Epoch seconds of the start of the command. */
  readonly now: number;
  /** As `describeUser` returns it. */
  readonly user: string;
  /** Prints the document with `--json`, and otherwise the text. */
  show(document: unknown, text: string): void;
}

/**
 * @param work receives the run and the arguments of the command
 * @throws ConfigError (from the action) for an invalid setting
 */
export const acting =
  <Options extends PrintOptions, Arguments extends unknown[]>(
    context: CliContext,
    work: (run: Run<Options>, ...args: Arguments) => Awaitable<void>,
  ) =>
  async (...args: unknown[]): Promise<void> => {
    // Commander passes the arguments, then the options and the command. These options are not used: if a
    // parent command, such as `backup`, has the same option, commander assigns the value to the parent.
    const options = (args.at(-1) as Command).optsWithGlobals<Options>();
    await work(startRun(context, options), ...(args.slice(0, -2) as Arguments));
  };

function startRun<Options extends PrintOptions>(context: CliContext, options: Options): Run<Options> {
  const config = configOf(context, options);
  const storage = openConfiguredStorage(config, context.clock);
  return {
    ...context,
    options,
    config,
    storage,
    get zone() {
      return storage.zone;
    },
    now: nowSeconds(context.clock),
    user: describeUser(config),
    show: (document, text) => void context.out(options.json === true ? formatJson(document) : text),
  };
}

export async function withStore<S extends { close(): void }, T>(
  store: S,
  work: (store: S) => Awaitable<T>,
): Promise<T> {
  try {
    return await work(store);
  } finally {
    store.close();
  }
}

/** Prints the error of a command. @throws an unexpected error, which is not printed */
export function exitStatusOf(error: unknown, context: CliContext): number {
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
  const storageError = toStorageError(error);
  if (storageError === undefined) throw error;
  tell(context, storageError.message);
  return storageError.kind === 'unusable' ? EXIT.usage : EXIT.refused;
}
