/** What the formatter leaves to people: it breaks code, but neither texts nor comments. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MAX_COLUMNS = 110;

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

test('a doc comment says what a thing is, with its noun first', () => {
  const beginnings = /\/\*\*\s*(?:\*\s*)?(?:What|Of|Who|Whose|Whom|Whether|Where|Which|How) /g;
  const found = files
    .filter((file) => file.startsWith('src/'))
    .flatMap((file) => [...read(file).matchAll(beginnings)].map(([text]) => `${file}: ${text.trim()}`));
  // In a few places such a sentence is the shortest that is clear.
  assert.ok(found.length <= 20, found.join('\n'));
});
