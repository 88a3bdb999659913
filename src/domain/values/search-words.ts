/** What a search by name asks for: the beginnings of words (docs/api.md#search). */
import { FieldError } from './errors.ts';
import { say } from './message.ts';
import { BLANK, MAX_LENGTH, parseText } from './text.ts';

const SHORTEST_WORD = 3;
const MOST_WORDS = 5;
/** A search finds no more rows than this: `count` and pages end there. */
export const MOST_FOUND = 10_000;

const APOSTROPHES = /['’‘ʼ`´]/g;
const WORD = /[\p{L}\p{N}\p{Mn}]+/gu;
const ACCENTS = /\p{Mn}+/gu;
const PLAIN = /^[a-z0-9]+$/;

const wordsOf = (text: string): readonly string[] => text.replace(APOSTROPHES, '').match(WORD) ?? [];
const fold = (word: string): string => word.normalize('NFD').replace(ACCENTS, '').toLowerCase();
const isShort = (word: string): boolean => [...fold(word)].length < SHORTEST_WORD;

export interface SplitWords {
  readonly text: string;
  /** In lower case, without accents. */
  readonly short: readonly string[];
}

/** A text without the words that are too short to be searched for, such as initials, if others are left. */
export function splitShortWords(text: string): SplitWords {
  const words = wordsOf(text);
  const long = words.filter((word) => !isShort(word));
  const short = words.filter(isShort).map(fold);
  return long.length === 0 || short.length === 0 ? { text, short: [] } : { text: long.join(' '), short };
}

/** Whether a name has words that begin so. @param beginnings in lower case, without accents */
export const hasWordsOf = (name: string, beginnings: readonly string[]): boolean =>
  beginnings.every((each) => wordsOf(name).some((word) => fold(word).startsWith(each)));

/**
 * The words of a search: in lower case and without accents where that leaves plain letters. One with an
 * apostrophe is read as if that were not there; an index of names has such words both ways.
 */
export function parseSearch(text: string): readonly string[] | FieldError {
  const clean = parseText(text, MAX_LENGTH.name);
  if (clean instanceof FieldError) return clean;
  const words = wordsOf(clean);
  if (words.length === 0) return BLANK;
  const folded = words.map(fold);
  if (words.some(isShort))
    return new FieldError(say('Ensure each word has at least {count} characters.', { count: SHORTEST_WORD }));
  if (words.length > MOST_WORDS) return new FieldError(`Ensure there are no more than ${MOST_WORDS} words.`);
  return words.map((word, i) => (PLAIN.test(folded[i] ?? '') ? (folded[i] as string) : word));
}
