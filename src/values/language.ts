/** Languages of texts for people (docs/importing.md#in-french-or-kinyarwanda). */

import french from './fr.json' with { type: 'json' };
import { compose, type Text, type Wording } from './message.ts';
import kinyarwanda from './rw.json' with { type: 'json' };

export const LANGUAGES = ['en', 'fr', 'rw'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Name of each language in the language itself. */
export const LANGUAGE_NAMES: { readonly [language in Language]: string } = {
  en: 'English',
  fr: 'Français',
  rw: 'Ikinyarwanda',
};

type Catalogue = { readonly [template: string]: string };

/** Translations by English template (CONTRIBUTING.md#correct-a-translation). */
export const CATALOGUES: { readonly [language in Exclude<Language, 'en'>]: Catalogue } = {
  fr: french,
  rw: kinyarwanda,
};

// ICU has no plural rules for Kinyarwanda, and would use the rules of the machine's locale. In Kinyarwanda,
// as in English, only 1 is singular.
const PLURAL_RULES = { en: 'en', fr: 'fr', rw: 'en' } as const;

const wordings = Object.fromEntries(
  LANGUAGES.map((language): [string, Wording] => {
    const rules = new Intl.PluralRules(PLURAL_RULES[language]);
    const catalogue: Catalogue = language === 'en' ? {} : CATALOGUES[language];
    return [
      language,
      {
        translate: (template) => (Object.hasOwn(catalogue, template) ? catalogue[template] : undefined),
        isSingular: (count) => rules.select(count) === 'one',
      },
    ];
  }),
) as { readonly [language in Language]: Wording };

/** Falls back to English. @param write formats values for a page; by default, they are as in commands */
export const inLanguage = (text: Text, language: Language, write?: Wording['write']): string =>
  compose(text, write === undefined ? wordings[language] : { ...wordings[language], write });

/** Adds the no-break spaces of French before marks such as `:` and `?`. */
export function onPage(text: Text, language: Language, write?: Wording['write']): string {
  const said = inLanguage(text, language, write);
  return language === 'fr' ? said.replace(/ (?=[:;?!»])|(?<=«) /g, '\u00a0') : said;
}

export const findLanguage = (name: string): Language | undefined =>
  LANGUAGES.find((language) => language === name);

/** Reads a locale such as `fr_RW.UTF-8` from the first of these variables that is set. */
export function languageOf({ LC_ALL, LC_MESSAGES, LANG }: NodeJS.ProcessEnv): Language {
  const [name = ''] = (LC_ALL || LC_MESSAGES || LANG || '').split(/[_.@-]/);
  return findLanguage(name.toLowerCase()) ?? 'en';
}
