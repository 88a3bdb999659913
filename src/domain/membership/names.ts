/** The names of a person: what they are made of, and whether two may be of one person. */
import { FieldError } from '../values/errors.ts';
import { MAX_LENGTH, parseText } from '../values/text.ts';

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

const MARKS = /\p{M}+/gu;
const WORD = /\p{L}{2,}/gu;

const wordsOf = (name: string): string[] =>
  name.normalize('NFKD').replace(MARKS, '').toLowerCase().match(WORD) ?? [];

/** Whether two names share a word of two letters or more, in any order, whatever its case and accents. */
export function haveCommonWord(one: string, other: string): boolean {
  const words = new Set(wordsOf(one));
  return wordsOf(other).some((word) => words.has(word));
}
