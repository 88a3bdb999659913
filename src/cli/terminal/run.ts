/** One command at work: what its options and the settings give it. */
import type { Command } from 'commander';
import { openConfiguredStorage } from '../../app/storage.ts';
import type { Config } from '../../config.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';
import type { TimeZone } from '../../domain/values/date-time.ts';
import { nowSeconds } from '../../runtime/clock.ts';
import type { Storage } from '../../store/contract/storage.ts';
import type { CliContext } from './context.ts';
import { formatJson } from './output.ts';
import { configOf, type PrintOptions } from './settings.ts';
import { describeUser } from './system-user.ts';

export interface Run<Options = PrintOptions> extends CliContext {
  readonly options: Options;
  readonly config: Config;
  readonly storage: Storage;
  readonly zone: TimeZone;
  /** Epoch seconds, when the command began. */
  readonly now: number;
  /** Who runs it, as it is recorded. */
  readonly user: string;
  /** Prints the result: with `--json` the document, else the text. */
  show(document: unknown, text: string): void;
}

/**
 * The action of a command.
 * @param work takes the arguments of the command
 * @throws ConfigError (from the action) for an invalid setting
 */
export const acting =
  <Options extends PrintOptions, Arguments extends unknown[]>(
    context: CliContext,
    work: (run: Run<Options>, ...given: Arguments) => Awaitable<void>,
  ) =>
  async (...given: unknown[]): Promise<void> => {
    // Commander gives the arguments, then the options, then the command. An option that a group has too, as
    // `backup` has, it takes for one of the group.
    const options = (given.at(-1) as Command).optsWithGlobals<Options>();
    await work(startRun(context, options), ...(given.slice(0, -2) as Arguments));
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
