/** `--lang`, which every command takes (docs/importing.md#in-french-or-kinyarwanda). */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { findLanguage, LANGUAGES } from '../../language/language.ts';
import type { CliContext } from './context.ts';

const HELP =
  'language of the messages for people: en, fr, rw; without it that of LC_ALL, LC_MESSAGES or LANG. No ' +
  'speaker has reviewed the French and the Kinyarwanda yet';

/** `backup` and `import` do something themselves, and have a subcommand. */
const runs = ({ commands, registeredArguments, options }: Command): boolean =>
  commands.length === 0 || registeredArguments.length + options.length > 0;

/** Adds it before and behind the name of each command; the help of the program alone shows it. */
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

/** The arguments from the name of the command on. */
export function withoutLanguage(args: readonly string[]): readonly string[] {
  const [first = ''] = args;
  if (first === '--lang') return args.slice(2);
  return first.startsWith('--lang=') ? args.slice(1) : args;
}
