/** The translations: none is missing, none is of a message that does not exist, and each has its places. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SCOPE_MEANINGS } from '../../src/access/api-keys.ts';
import { CATALOGUES, inLanguage, languageOf, onPage } from '../../src/values/language.ts';
import { asMessage, PLACE, pack, say, unpack } from '../../src/values/message.ts';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));
/** Sentences that are joined by `+` are one; what only a comment quotes is not said. */
const SOURCES = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join(SRC, name), 'utf8').replace(/'\s*\+\s*'/g, ''))
  .map((source) => source.replace(/^\s*(?:\/\*\*.*?\*\/|\/\/[^\n]*)/gms, ''));

const TEXT = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"/g;
const unescaped = (text: string): string => text.replace(/\\(.)/g, '$1');
const textsIn = (source: string): string[] =>
  [...source.matchAll(TEXT)].map(([, single, double]) => unescaped(single ?? double ?? ''));

/** Also of a correction that is refused; an error that a command throws is English. */
const SAID = new RegExp(`(?:\\b(?:say|saying)|(?<!throw )\\brefuse)\\(\\s*(?:${TEXT.source})`, 'g');
/** A text that has a name of its own, as those of warnings have. */
const SAID_BY_NAME = /(?:\b(?:say|saying)|(?<!throw )\brefuse)\(\s*([A-Z][A-Z_]*)\s*[,)]/g;
function named(source: string): string[] {
  return [...source.matchAll(SAID_BY_NAME)].flatMap(([, name]) => {
    const declaration = new RegExp(`\\bconst ${name} =\\s*([^;]*);`);
    const texts = textsIn([source, ...SOURCES].flatMap((each) => declaration.exec(each)?.[1] ?? [])[0] ?? '');
    assert.ok(texts.length > 0, `${name} is not found`);
    return texts;
  });
}
const templates = new Set(
  SOURCES.flatMap((source) => [
    ...[...source.matchAll(SAID)].map(([, single, double]) => unescaped(single ?? double ?? '')),
    ...named(source),
  ]),
);

/** The head of a file, for whoever edits it. */
const HEAD = '//';
const entriesOf = (catalogue: { readonly [template: string]: string }) =>
  Object.entries(catalogue).filter(([template]) => template !== HEAD);

/** What a clerk meets most often and is not said by `say`: faults without values. */
const MUST_BE_TRANSLATED = [
  'A spreadsheet turned this national ID into a number and lost digits. Format the column as text and ' +
    'enter it again.',
  'Every national ID ends in 0: a spreadsheet has kept them as numbers of 15 digits and lost the last one. ' +
    'Format the column as text and enter them again, or import them with --accept-trailing-zero.',
  'Expected a national ID of exactly 16 digits.',
  'There is no cooperative with this code. Import the cooperatives first.',
  'There is no cooperative with the code "{code}". Import the cooperatives first.',
  'There is no member with this code in the cooperative. Import its members first.',
  'There is no member with the code "{code}" in the cooperative. Import its members first.',
  'There is no member with this national ID in the cooperative. Import its members first.',
  'Same as line {line}.',
  'The column is missing.',
  'The column is missing. For a file of one cooperative, give its code with --cooperative CODE.',
  'The column is missing: member_code, or identity_card.',
  'The column is missing: full_name, or first_name and last_name.',
  'This person was erased.',
  'This person was erased. --despite-erasure imports the row.',
  'Import it nevertheless? [y/N]',
  'Import it? [y/N]',
  'Do it? [y/N]',
  'Nothing was changed.',
  'Nothing was changed. Without a terminal, add --yes to do this.',
  'Interrupted. Nothing of this file was imported.',
  'An erasure cannot be undone.',
  'There is no import with this id. `imports list` shows all.',
  'No person has this national ID.',
  'There is no cooperative with this code.',
  ...['Deliveries', 'Loans', 'Payments', 'Savings accounts', 'Savings transactions', 'History'],
  ...['National ID', 'Former numbers', 'Responses kept for repeated requests'],
  ...Object.values(SCOPE_MEANINGS),
  ...['goes', 'stays', 'ends', 'begins'],
  ...['AT', 'KIND', 'ROW', 'FIELD', 'OLD', 'NEW', 'BY'],
];

/** Faults of fields that no page of the desk leads to: of the API, of settings and of webhooks. */
const NOT_AT_THE_DESK = [
  /^Not a valid string\.$/,
  /^Incorrect type\. Expected pk value\.$/,
  /^Expected an offset such as/,
  /^Date(?:time)? has wrong format\./,
  // Of a mapping file, which only commands read
  /^(?:Not chosen yet: replace null|Expected the name of a sheet)/,
  /^(?:Expected a URL|A URL with|Expected https|This address is not a public one)/,
];
const FAULT = new RegExp(`new FieldError\\(\\s*(?:${TEXT.source})\\s*[,)]`, 'g');
const faults = [
  'values',
  'access',
  'keys',
  'registry',
  'people',
  'statistics',
  'webhooks',
  'import',
  'desk',
].flatMap((folder) =>
  readdirSync(join(SRC, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(SRC, folder, name), 'utf8').replace(/'\s*\+\s*'/g, ''))
    .flatMap((source) => [...source.matchAll(FAULT)].map(([, a, b]) => unescaped(a ?? b ?? '')))
    .filter((text) => text !== '' && !NOT_AT_THE_DESK.some((one) => one.test(text))),
);

