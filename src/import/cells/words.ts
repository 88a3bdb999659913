/** Words of people → the values of a choice (docs/operating.md#what-spreadsheets-do). */
import type { FieldError } from '../../domain/errors.ts';
import { GENDERS, type Gender } from '../../domain/members.ts';
import { parseChoice } from '../../domain/text.ts';

const GENDER_WORDS: { readonly [word: string]: Gender } = {
  m: 'MALE',
  male: 'MALE',
  gabo: 'MALE',
  f: 'FEMALE',
  female: 'FEMALE',
  gore: 'FEMALE',
  other: 'OTHER',
};

export function readGender(cell: string): Gender | FieldError {
  const word = cell.toLowerCase();
  return Object.hasOwn(GENDER_WORDS, word) ? (GENDER_WORDS[word] as Gender) : parseChoice(cell, GENDERS);
}

/** A choice in any letter case. */
export const readChoice =
  <T extends string>(choices: readonly T[]) =>
  (cell: string): T | FieldError => {
    const folded = cell.toLowerCase();
    return choices.find((choice) => choice.toLowerCase() === folded) ?? parseChoice(cell, choices);
  };
