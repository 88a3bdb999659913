/** The known name that somebody most likely meant. */
import { countTypos } from '../../domain/values/typos.ts';
import { foldHeading } from './fold.ts';

/** A letter of a shorter name makes another name. */
const LETTERS_FOR_ONE_TYPO = 4;
const LETTERS_FOR_TWO_TYPOS = 8;

/**
 * The name within a typo of the given one, or two in a longer name: a letter too many, missing, wrong, or
 * swapped with the next. Case, accents and punctuation do not count.
 * @returns undefined when there is no such name, or when two are equally near
 */
export function nearestName<Name extends string>(given: string, names: readonly Name[]): Name | undefined {
  const word = foldHeading(given);
  const allowed = word.length < LETTERS_FOR_ONE_TYPO ? 0 : word.length < LETTERS_FOR_TWO_TYPOS ? 1 : 2;
  let nearest: Name | undefined;
  let least = allowed + 1;
  for (const name of names) {
    const typos = countTypos(word, foldHeading(name), allowed);
    if (typos === least && typos <= allowed) nearest = undefined;
    if (typos >= least) continue;
    least = typos;
    nearest = name;
  }
  return nearest;
}