/** The names of places in alphabetical order. A number may have forms in one language and none in another. */
const placesOf = (template: string): string[] =>
  [...template.matchAll(PLACE)].map(([, name]) => name ?? '').sort();

for (const [language, catalogue] of Object.entries(CATALOGUES)) {
  test(`${language}: every message that is said has a translation`, () => {
    assert.ok(templates.size > 140, `${templates.size} templates`);
    assert.ok(faults.length > 25, `${faults.length} faults`);
    const missing = [...templates, ...MUST_BE_TRANSLATED, ...faults].filter(
      (each) => !Object.hasOwn(catalogue, each),
    );
    assert.deepEqual(missing, []);
  });

  test(`${language}: every translation is of a message of the code`, () => {
    // Templates too: in HTML they stand inside the quotes of attributes.
    const known = new Set([...SOURCES.flatMap(textsIn), ...templates]);
    const unknown = entriesOf(catalogue).filter(([template]) => !known.has(template));
    assert.deepEqual(unknown, []);
  });

  test(`${language}: no translation lacks a place or invents one`, () => {
    for (const [template, translation] of entriesOf(catalogue))
      assert.deepEqual(placesOf(translation), placesOf(template), translation);
  });

  test(`${language}: a translation has no braces, spaces or line feeds that the message has not`, () => {
    const around = (text: string) => [/^\s*/.exec(text)?.[0], /\s*$/.exec(text)?.[0]];
    for (const [template, translation] of entriesOf(catalogue)) {
      assert.doesNotMatch(translation.replace(PLACE, ''), /[{}|#\n]/, translation);
      assert.deepEqual(around(translation), around(template), translation);
      assert.notEqual(translation, '');
    }
  });

  test(`${language}: the file says that no speaker has reviewed it`, () => {
    assert.match(Object.entries(catalogue)[0]?.join(' ') ?? '', /^\/\/ UNREVIEWED/);
  });
}

test('the language is that of the first variable that is set, in the order of POSIX', () => {
  const languages = [
    {},
    { LANG: 'fr_RW.UTF-8' },
    { LANG: 'rw' },
    { LANG: 'rw_RW' },
    { LANG: 'fr', LC_MESSAGES: 'rw_RW.UTF-8' },
    { LANG: 'fr', LC_MESSAGES: 'rw', LC_ALL: 'en_GB' },
    { LANG: 'fr', LC_MESSAGES: '', LC_ALL: '' },
    { LANG: 'rw', LC_ALL: 'C.UTF-8' },
    { LANG: 'de_DE.UTF-8' },
  ].map(languageOf);
  assert.deepEqual(languages, ['en', 'fr', 'rw', 'rw', 'rw', 'en', 'fr', 'en', 'en']);
});

test('numbers take the forms of their language, whatever that of the machine', () => {
  const forms = (language: 'en' | 'fr' | 'rw') =>
    [0, 1, 2, 1_000_000].map((n) => inLanguage(say('{n|# member|# members}', { n }), language));
  assert.deepEqual(forms('en'), ['0 members', '1 member', '2 members', '1000000 members']);
  assert.deepEqual(forms('fr'), ['0 membre', '1 membre', '2 membres', '1000000 membres']);
  assert.deepEqual(forms('rw'), [
    ...['abanyamuryango 0', 'umunyamuryango 1', 'abanyamuryango 2', 'abanyamuryango 1000000'],
  ]);
});

test('what is in a message is in its language; without a translation it is English, its number too', () => {
  const inner = say('{n|# loan|# loans}', { n: 0 });
  assert.equal(
    inLanguage(say('Imported: {files}.', { files: [inner, 'a.csv'] }), 'fr'),
    'Importés : 0 prêt, a.csv.',
  );
  assert.equal(inLanguage(say('{n|# cow|# cows}: {inner}', { n: 0, inner }), 'fr'), '0 cows: 0 prêt');
});

test('values keep their braces, and so does a text that only looks like a template', () => {
  assert.equal(
    String(say('Nothing of {file} was imported.', { file: '{file}{n|a|b}.csv' })),
    'Nothing of {file}{n|a|b}.csv was imported.',
  );
  assert.equal(inLanguage(asMessage('Its sheets: {a}.'), 'fr'), 'Its sheets: {a}.');
});

test('a message comes back from a table, and is English in JSON', () => {
  const message = say('Same as line {line}.', { line: 7 });
  assert.deepEqual(unpack(pack(message)), message);
  const month = say('{day} {month}', { day: 3, month: asMessage('April') });
  assert.equal(inLanguage(unpack(pack(month)), 'fr'), '3 avril');
  assert.equal(unpack(pack('The column is missing.')), 'The column is missing.');
  assert.equal(unpack(pack('two\nlines')), 'two lines');
  assert.equal(JSON.stringify({ message }), '{"message":"Same as line 7."}');
});

test('on a French page no line begins with a mark; other languages and commands keep their spaces', () => {
  const text = say('Enter rows:');
  assert.equal(onPage(text, 'fr'), 'Saisir des lignes\u00a0:');
  assert.equal(inLanguage(text, 'fr'), 'Saisir des lignes :');
  assert.equal(onPage(text, 'rw'), inLanguage(text, 'rw'));
});
