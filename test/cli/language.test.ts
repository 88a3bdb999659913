/** What a clerk sees in English, French and Kinyarwanda, screen by screen, and what stays English. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemUser } from '../../src/runtime/process.ts';
import { LANGUAGES, type Language } from '../../src/values/language.ts';
import { type ImportPlace, importPlace, member, members, nid } from '../support/importing.ts';
import { type Step, show, startedWithFiles } from '../support/screens.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const screens = (language: Language) => join(ROOT, `test/cli/screens/${language}.txt`);
const WHY = ['--reason', 'Request', '--yes'];

const FIRST = '1';
const STEPS: readonly Step[] = [
  [['import', 'members', 'bad.csv', '--rejects', 'refused.csv']],
  [['import', 'members', 'zeros.csv']],
  [['import', 'production', 'no-columns.csv']],
  [['import', 'production', 'unknown.csv']],
  [['import', 'members', 'other.csv'], ''],
  [['import', 'members', 'new.csv', '--dry-run']],
  [['import', 'members', 'new.csv']],
  [['import', 'members', 'new.csv']],
  [['imports', 'undo', '3'], 'n'],
  [['imports', 'undo', '3', '--dry-run']],
  [['imports', 'undo', FIRST], 'n'],
  [['persons', 'deceased', nid(4), '--on', '2024-01-01', ...WHY]],
  [['import', 'members', 'old.csv']],
  [['persons', 'erase', nid(2), ...WHY]],
  [['import', 'members', 'erased.csv']],
  [['imports', 'undo', FIRST], 'n'],
  [['imports', 'undo', '99'], 'n'],
  [['persons', 'show', nid(1)]],
  [['persons', 'show', nid(98)]],
  [['history', 'member', 'A-1/M-98']],
  [['history', 'cooperative', 'X-9']],
];

/** Without what differs from run to run: how long something took, and who runs it. */
const withoutChance = (screen: string): string =>
  screen
    .replaceAll(`: ${systemUser()}\n`, ': clerk\n')
    .replace(/\b\d+\.\d{1,3}\b/g, '0.0')
    .replace(/\b\d+(?= (?:rows\/s|lignes\/s|ku isegonda))/g, '0');

async function session(context: TestContext, language: Language): Promise<string> {
  const place = await startedWithFiles(context);
  let text = '';
  for (const step of STEPS) {
    const { screen, status } = await show(place, step, { LANG: `${language}_RW.UTF-8` });
    text += `$ ${step[0].join(' ')}\n${withoutChance(screen)}→ ${status}\n\n`;
  }
  return text;
}

for (const language of LANGUAGES) {
  test(`${language}: a clerk's session reads as it did`, async (context) => {
    const text = await session(context, language);
    if (process.env.WRITE_SCREENS !== undefined) writeFileSync(screens(language), text);
    assert.equal(text, readFileSync(screens(language), 'utf8'));
  });
}

test('no language changes an exit status, and French and Kinyarwanda screens have no English sentence', () => {
  const read = (language: Language) => readFileSync(screens(language), 'utf8');
  const statuses = (text: string) => [...text.matchAll(/^→ (\d)$/gm)].map(([, status]) => status);
  const english = read('en').split('\n');
  for (const language of ['fr', 'rw'] as const) {
    assert.deepEqual(statuses(read(language)), statuses(read('en')));
    const same = read(language)
      .split('\n')
      .filter((line) => / \w+ \w+ /.test(line) && english.includes(line));
    // Commands, and the stored values of a person.
    assert.deepEqual(
      same.filter((line) => !/^\$|^(?:full_name|updated_at) |^\d{4}-/.test(line)),
      [],
    );
  }
});

test('--lang, before the command or behind it, is stronger than the environment', async (context) => {
  const place = await startedWithFiles(context);
  const last = async (...args: string[]) =>
    (await show(place, [args], { LANG: 'fr', LC_ALL: '' })).err.trimEnd().split('\n').at(-1);
  const REFUSED = ['import', 'members', 'bad.csv'];
  assert.equal(await last(...REFUSED), "Aucune ligne de bad.csv n'a été importée.");
  assert.equal(await last(...REFUSED, '--lang', 'rw'), 'Nta na kimwe cyo muri bad.csv cyinjijwe.');
  assert.equal(await last('--lang', 'rw', ...REFUSED), 'Nta na kimwe cyo muri bad.csv cyinjijwe.');
  assert.equal(await last('--lang=en', ...REFUSED), 'Nothing of bad.csv was imported.');
  const wrong = await show(place, [[...REFUSED, '--lang', 'de']], {});
  assert.deepEqual([wrong.status, /Known languages: en, fr, rw\./.test(wrong.err)], [2, true]);
});

