/** Settings on the command line: the options that override them, and how `--help` shows them. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { timeZoneOf } from '../../app/storage.ts';
import { type Config, readConfig, SETTINGS, type Setting, type SettingName } from '../../config.ts';
import { FieldError } from '../../domain/values/errors.ts';
import type { CliContext } from './context.ts';

/** What commander has read of the options that override settings. */
export interface SettingOptions {
  readonly db?: string;
  readonly host?: string;
  readonly port?: string;
  readonly as?: string;
}

/** A terminal shows no Markdown. */
const plain = (text: string): string => text.replaceAll('`', '');

const OPTIONS = Object.entries<Setting>(SETTINGS).flatMap(([name, { option, help, parse, isPersonal }]) => {
  if (option === undefined) return [];
  const create = () =>
    new Option(option, `${plain(help)} (overrides ${name})`).argParser((text: string) => {
      // Commander repeats a wrong value; the configuration does not.
      if (isPersonal === true) return text;
      const value = parse(text.trim());
      if (value instanceof FieldError) throw new InvalidArgumentError(value.message);
      return text;
    });
  return [{ name: name as SettingName, attribute: create().attributeName() as keyof SettingOptions, create }];
});

/** Adds the options that override these settings. */
export function addSettingOptions(command: Command, ...names: readonly SettingName[]): Command {
  for (const { name, create } of OPTIONS) if (names.includes(name)) command.addOption(create());
  return command;
}

/** Options of a command that prints for people and for programs. */
export interface PrintOptions extends SettingOptions {
  readonly json?: true;
}

/** Adds `--db`, the options that override these settings, and `--json`. */
export const addPrintOptions = (command: Command, ...names: readonly SettingName[]): Command =>
  addSettingOptions(command, 'REGISTRY_DB', ...names).option('--json', 'print one JSON document');

/**
 * The configuration of one command: its options, else the environment, else the defaults.
 * @throws ConfigError with a line for each invalid setting
 */
export function configOf(context: CliContext, options: SettingOptions): Config {
  const given = OPTIONS.filter(({ attribute }) => options[attribute] !== undefined);
  const overrides = given.map(({ name, attribute }) => [name, options[attribute]] as const);
  return readConfig({ ...context.env, ...Object.fromEntries(overrides) }, timeZoneOf);
}

/** A line for each setting, for `--help`. */
export function settingsHelp(): string {
  const names = Object.entries<Setting>(SETTINGS);
  const width = Math.max(...names.map(([name]) => name.length)) + 2;
  return names
    .map(([name, setting]) => `  ${name.padEnd(width)}${plain(setting.help)} (default: ${setting.default})\n`)
    .join('');
}
