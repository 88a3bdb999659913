/** Whether a page of the desk is in its language, word by word: a sentence may be made of several parts. */
import { userInfo } from 'node:os';
import { CATALOGUES, LANGUAGE_NAMES, type Language } from '../../src/values/language.ts';

const wordsOf = (text: string): string[] => text.toLowerCase().match(/\p{L}{2,}/gu) ?? [];

/** What the tests have registered or typed, whoever runs them, and units: the same in every language. */
const SAME = wordsOf(
  'Keza Mukamana Esperance Zzyzx Cooperative tester follower key kg kB MB GB ko Mo Go RWF ' +
    userInfo().username,
);

const monthsIn = (language: Language): string[] =>
  [{ dateStyle: 'medium' } as const, { month: 'short' } as const].flatMap((style) => {
    const format = new Intl.DateTimeFormat(language, { ...style, timeZone: 'UTC' });
    return Array.from({ length: 12 }, (_, month) => format.format(Date.UTC(2025, month, 2))).flatMap(wordsOf);
  });

/** The words of all translations, but for commands. */
const vocabularyOf = (language: Exclude<Language, 'en'>): ReadonlySet<string> =>
  new Set([
    ...SAME,
    ...monthsIn(language),
    ...Object.values(LANGUAGE_NAMES).flatMap(wordsOf),
    // Without what the file says of itself.
    ...Object.entries(CATALOGUES[language]).flatMap(([template, said]) =>
      template === '//' ? [] : wordsOf(said.replace(/`[^`]*`|--[\w-]+/g, ' ')),
    ),
  ]);

const VOCABULARIES = { fr: vocabularyOf('fr'), rw: vocabularyOf('rw') };

/** What a person reads on a page, or hears, but for commands and names in `<code>`. */
const sentencesOf = (page: string): string[] => {
  const body = page.replace(/<(code|script)\b.*?<\/\1>/gs, ' ');
  const attributes = [...body.matchAll(/ (?:aria-label|placeholder|title|alt)="([^"]*)"/g)];
  return [...body.split(/<[^>]*>/), ...attributes.map(([, text = '']) => text)]
    .map((text) => text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&').trim())
    .filter((text) => text !== '');
};

/** Of a line that begins with it, or, in French, right behind a word. */
const COLONS = { fr: /^[:;!?]|[\p{L}\d)][:;!?](?!\S)/u, rw: /^[:;!?]/ };

/** @returns the sentences with a word that no translation has, or with a colon where none may be */
export function untranslated(page: string, language: Exclude<Language, 'en'>): string[] {
  const known = VOCABULARIES[language];
  return sentencesOf(page).filter((text) => {
    // Codes, dates, paths, names of files and scopes, and the letters that tell the persons apart.
    const plain = text.replace(/\S*(?:[\d/_@]|[.:]\p{L})\S*|(?<=Keza )[a-j]{5}\b/gu, ' ');
    return COLONS[language].test(text) || wordsOf(plain).some((word) => !known.has(word));
  });
}
