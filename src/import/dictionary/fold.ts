/** Headings and words of a file as they are compared: without case, accents, spaces and punctuation. */

const MARKS = /\p{M}+/gu;
const FOLDED = /^[a-z0-9]+$/;
const SEPARATING = /[^\p{L}\p{N}]+/gu;

/**
 * What two spellings of a heading or word have in common: `Date d’adhésion`, `DATE D'ADHESION` and
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

/** @param text phrases, apart by ` | ` or a line */
export const listed = (text: string): string[] =>
  text
    .split(/[|\n]/)
    .map((phrase) => phrase.trim())
    .filter((phrase) => phrase !== '');
