/** Command-line options that override settings, and the list of settings in `--help`. */
import { type Command, Option } from 'commander';
import { type Config, readConfig, SETTINGS, type Setting, type SettingName } from '../runtime/config.ts';
import { type Clock, Scheduler } from '../runtime/scheduler.ts';
import type { CommitMeasure } from '../sqlite/group-commit.ts';
import { Storage } from '../sqlite/storage.ts';
import type { CliContext } from './context.ts';
import { accept } from './options.ts';

export interface SettingOptions {
  readonly db?: string;
  readonly host?: string;
  readonly port?: string;
  readonly as?: string;
}

/** Terminals do not render backquotes as code. */
const plain = (text: string): string => text.replaceAll('`', '');

const OPTIONS = Object.entries<Setting>(SETTINGS).flatMap(([name, { option, help, parse, isPersonal }]) => {
  if (option === undefined) return [];
  const create = () =>
    new Option(option, `${plain(help)} (overrides ${name})`).argParser((text: string) => {
      // `configOf` parses personal values, because an error of commander would contain the value.
      if (isPersonal === true) return text;
      accept(parse(text.trim()));
      return text;
    });
  return [{ name: name as SettingName, attribute: create().attributeName() as keyof SettingOptions, create }];
});

export function addSettingOptions(command: Command, ...names: readonly SettingName[]): Command {
  for (const { name, create } of OPTIONS) if (names.includes(name)) command.addOption(create());
  return command;
}

export interface PrintOptions extends SettingOptions {
  readonly json?: true;
}

export const addPrintOptions = (command: Command, ...names: readonly SettingName[]): Command =>
  addSettingOptions(command, 'REGISTRY_DB', ...names).option('--json', 'print one JSON document');

/**
 * Options override the environment, which overrides the defaults.
 * @throws ConfigError with a line for each invalid setting
 */
export function configOf(context: CliContext, options: SettingOptions): Config {
  const overrides = OPTIONS.flatMap(({ name, attribute }) =>
    options[attribute] === undefined ? [] : [[name, options[attribute]] as const],
  );
  return readConfig({ ...context.env, ...Object.fromEntries(overrides) });
}

export function settingsHelp(): string {
  const names = Object.entries<Setting>(SETTINGS);
  const width = Math.max(...names.map(([name]) => name.length)) + 2;
  return names
    .map(([name, setting]) => `  ${name.padEnd(width)}${plain(setting.help)} (default: ${setting.default})\n`)
    .join('');
}

/** @param scheduler scheduler of the service; commands need none */
export const openConfiguredStorage = (
  { storage, timeZone }: Pick<Config, 'storage' | 'timeZone'>,
  clock: Clock,
  scheduler = new Scheduler(),
  measureCommit?: CommitMeasure,
): Storage => new Storage(storage, { clock, scheduler, zone: timeZone, measureCommit });
