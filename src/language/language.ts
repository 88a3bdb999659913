/** The language of what a command says to people (docs/importing.md#in-french-or-kinyarwanda). */
import { compose, type Text, type Wording } from '../domain/values/message.ts';
import french from './fr.json' with { type: 'json' };
import kinyarwanda from './rw.json' with { type: 'json' };

export const LANGUAGES = ['en', 'fr', 'rw'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Each in itself, as somebody looks for it who reads no other. */
export const LANGUAGE_NAMES: { readonly [language in Language]: string } = {
  en: 'English',
  fr: 'Français',
  rw: 'Ikinyarwanda',
};

type Catalogue = { readonly [template: string]: string };

/** English templates → translations. Who speaks the language can correct them: CONTRIBUTING.md. */
export const CATALOGUES: { readonly [language in Exclude<Language, 'en'>]: Catalogue } = {
  fr: french,
  rw: kinyarwanda,
};

// ICU has no rules for Kinyarwanda and would take those of the machine: of 1 alone the noun is singular.
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

/**
 * The text in the language; in English where a translation is missing.
 * @param write of values that a page writes otherwise than a command
 */
export const inLanguage = (text: Text, language: Language, write?: Wording['write']): string =>
  compose(text, write === undefined ? wordings[language] : { ...wordings[language], write });

/** The same for a page, on which no line begins with a mark that French sets apart by a space. */
export function onPage(text: Text, language: Language, write?: Wording['write']): string {
  const said = inLanguage(text, language, write);
  return language === 'fr' ? said.replace(/ (?=[:;?!»])|(?<=«) /g, '\u00a0') : said;
}

export const findLanguage = (name: string): Language | undefined =>
  LANGUAGES.find((language) => language === name);

/** Of the locale, such as `fr_RW.UTF-8`, in the first variable that is set, in the order of POSIX. */
export function languageOf({ LC_ALL, LC_MESSAGES, LANG }: NodeJS.ProcessEnv): Language {
  const [name = ''] = (LC_ALL || LC_MESSAGES || LANG || '').split(/[_.@-]/);
  return findLanguage(name.toLowerCase()) ?? 'en';
}
