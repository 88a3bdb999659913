/** Words of people → the values of a choice (docs/import-reference.md#words). */

import { GENDERS, type Gender } from '../../domain/membership/members.ts';
import { CHOICE_LABELS } from '../../domain/values/choice-labels.ts';
import { FieldError, mayEchoCell } from '../../domain/values/errors.ts';
import { say } from '../../domain/values/message.ts';
import { inLanguage, LANGUAGES } from '../../language/language.ts';
import { foldHeading } from '../dictionary/fold.ts';
import { GENDER_WORDS, type Words } from '../dictionary/words.ts';
import type { CellContext } from './context.ts';

type ReadChoice<T> = (cell: string, context: CellContext) => T | FieldError;

/** Forms of the registry's own, which need no note. */
const GENDER_FORMS: { readonly [word: string]: Gender } = {
  m: 'MALE',
  gabo: 'MALE',
  f: 'FEMALE',
  gore: 'FEMALE',
};

const readGenderWord = readChoice(GENDERS, GENDER_WORDS);

export function readGender(cell: string, context: CellContext): Gender | FieldError {
  const word = cell.toLowerCase();
  return Object.hasOwn(GENDER_FORMS, word) ? (GENDER_FORMS[word] as Gender) : readGenderWord(cell, context);
}

/** A choice in any letter case, or a word that means one; whoever adds a question mark is not certain. */
export function readChoice<T extends string>(choices: readonly T[], words: Words<T> = {}): ReadChoice<T> {
  let meanings: ReadonlyMap<string, T> | undefined;
  return (cell, context) => {
    const lower = cell.toLowerCase();
    const choice = choices.find((known) => known.toLowerCase() === lower);
    if (choice !== undefined) return choice;
    meanings ??= meaningsOf(choices, words);
    const meant = cell.includes('?') ? undefined : meanings.get(foldHeading(cell));
    if (meant === undefined) return unknownChoice(cell, choices, context);
    context.note('word');
    return meant;
  };
}

/** What the desk calls it, and what else people write. */
const wordsOf = <T extends string>(choice: T, words: Words<T>): readonly string[] => {
  const label = CHOICE_LABELS[choice];
  const labels = label === undefined ? [] : LANGUAGES.map((language) => inLanguage(label, language));
  return [choice, ...labels, ...(words[choice] ?? [])];
};

/** By folded word, the choice that it means. */
export const meaningsOf = <T extends string>(
  choices: readonly T[],
  words: Words<T>,
): ReadonlyMap<string, T> =>
  new Map(
    choices.flatMap((choice) =>
      wordsOf(choice, words).map((word): [string, T] => [foldHeading(word), choice]),
    ),
  );

/** More different words than these are hardly those of a choice, and may be names. */
export const MOST_UNKNOWN_WORDS = 3;

function unknownChoice(cell: string, choices: readonly string[], { unknownWords }: CellContext): FieldError {
  if (unknownWords !== undefined && unknownWords.size <= MOST_UNKNOWN_WORDS)
    unknownWords.add(foldHeading(cell));
  return new FieldError(
    unknownWords !== undefined && mayEchoCell(cell)
      ? say('"{cell}" is not a valid choice. Known: {known}.', { cell, known: choices })
      : say('Not a valid choice. Known: {known}.', { known: choices }),
  );
}
