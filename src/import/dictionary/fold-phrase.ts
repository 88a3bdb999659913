/** Headings of several words, folded so far that a dictionary needs each phrase only once. */
import { foldHeading } from './fold.ts';

/** Spellings of one word, which headings mix freely. */
const SAME_WORDS: { readonly [word: string]: string } = {
  ...{ n: 'no', nr: 'no', num: 'no', numero: 'no', nomero: 'no', nimero: 'no', inomero: 'no', number: 'no' },
  ...{ italiki: 'itariki', kode: 'code', telefone: 'telefoni', terefone: 'telefoni', terefoni: 'telefoni' },
};
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
    .map((word) => (Object.hasOwn(SAME_WORDS, word) ? (SAME_WORDS[word] as string) : word));
  return words.filter((word, i) => i === words.length - 1 || !JOINING.has(word)).join('');
}
