/** Compares names and numbers of members, to find persons with two national IDs. */

import { countTypos } from '../../values/search-words-and-typos.ts';

/** Maximum number of people who share a phone, or a name and date of birth. Larger groups are skipped. */
export const CROWD = 20;

type Comparison = 'same' | 'near' | 'different' | undefined;

/** Compares two numbers or dates of equal length. `near` is a difference of one typo. */
export const compareDigits = (one: string | null, other: string | null): Comparison => {
  if (one === null || other === null) return undefined;
  if (one === other) return 'same';
  return countTypos(one, other, 1) <= 1 ? 'near' : 'different';
};

export interface MemberOfFile {
  readonly cooperativeCode: string;
  readonly identityCard: string;
  readonly dateOfBirth: string | null;
}

/**
 * True if two members with the same name and phone are probably one person with a mistyped national ID.
 * If the cooperatives and the dates of birth both differ, the members are two persons.
 */
export function isMistyped(one: MemberOfFile, other: MemberOfFile): boolean {
  const different = [...one.identityCard].filter((digit, place) => digit !== other.identityCard[place]);
  const births = compareDigits(one.dateOfBirth, other.dateOfBirth);
  return (
    different.length === 1 &&
    (one.cooperativeCode === other.cooperativeCode || births === undefined || births === 'same')
  );
}

// Comparison of names, which ignores case, accents and apostrophes

const ASCII = /^[\x20-\x7e]*$/;
const MARKS = /\p{M}+/gu;
const APOSTROPHES = /['’ʼ`]/g;
const WORD = /[\p{L}\p{N}]+/gu;
const LETTERS = /\p{L}{2,}/gu;
const fold = (name: string): string =>
  (ASCII.test(name) ? name : name.normalize('NFKD').replace(MARKS, '')).toLowerCase();
export const lettersOf = (text: string): string[] => text.match(LETTERS) ?? [];

/** Returns the words of a name, including initials and numbers, in lower case without accents. */
export const wordsOf = (name: string): string[] => fold(name).replace(APOSTROPHES, '').match(WORD) ?? [];

/** Returns a key that is equal for names with the same words in any order; the name if it has no words. */
export const nameKeyOf = (name: string): string => wordsOf(name).sort().join(' ') || name;

/** True if two names have a word of at least two letters in common. */
export function haveCommonWord(one: string, other: string): boolean {
  const words = new Set(lettersOf(fold(one)));
  return lettersOf(fold(other)).some((word) => words.has(word));
}
