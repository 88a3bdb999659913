/** Headings of several words, folded so far that a dictionary needs each phrase only once. */
import { foldHeading } from './fold.ts';

/** Spellings of one word, which headings mix freely. */
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
