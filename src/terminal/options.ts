/** Parsers of command-line values. An invalid value ends the command with status 2. */
import { type Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { parseOverlap } from '../access/api-keys.ts';
import { FieldError } from '../values/errors.ts';
import { isIdentityCard } from '../values/identity-card.ts';
import { findLanguage, LANGUAGES } from '../values/language.ts';
import { parseNamedCode } from '../values/text.ts';
import { type CliContext, CommandError, EXIT } from './context.ts';

/** Refuses an empty value, because a script may pass a variable that is not set. */
export function split(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.includes('')) throw new InvalidArgumentError('A value between the commas is empty.');
  return parts;
}

export const withNew = <T>(before: readonly T[], added: readonly T[]): readonly T[] => [
  ...new Set([...before, ...added]),
];

export function accept<T>(value: T | FieldError): T {
  if (value instanceof FieldError) throw new InvalidArgumentError(value.message);
  return value;
}

/** For an option, such as `--scope`, that may have comma-separated values and be repeated. */
export const collectTexts = (text: string, before: readonly string[] = []): readonly string[] =>
  withNew(before, split(text));

/** @throws CommandError, because commander's errors contain the value, which may be a mistyped national ID */
export function parseCode(text: string): string {
  const code = parseNamedCode(text);
  if (!(code instanceof FieldError)) return code;
  throw new CommandError(EXIT.usage, `Expected the code of a cooperative. ${code.message}`);
}

export const collectCodes = (text: string, before: readonly string[] = []): readonly string[] =>
  withNew(before, split(text).map(parseCode));

/**
 * @param what words for the message: the thing and the command that lists its ids, as in "a key, as `keys
 *   list`"
 */
export const parseIdOf =
  (what: string) =>
  (text: string): number => {
    if (/^[1-9][0-9]{0,11}$/.test(text)) return Number(text);
    throw new InvalidArgumentError(`Expected the id of ${what} shows it.`);
  };

/** Parses `90s`, `30m`, `24h` or `7d` into seconds. */
export const parseDuration = (text: string): number => accept(parseOverlap(text));

/** @throws CommandError. Commander must not parse a national ID, because its errors contain the value. */
export function readNumber(text: string): string {
  if (isIdentityCard(text)) return text;
  throw new CommandError(EXIT.usage, 'Expected national IDs of exactly 16 digits.');
}

/** Commander's types lack this property. */
type Conflicting = Option & { readonly conflictsWith?: readonly string[] };

/**
 * Makes blank values of a command and its subcommands an error. A script passes a blank value by mistake if a
 * variable is not set. A blank value could mean a key without restrictions, or the default database.
 */
export function refuseEmptyValues(command: Command): void {
  for (const option of command.options) {
    // Flags have no value to parse.
    if (option.required || option.optional) refuseEmptyValue(option, removalHint(command, option));
  }
  for (const argument of command.registeredArguments) refuseEmptyValue(argument, '');
  for (const each of command.commands) refuseEmptyValues(each);
}

function refuseEmptyValue(target: Option | Argument, hint: string): void {
  const parse: ((text: string, before: unknown) => unknown) | undefined = target.parseArg;
  target.argParser((text: string, before: unknown) => {
    if (text.trim() === '') throw new InvalidArgumentError(`It is empty. Give a value.${hint}`);
    if (parse !== undefined) return parse(text, before);
    return target.variadic ? [...((before ?? []) as string[]), text] : text;
  });
}

/** Names the flag that conflicts with the option, as `--any-ip` does with `--allow-ip`. */
function removalHint(command: Command, option: Option): string {
  const remover = command.options.find(
    (other: Conflicting) => !other.required && other.conflictsWith?.includes(option.attributeName()) === true,
  );
  return remover === undefined ? '' : ` To remove what is stored, use ${remover.long}.`;
}

// `--lang`, which every command accepts (docs/importing.md#in-french-or-kinyarwanda)

const HELP =
  'language of the messages for people: en, fr, rw; without it that of LC_ALL, LC_MESSAGES or LANG. No ' +
  'speaker has reviewed the French and the Kinyarwanda yet';

/** True for a command with an action. Some, such as `backup`, also have subcommands. */
const runs = ({ commands, registeredArguments, options }: Command): boolean =>
  commands.length === 0 || registeredArguments.length + options.length > 0;

/** Only the help of the program mentions the option. */
export function addLanguageOption(program: Command, context: CliContext): void {
  const setLanguage = (name: string): string => {
    const language = findLanguage(name);
    if (language === undefined) throw new InvalidArgumentError(`Known languages: ${LANGUAGES.join(', ')}.`);
    context.language = language;
    return language;
  };
  const addTo = (command: Command) => {
    const option = new Option('--lang <language>', HELP).argParser(setLanguage);
    if (command === program) command.addOption(option);
    else if (runs(command)) command.addOption(option.hideHelp());
    command.commands.forEach(addTo);
  };
  addTo(program);
}

export function withoutLanguage(args: readonly string[]): readonly string[] {
  const [first = ''] = args;
  if (first === '--lang') return args.slice(2);
  return first.startsWith('--lang=') ? args.slice(1) : args;
}
