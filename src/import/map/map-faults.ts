/** What is said of a name or word in a map that is not one of the known ones. */
import { mayEcho } from '../../domain/values/errors.ts';
import { nearestName } from '../dictionary/near-spelling.ts';

/** `Unknown column "fullname". Did you mean "full_name"?` */
export const unknownName = (what: 'key' | 'column', given: string, known: readonly string[]): string =>
  `Unknown ${what}${shown(given)}. ${hint(given, known)}`;

/** @param given undefined for what is not a text */
export const unknownChoice = (given: string | undefined, choices: readonly string[]): string =>
  given === undefined
    ? `Expected a text: ${list(choices)}.`
    : `Unknown value${shown(given)}. ${hint(given, choices)}`;

/** Of a null that `import map` has left to be replaced. */
export const openChoice = (choices: readonly string[]): string =>
  `Not chosen yet: replace null by ${list(choices)}.`;

function hint(given: string, known: readonly string[]): string {
  const nearest = nearestName(given, known);
  return nearest === undefined ? `Known: ${known.join(', ')}.` : `Did you mean "${nearest}"?`;
}

const shown = (text: string): string => (mayEcho(text) ? ` "${text}"` : '');

/** `"dmy", "mdy" or "ymd"` */
export function list(words: readonly string[]): string {
  const quoted = words.map((word) => `"${word}"`);
  const last = quoted.pop() ?? '';
  return quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`;
}
