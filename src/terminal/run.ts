/** A running command, with its options, settings and storage. */
import type { Command } from 'commander';
import type { Config } from '../runtime/config.ts';
import { systemUser } from '../runtime/process.ts';
import { nowSeconds } from '../runtime/scheduler.ts';
import type { Storage } from '../sqlite/storage.ts';
import type { TimeZone } from '../values/date-time.ts';
import type { Awaitable } from '../values/errors.ts';
import type { CliContext } from './context.ts';
import { formatJson } from './output.ts';
import { configOf, openConfiguredStorage, type PrintOptions } from './settings.ts';

/**
 * Returns the name recorded with an import or correction, such as `root`, or `N. N. (root)`: the named
 * person, if any, and the user of the operating system.
 */
export const describeUser = ({ operator }: Config): string =>
  operator === undefined ? systemUser() : `${operator} (${systemUser()})`;

export interface Run<Options = PrintOptions> extends CliContext {
  readonly options: Options;
  readonly config: Config;
  readonly storage: Storage;
  readonly zone: TimeZone;
  /** Epoch seconds of the command's start. */
  readonly now: number;
  /** User of the command, as recorded. */
  readonly user: string;
  /** Prints the result: with `--json` the document, else the text. */
  show(document: unknown, text: string): void;
}

/**
 * Wraps a command's action.
 * @param work receives the arguments of the command
 * @throws ConfigError (from the action) for an invalid setting
 */
export const acting =
  <Options extends PrintOptions, Arguments extends unknown[]>(
    context: CliContext,
    work: (run: Run<Options>, ...args: Arguments) => Awaitable<void>,
  ) =>
  async (...args: unknown[]): Promise<void> => {
    // Commander passes the arguments, then the options, then the command. It assigns an option that a group
    // has too, as `backup` has, to the group.
    const options = (args.at(-1) as Command).optsWithGlobals<Options>();
    await work(startRun(context, options), ...(args.slice(0, -2) as Arguments));
  };

function startRun<Options extends PrintOptions>(context: CliContext, options: Options): Run<Options> {
  const config = configOf(context, options);
  return {
    ...context,
    options,
    config,
    storage: openConfiguredStorage(config, context.clock),
    zone: config.zone,
    now: nowSeconds(context.clock),
    user: describeUser(config),
    show: (document, text) => void context.out(options.json === true ? formatJson(document) : text),
  };
}

/** Runs work with a store, and closes it however the work ends. */
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
