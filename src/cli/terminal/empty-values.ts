/** Empty values on the command line: what a script passes when a variable is not set. */
import { type Argument, type Command, InvalidArgumentError, type Option } from 'commander';

/** What commander has but does not declare: the attributes that an option must not be given together with. */
type Conflicting = Option & { readonly conflictsWith?: readonly string[] };
type Parse = (text: string, before: unknown) => unknown;

/**
 * Makes an empty or blank value of any option or argument of the command and its subcommands an error. It
 * would otherwise mean something that nobody wrote: a key without restrictions, or the default database.
 */
export function refuseEmptyValues(command: Command): void {
  for (const option of command.options) {
    // An option without a value is not parsed.
    if (option.required || option.optional) refuseEmptyValue(option, removalHint(command, option));
  }
  for (const argument of command.registeredArguments) refuseEmptyValue(argument, '');
  for (const each of command.commands) refuseEmptyValues(each);
}

function refuseEmptyValue(target: Option | Argument, hint: string): void {
  const parse: Parse | undefined = target.parseArg;
  const parseGiven: Parse = (text, before) => {
    if (text.trim() === '') throw new InvalidArgumentError(`It is empty. Give a value.${hint}`);
    if (parse !== undefined) return parse(text, before);
    return target.variadic ? [...((before ?? []) as string[]), text] : text;
  };
  target.argParser(parseGiven);
}

/** An option without a value, such as `--any-ip`, removes what `--allow-ip` sets, and conflicts with it. */
function removalHint(command: Command, option: Option): string {
  const remover = command.options.find(
    (other: Conflicting) => !other.required && other.conflictsWith?.includes(option.attributeName()) === true,
  );
  return remover === undefined ? '' : ` To remove what is stored, use ${remover.long}.`;
}
