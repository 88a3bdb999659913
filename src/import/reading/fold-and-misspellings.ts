/** Folds headings and words for comparison, and finds the name that a misspelt name may mean. */

import { countTypos } from '../../values/search-words-and-typos.ts';

const MARKS = /\p{M}+/gu;
const FOLDED = /^[a-z0-9]+$/;
const SEPARATING = /[^\p{L}\p{N}]+/gu;

/**
 * Returns the same form for all spellings of a heading or word: `Date d’adhésion`, `DATE D'ADHESION` and
 * `date_d_adhesion` become `datedadhesion`. A text without letters or digits, such as `#`, is only trimmed.
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

/** Splits a text at `|` and line breaks. */
export const listed = (text: string): string[] =>
  text
    .split(/[|\n]/)
    .map((phrase) => phrase.trim())
    .filter((phrase) => phrase !== '');

// Folding of headings with several words

/** Unified spelling of each word, by its other spellings. */
const SAME_WORDS = new Map(
  Object.entries({
    no: 'n nr num numero nomero nimero inomero number',
    itariki: 'italiki',
    code: 'kode',
    telefoni: 'telefone terefone terefoni',
  }).flatMap(([word, others]) => others.split(' ').map((other) => [other, word] as const)),
);
/** Words that only join other words, in English, French and Kinyarwanda. */
const JOINING = new Set([
  ...['of', 'the', 'and', 's'],
  ...['de', 'du', 'des', 'd', 'la', 'le', 'les', 'l', 'et'],
  ...['y', 'ya', 'z', 'za', 'w', 'wa', 'cy', 'cya', 'ry', 'rya', 'by', 'bya', 'bw', 'bwa', 'na'],
]);

/**
 * Folds a heading, omits joining words, and unifies spellings of frequent words. So the result is equal for
 * `Numéro de la carte d'identité` and `N° carte identité`. The last word always stays, as in `Livré le`.
 */
export function foldPhrase(heading: string): string {
  const words = heading
    .normalize('NFKD')
    .replace(MARKS, '')
    .split(SEPARATING)
    .map(foldHeading)
    .filter((word) => word !== '')
    .map((word) => SAME_WORDS.get(word) ?? word);
  return words.filter((word, i) => i === words.length - 1 || !JOINING.has(word)).join('');
}

// Search for the known name nearest to a mistyped name

/** Minimum length of a name to permit one typo. A shorter name with another letter is often another name. */
const LETTERS_FOR_ONE_TYPO = 4;
const LETTERS_FOR_TWO_TYPOS = 8;

/**
 * Returns the name that differs from `given` by at most one typo, or by two in a longer name. A typo is an
 * extra, missing, wrong or swapped letter. Case, accents and punctuation are ignored.
 * @returns undefined if no name is near enough, or two names are equally near
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
