/** Words of a search by name (docs/api.md#search), and words and numbers that differ by a typo. */
import { FieldError } from './errors.ts';
import { say } from './message.ts';
import { BLANK, MAX_LENGTH, parseText } from './text.ts';

const SHORTEST_WORD = 3;
const MOST_WORDS = 5;
/** Maximum number of rows that a search finds, counts and shows. */
export const MOST_FOUND = 10_000;

const APOSTROPHES = /['’‘ʼ`´]/g;
const WORD = /[\p{L}\p{N}\p{Mn}]+/gu;
const ACCENTS = /\p{Mn}+/gu;
const PLAIN = /^[a-z0-9]+$/;

const wordsOf = (text: string): readonly string[] => text.replace(APOSTROPHES, '').match(WORD) ?? [];
const fold = (word: string): string => word.normalize('NFD').replace(ACCENTS, '').toLowerCase();
const isShort = (word: string): boolean => [...fold(word)].length < SHORTEST_WORD;

interface SplitWords {
  readonly text: string;
  /** Short words in lower case, without accents. */
  readonly short: readonly string[];
}

/** Separates words that are too short for a search, such as initials, unless all words are short. */
export function splitShortWords(text: string): SplitWords {
  const words = wordsOf(text);
  const long = words.filter((word) => !isShort(word));
  const short = words.filter(isShort).map(fold);
  return long.length === 0 || short.length === 0 ? { text, short: [] } : { text: long.join(' '), short };
}

/** @param beginnings beginnings of words, in lower case without accents */
export const hasWordsOf = (name: string, beginnings: readonly string[]): boolean =>
  beginnings.every((each) => wordsOf(name).some((word) => fold(word).startsWith(each)));

/**
 * Converts each word to lower case without accents, if the result has only digits and the letters a to z.
 * Drops apostrophes, because the index contains words with and without them.
 */
export function parseSearch(text: string): readonly string[] | FieldError {
  const clean = parseText(text, MAX_LENGTH.name);
  if (clean instanceof FieldError) return clean;
  const words = wordsOf(clean);
  if (words.length === 0) return BLANK;
  if (words.some(isShort))
    return new FieldError(say('Ensure each word has at least {count} characters.', { count: SHORTEST_WORD }));
  if (words.length > MOST_WORDS) return new FieldError(`Ensure there are no more than ${MOST_WORDS} words.`);
  return words.map((word) => (PLAIN.test(fold(word)) ? fold(word) : word));
}

// Typos in words and numbers

/**
 * Returns the optimal string alignment distance, which counts extra, missing, wrong or swapped letters. If
 * the distance exceeds `most`, returns some number above `most`.
 */
export function countTypos(one: string, other: string, most: number): number {
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

/** In a shorter word, one different letter often makes another name. */
const SHORTEST_WITH_TYPO = 4;

export const mayHaveTypo = (word: string): boolean =>
  word.length >= SHORTEST_WITH_TYPO && /^[a-z]+$/.test(word);

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];

/**
 * Returns the words that differ from `word` by one extra, missing, wrong or swapped letter.
 * @param word letters a to z
 */
export function withOneTypo(word: string): string[] {
  const words = new Set<string>();
  for (let i = 0; i <= word.length; i++) {
    const [before, after] = [word.slice(0, i), word.slice(i)];
    for (const letter of LETTERS) {
      words.add(before + letter + after);
      if (after !== '') words.add(before + letter + after.slice(1));
    }
    if (after !== '') words.add(before + after.slice(1));
    if (after.length > 1) words.add(before + after.charAt(1) + after.charAt(0) + after.slice(2));
  }
  words.delete(word);
  return [...words];
}

/** Returns every number that differs from this number in one digit, or by two swapped adjacent digits. */
export function withOneWrongDigit(number: string): string[] {
  const numbers = new Set<string>();
  for (let i = 0; i < number.length; i++) {
    const [before, digit, after] = [number.slice(0, i), number.charAt(i), number.slice(i + 1)];
    for (let other = 0; other <= 9; other++) numbers.add(`${before}${other}${after}`);
    if (after !== '') numbers.add(before + after.charAt(0) + digit + after.slice(1));
  }
  numbers.delete(number);
  return [...numbers];
}
