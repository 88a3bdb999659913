/** What the formatter leaves to people: it breaks code, but neither texts nor comments. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MAX_COLUMNS = 110;
/** Words such as `somebody` that are left in messages and documents; lower it with them. */
const MOST_VAGUE = 9;

/** The formatter keeps the beginning of a test on one line: only its title counts. */
const withoutCallback = (line: string): string =>
  line.replace(/^(\s*test\(.*['"`]), (?:\{[^{}]*\}, )?(?:async )?\([^()]*\) => \{$/, '$1,');

const files = ['src', 'test', 'bench', 'deploy'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => `${folder}/${name}`),
);

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const listMarkdown = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);

test('no line is longer than 110 columns', () => {
  assert.ok(files.length > 250, `${files.length} files`);
  const long = files.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, i) => (withoutCallback(line).length > MAX_COLUMNS ? [`${file}:${i + 1}`] : [])),
  );
  assert.deepEqual(long, []);
});

test('comments and documents name source files that exist', () => {
  const named = /(?<![\w/.-])(?:\.{0,2}\/)*((?:[a-z][\w-]*\/)*[a-z][\w-]*\.ts)(?![\w-]|\.\w)/g;
  const comments = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;
  const documents = [
    'CONTRIBUTING.md',
    'ARCHITECTURE.md',
    'README.md',
    'SECURITY.md',
    ...listMarkdown('docs'),
  ];
  const texts = [
    ...files.map((file) => [file, (read(file).match(comments) ?? []).join('\n')] as const),
    ...documents.map((file) => [file, read(file)] as const),
  ];
  let looked = 0;
  const gone = texts.flatMap(([file, text]) =>
    [...text.matchAll(named)].flatMap(([, path = '']) => {
      looked++;
      return files.some((each) => `/${each}`.endsWith(`/${path}`)) ? [] : [`${file}: ${path}`];
    }),
  );
  assert.ok(looked > 150, `${looked} names`);
  assert.deepEqual(gone, []);
});

/** Words with which a sentence begins that has no noun as its subject. */
const PRONOUNS = 'What|Of|Who|Whose|Whom|Where|Which';

test('a doc comment says what a thing is, with its noun first', () => {
  const beginnings = new RegExp(`/\\*\\*\\s*(?:\\*\\s*)?(?:${PRONOUNS}|Whether|How) `, 'g');
  const found = files
    .filter((file) => file.startsWith('src/'))
    .flatMap((file) => [...read(file).matchAll(beginnings)].map(([text]) => `${file}: ${text.trim()}`));
  // In a few places such a sentence is the shortest that is clear.
  assert.ok(found.length <= 20, found.join('\n'));
});

/** The literals of the program with a space in them, which are sentences or labels, without comments. */
const messages = files
  .filter((file) => file.startsWith('src/'))
  .flatMap((file) => {
    const code = read(file)
      .replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
      .replace(/'\s*\+\s*'/g, '');
    const literals = code.matchAll(/'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g);
    const texts = [...literals].map(
      ([, single, double, template]) => single ?? double ?? template?.replace(/\$\{[^}]*\}/g, '…') ?? '',
    );
    // In templates too.
    const translated = [...code.matchAll(/\bsay\(\s*'((?:[^'\\\n]|\\.)*)'/g)].map(([, text = '']) => text);
    return [...new Set([...texts, ...translated])]
      .filter((text) => text.includes(' '))
      .map((text) => ({ file, text }));
  });
const documents = [
  ...['CONTRIBUTING.md', 'ARCHITECTURE.md', 'README.md', 'SECURITY.md'],
  ...listMarkdown('docs'),
];

test('no message and no heading of a document begins with a pronoun, but questions', () => {
  const beginning = new RegExp(`^(?:${PRONOUNS}) [^?]*$`);
  // Texts of the API that are fixed, and one indirect question.
  const fixed = /^What is paid on this loan would |^Who has seen (?:this|the) record/;
  const begun = messages.filter(({ text }) => beginning.test(text) && !fixed.test(text));
  const heading = new RegExp(`^#+ (?:${PRONOUNS})\\b[^?]*$`, 'gm');
  const headings = documents.flatMap((file) =>
    [...read(file).matchAll(heading)].map(([text]) => `${file}: ${text}`),
  );
  assert.ok(messages.length > 2_000, `${messages.length} messages`);
  assert.deepEqual([...begun.map(({ file, text }) => `${file}: ${text}`), ...headings], []);
});

test('messages and documents name their actors', () => {
  const vague = /\b(?:nobody|somebody|everybody|is told)\b/gi;
  // `is none` only as the end of a condition.
  const none = /(?<!\b(?:if|where|when|while) there )\bis none\b/gi;
  const texts = [
    ...messages,
    ...documents.map((file) => ({ file, text: read(file).replace(/`[^`]*`/g, '') })),
  ];
  const found = texts.flatMap(({ file, text }) =>
    [vague, none].flatMap((habit) => [...text.matchAll(habit)].map(([word]) => `${file}: ${word}`)),
  );
  assert.ok(found.length <= MOST_VAGUE, `${found.length}:\n${found.join('\n')}`);
});
