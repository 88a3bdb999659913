/** The known name that somebody most likely meant. */
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

/** The optimal string alignment distance of two words; more than `most` when it is larger. */
function countTypos(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const changed = at(last, column - 1) + (isSame ? 0 : 1);
      let typos = Math.min(changed, at(last, column) + 1, at(current, column - 1) + 1);
      const isSwapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (isSwapped) typos = Math.min(typos, at(beforeLast, column - 2) + 1);
      current.push(typos);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, other.length);
}

const at = (row: readonly number[], column: number): number => row[column] as number;
