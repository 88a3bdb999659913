/** Folds headings and words of a file for comparison: without case, accents, spaces and punctuation. */

import { countTypos } from '../../values/search-words.ts';

const MARKS = /\p{M}+/gu;
const FOLDED = /^[a-z0-9]+$/;
const SEPARATING = /[^\p{L}\p{N}]+/gu;

/**
 * The form that all spellings of a heading or word have in common: `Date d’adhésion`, `DATE D'ADHESION` and
 * `date_d_adhesion` are all `datedadhesion`. A text without a letter or digit, such as `#`, stays as it is;
 * only a blank one becomes empty.
 */
export function foldHeading(text: string): string {
  if (FOLDED.test(text)) return text;
  const folded = text
    .normalize('NFKD')
    .replace(MARKS, '')
    .toLowerCase()
    .replaceAll('œ', 'oe')
    .replaceAll('æ', 'ae')
    .replaceAll('ß', 'ss')
    .replace(SEPARATING, '');
  return folded === '' ? text.normalize('NFKC').trim() : folded;
}

/** @param text phrases separated by `|` or line breaks */
export const listed = (text: string): string[] =>
  text
    .split(/[|\n]/)
    .map((phrase) => phrase.trim())
    .filter((phrase) => phrase !== '');

// Headings of several words, folded so far that a dictionary needs each phrase only once

/** Interchangeable spellings of one word. */
const SAME_WORDS = new Map(
  Object.entries({
    no: 'n nr num numero nomero nimero inomero number',
    itariki: 'italiki',
    code: 'kode',
    telefoni: 'telefone terefone terefoni',
  }).flatMap(([word, others]) => others.split(' ').map((other) => [other, word] as const)),
);
/** Words that only join others, in English, French and Kinyarwanda. */
const JOINING = new Set([
  ...['of', 'the', 'and', 's'],
  ...['de', 'du', 'des', 'd', 'la', 'le', 'les', 'l', 'et'],
  ...['y', 'ya', 'z', 'za', 'w', 'wa', 'cy', 'cya', 'ry', 'rya', 'by', 'bya', 'bw', 'bwa', 'na'],
]);

/**
 * A heading without joining words, and with one spelling of frequent words: `Numéro de la carte d'identité`
 * and `N° carte identité` are the same. A joining word at the end carries meaning and stays: `Livré le`.
 */
export function foldPhrase(heading: string): string {
  const words = heading
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .split(/[^\p{L}\p{N}]+/u)
    .map(foldHeading)
    .filter((word) => word !== '')
    .map((word) => SAME_WORDS.get(word) ?? word);
  return words.filter((word, i) => i === words.length - 1 || !JOINING.has(word)).join('');
}

// Known name nearest to a mistyped one

/** Shorter names allow no typo: one letter makes another name. */
const LETTERS_FOR_ONE_TYPO = 4;
const LETTERS_FOR_TWO_TYPOS = 8;

/**
 * The name within one typo of the given one, or two in a longer name: a letter too many, missing, wrong, or
 * swapped with the next. Case, accents and punctuation do not count.
 * @returns undefined if there is no such name, or if two are equally near
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
