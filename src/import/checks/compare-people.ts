/** Compares names and numbers of people, for warnings about one person under two national IDs. */

import { countTypos } from '../../values/search-words.ts';

/**
 * Largest group with one phone, or with one name and date of birth in a cooperative, that may be a family.
 */
export const CROWD = 20;

type Comparison = 'same' | 'near' | 'different' | undefined;

/** Compares numbers or dates of equal length. */
export const compareDigits = (one: string | null, other: string | null): Comparison => {
  if (one === null || other === null) return undefined;
  if (one === other) return 'same';
  return countTypos(one, other, 1) <= 1 ? 'near' : 'different';
};

/** Compared values of members of a file who share name and phone. */
export interface MemberOfFile {
  /** Code of the cooperative. */
  readonly cooperative: string;
  readonly identityCard: string;
  readonly dateOfBirth: string | null;
}

/**
 * True if two members with the same name and phone are most likely one person with a mistyped number.
 * Different dates of birth count as evidence against it unless both are in one cooperative.
 */
export function isMistyped(one: MemberOfFile, other: MemberOfFile): boolean {
  const different = [...one.identityCard].filter((digit, place) => digit !== other.identityCard[place]);
  const births = compareDigits(one.dateOfBirth, other.dateOfBirth);
  return (
    different.length === 1 &&
    (one.cooperative === other.cooperative || births === undefined || births === 'same')
  );
}

// Names, without case, accents and apostrophes

/** Shortcut: most names have no accents. */
const ASCII = /^[\x20-\x7e]*$/;
const MARKS = /\p{M}+/gu;
const APOSTROPHES = /['’ʼ`]/g;
const WORD = /[\p{L}\p{N}]+/gu;
const LETTERS = /\p{L}{2,}/gu;
const fold = (name: string): string =>
  (ASCII.test(name) ? name : name.normalize('NFKD').replace(MARKS, '')).toLowerCase();
export const lettersOf = (text: string): string[] => text.match(LETTERS) ?? [];

/** Words of a name, including initials and numbers, without case, accents and apostrophes. */
export const wordsOf = (name: string): string[] => fold(name).replace(APOSTROPHES, '').match(WORD) ?? [];

/** Equal for names with the same words in any order; the name itself if it has no words. */
export const nameKeyOf = (name: string): string => wordsOf(name).sort().join(' ') || name;

/** True if two names share a word of two or more letters, regardless of case and accents. */
export function haveCommonWord(one: string, other: string): boolean {
  const words = new Set(lettersOf(fold(one)));
  return lettersOf(fold(other)).some((word) => words.has(word));
}
