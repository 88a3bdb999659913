/**
 * Invented names that are as unequally frequent as real ones: of 5,000 surnames the first is that of one
 * person in twelve, and the first three are those of one in six.
 */
const SYLLABLES = [
  'mu',
  'ka',
  'ha',
  'bi',
  'nya',
  'ru',
  'gi',
  'mana',
  'zi',
  'ra',
  'nto',
  'we',
  'yi',
  'se',
  'ngo',
];
const SURNAMES = 5_000;
const FIRST_NAMES = 400;

/** Of syllables: different for each number. */
function word(n: number, first: string): string {
  let text = first;
  for (let rest = n + SYLLABLES.length; rest > 0; rest = Math.floor(rest / SYLLABLES.length))
    text += SYLLABLES[rest % SYLLABLES.length];
  return text;
}

/** From 0 to 1, the same for the same numbers. */
const fraction = (n: number, salt: number): number =>
  (Math.imul(Math.imul(n + salt, 0x9e3779b1) ^ (n >>> 7), 0x85ebca6b) >>> 0) / 2 ** 32;

/** The n-th of `count` has a share of about 1 / n. */
const ranked = (count: number, at: number): number => Math.floor(count ** at * 0.999_999) - 1;

export interface BenchName {
  readonly first: string;
  readonly last: string;
}

/** @param p number of the person */
export const nameOf = (p: number): BenchName => ({
  first: word(Math.max(0, ranked(FIRST_NAMES, fraction(p, 1))), 'El'),
  last: word(Math.max(0, ranked(SURNAMES, fraction(p, 2))), 'Ni'),
});

/** What people type who look for one of many members: a surname or its beginning, maybe a first name. */
export function searchOf(n: number, members: number): string {
  const { first, last } = nameOf(Math.floor(fraction(n, 3) * members));
  const some = (text: string, least: number): string =>
    text.slice(0, least + Math.floor(fraction(n, 4) * (text.length - least + 1)));
  const texts = [
    some(last, 3),
    last,
    `${some(first, 3)} ${last}`,
    `${last} ${first}`,
    `${some(last, 4)} ${some(first, 3)}`,
  ];
  return texts[n % texts.length] as string;
}
