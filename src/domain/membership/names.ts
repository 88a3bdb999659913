/** The names of a person: what they are made of, and whether two may be of one person. */
import { FieldError } from '../values/errors.ts';
import { MAX_LENGTH, parseText } from '../values/text.ts';
import { countTypos } from '../values/typos.ts';

export interface Names {
  readonly fullName: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
}

/**
 * The names of a member from what was given: `full_name`, or both parts, which then make it. A full name is
 * never split: a guess is wrong for names that are written surname first (docs/api.md#members).
 * @returns undefined when neither was given
 */
export function composeNames(
  fullName: string | null,
  firstName: string | null,
  lastName: string | null,
): Names | FieldError | undefined {
  if (fullName !== null) return { fullName, firstName, lastName };
  if (firstName === null || lastName === null) return undefined;
  const composed = parseText(`${firstName} ${lastName}`, MAX_LENGTH.name);
  return composed instanceof FieldError ? composed : { fullName: composed, firstName, lastName };
}

/** Most names have no accents. */
const ASCII = /^[\x20-\x7e]*$/;
const MARKS = /\p{M}+/gu;
const APOSTROPHES = /['’ʼ`]/g;
const WORD = /[\p{L}\p{N}]+/gu;
const LETTERS = /\p{L}{2,}/gu;
const NUMBER = /\p{N}/u;
/** A letter of a shorter word makes another name. */
const LETTERS_FOR_A_TYPO = 4;

const fold = (name: string): string =>
  (ASCII.test(name) ? name : name.normalize('NFKD').replace(MARKS, '')).toLowerCase();
const lettersOf = (text: string): string[] => text.match(LETTERS) ?? [];

/** The words of a name, whatever its case, accents and apostrophes: initials and numbers too. */
export const wordsOf = (name: string): string[] => fold(name).replace(APOSTROPHES, '').match(WORD) ?? [];

/** Equal for names of the same words, in any order; of a name without words it is the name. */
export const nameKeyOf = (name: string): string => wordsOf(name).sort().join(' ') || name;

/** Whether two names share a word of two letters or more, in any order, whatever its case and accents. */
export function haveCommonWord(one: string, other: string): boolean {
  const words = new Set(lettersOf(fold(one)));
  return lettersOf(fold(other)).some((word) => words.has(word));
}

/**
 * Whether two names may be spellings of one: the same words, or all words of the one, of which it has two at
 * least, in the other. One of them may have a typo, others may be initials, and one with letters is equal.
 */
export function compareNames(one: string, other: string): 'same' | 'similar' | undefined {
  const [shorter, longer] = [wordsOf(one), wordsOf(other)].sort((a, b) => a.length - b.length) as [
    string[],
    string[],
  ];
  const rest = [...longer];
  const take = (isMatch: (word: string) => boolean): boolean => {
    const found = rest.findIndex(isMatch);
    if (found >= 0) rest.splice(found, 1);
    return found >= 0;
  };
  const unequal = shorter.filter((word) => !take((each) => each === word));
  if (unequal.length === 0 && rest.length === 0) return shorter.length > 0 ? 'same' : undefined;
  if (shorter.length < 2 || !shorter.some((word) => isWord(word) && !unequal.includes(word)))
    return undefined;
  const misspelt = unequal.filter((word) => !take((each) => isInitialOf(word, each)));
  return misspelt.length === 0 || (misspelt.length === 1 && take((each) => isTypoOf(misspelt[0] ?? '', each)))
    ? 'similar'
    : undefined;
}

const isWord = (word: string): boolean => lettersOf(word).length > 0;
const isInitialOf = (one: string, other: string): boolean =>
  (one.length === 1 || other.length === 1) && one[0] === other[0] && !NUMBER.test(one + other);
const isTypoOf = (one: string, other: string): boolean =>
  Math.min(one.length, other.length) >= LETTERS_FOR_A_TYPO &&
  !NUMBER.test(one + other) &&
  countTypos(one, other, 1) <= 1;