test('what programs read is English: the JSON of faults, of warnings and of an undo', async (context) => {
  const places = [await startedWithFiles(context), await startedWithFiles(context)];
  const json = async (place: ImportPlace | undefined, args: readonly string[], language: string) => {
    const { out } = await show(place as ImportPlace, [[...args, '--json']], { LANG: language });
    return out
      .replaceAll((place as ImportPlace).folder, '')
      .replace(/"(?:lock_|rows_per_)?seconds?": .*/g, '');
  };
  for (const args of [
    ['import', 'members', 'bad.csv'],
    ['import', 'members', 'other.csv'],
    ['imports', 'undo', '2', '--dry-run'],
  ]) {
    const [english, french] = [await json(places[0], args, 'en'), await json(places[1], args, 'fr')];
    assert.ok(english.length > 20);
    assert.equal(french, english);
    assert.doesNotMatch(english, /\{\w+\}/);
  }
});

test('rejects have their reasons in the language, and are read again in any', async (context) => {
  const place = await startedWithFiles(context);
  const refused = join(place.folder, 'refused.csv');
  for (const language of LANGUAGES) {
    const reject = (from: string, to: string, lang: Language) =>
      show(place, [['import', 'members', from, '--rejects', to, '--lang', lang]], {});
    await reject('bad.csv', 'refused.csv', language);
    const text = readFileSync(refused, 'utf8');
    assert.match(text, /,registry_faults\n/);
    assert.match(
      text,
      { en: /: Same as line 6/, fr: /: Identique à la ligne 6/, rw: /: Ni kimwe n'umurongo 6/ }[language],
    );
    // The reason behind a row that is too short is replaced, not taken for a cell.
    await reject('refused.csv', 'again.csv', 'en');
    const short = readFileSync(join(place.folder, 'again.csv'), 'utf8')
      .split('\n')
      .find((line) => line.includes('M-7'));
    assert.match(
      short ?? '',
      new RegExp(`^A-1,${nid(7)},M-7,,"?registry_faults: Expected \\d cells, found \\d\\."?$`),
    );
  }
});

test('a yes is understood in the language of the question, and y in each', async (context) => {
  const answers: { readonly [language in Language]: readonly [yes: string[], no: string[]] } = {
    en: [
      ['y', 'Yes'],
      ['n', 'oui', 'yego', ''],
    ],
    fr: [
      ['y', 'O', 'oui '],
      ['n', 'non', 'yes', ''],
    ],
    rw: [
      ['y', 'Yego'],
      ['n', 'oya', 'o', ''],
    ],
  };
  for (const language of LANGUAGES) {
    const place = await startedWithFiles(context);
    const [yes, no] = answers[language];
    const undo = async (id: string, answer: string) =>
      (await show(place, [['imports', 'undo', id, '--lang', language], answer], {})).status;
    for (const answer of no) assert.equal(await undo('2', answer), 1, `${language} ${answer}`);
    let id = 2;
    for (const answer of yes) {
      assert.equal(await undo(String(id++), answer), 0, `${language} ${answer}`);
      await place.load('members', members(member(1)));
    }
  }
});

test('the screens of docs/importing.md are what the commands print', async (context) => {
  const text = readFileSync(join(ROOT, 'docs/importing.md'), 'utf8');
  const [, section = ''] = text.split('## In French or Kinyarwanda\n');
  const examples = [
    ...section.matchAll(
      /npm run -s registry -- (.*?) --db trial\/union\.db (.*)\n```\n\n```text\n([\s\S]*?)\n```/g,
    ),
  ];
  assert.equal(examples.length, 2);
  const place = importPlace(context);
  // After the newest date in the samples.
  place.clock.advance(Date.UTC(2026, 9, 1) - place.clock.now());
  const sample = (name: string) => join(ROOT, 'data/samples', name);
  await place.run('cooperatives', sample('cooperatives.csv'));
  await place.run('members', sample('members-kinyarwanda.csv'), '--cooperative', 'URUGERO-KAWA');
  const map = sample('members-french-map.json');
  await place.run('members', sample('members-french.csv'), '--map', map);
  for (const [, line = '', lang = '', block = ''] of examples) {
    const args = [...line.split(' '), ...lang.split(' ')].map((arg) =>
      arg.startsWith('data/') ? join(ROOT, arg) : arg,
    );
    const { screen } = await show(place, [args], {});
    const shown = block
      .replace(/\n {2}/g, ' ')
      .split('\n')
      .filter((each) => each !== '…');
    assert.ok(shown.length >= 3);
    for (const each of shown) assert.ok(screen.split('\n').includes(each), `${each}\nis not in\n${screen}`);
  }
});
