/** Documents and code say the same: settings, commands, scopes, routes, errors, targets, and the files they name. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { createProgram } from '../src/cli/program.ts';
import { systemClock } from '../src/clock.ts';
import { SETTINGS } from '../src/config.ts';
import { SCOPES } from '../src/domain/api-keys.ts';
import { fullPath } from '../src/http/route.ts';
import { IMPORT_COLUMNS } from '../src/import/columns.ts';
import { declaredRoutes } from './support/openapi-file.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const DECISIONS = readdirSync(join(ROOT, 'docs/decisions')).map((name) => `docs/decisions/${name}`);
const DOCUMENTS = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'docs/api.md',
  'docs/operating.md',
  'bench/README.md',
  'data/README.md',
  ...DECISIONS,
];
const operating = read('docs/operating.md');
const api = read('docs/api.md');
const missingIn = (text: string, names: readonly string[]): string[] =>
  names.filter((name) => !text.includes(name));

test('every setting is documented', () => {
  assert.deepEqual(
    missingIn(
      operating,
      Object.keys(SETTINGS).map((name) => `| \`${name}\` |`),
    ),
    [],
  );
});

test('every command and option is documented', () => {
  const program = createProgram({
    env: {},
    clock: systemClock,
    out: () => {},
    err: () => {},
    terminal: undefined,
  });
  const commands = program.commands.flatMap(
    (command): Command[] => [command, ...command.commands] as Command[],
  );
  assert.ok(commands.length >= 12);
  assert.deepEqual(
    missingIn(
      operating,
      commands.map((command) => command.name()),
    ),
    [],
  );
  const options = new Set(commands.flatMap((command) => command.options.map(({ long }) => long ?? '')));
  assert.ok(options.size >= 15);
  assert.deepEqual(missingIn(operating, [...options]), []);
});

test('every scope is documented for operators and for clients', () => {
  const named = SCOPES.map((scope) => `\`${scope}\``);
  assert.deepEqual([missingIn(operating, named), missingIn(api, named)], [[], []]);
});

test('every route is documented with what it needs', () => {
  for (const route of declaredRoutes()) {
    const line = api.split('\n').find((text) => text.includes(`\`${route.method} ${fullPath(route)}\``));
    assert.ok(line, `${route.method} ${fullPath(route)}`);
    if (typeof route.access === 'object') assert.ok(line.includes(`\`${route.access.scope}\``), line);
    assert.deepEqual(
      missingIn(
        line,
        Object.keys(route.query ?? {}).filter((name) => !name.startsWith('page')),
      ),
      [],
      line,
    );
  }
});

test('every column of an import file is documented', () => {
  const readme = read('README.md').split('\n');
  for (const [kind, columns] of Object.entries(IMPORT_COLUMNS)) {
    const line = readme.find((text) => text.startsWith(`| ${kind} |`)) ?? '';
    assert.deepEqual(
      missingIn(
        line,
        columns.map(({ name, isRequired }) => name + (isRequired ? '*' : '')),
      ),
      [],
      kind,
    );
  }
});

/** Whole sentences in quotes: what the code says to clients. */
const SENTENCE = /(['`])([A-Z"][^'`\n]{8,}?\.)\1/g;
const ERROR_SOURCES = [
  'src/domain/errors.ts',
  'src/domain/text.ts',
  'src/domain/mobile.ts',
  'src/domain/identity-card.ts',
  'src/domain/date-time.ts',
  'src/store/sqlite/write-queue.ts',
  'src/store/sqlite/members.ts',
  'src/store/sqlite/cooperatives.ts',
  'src/http/errors.ts',
  'src/http/body.ts',
  'src/http/query.ts',
  'src/http/list.ts',
  'src/http/request.ts',
  'src/http/handler.ts',
  'src/http/server.ts',
  'src/http/middleware/authenticate.ts',
  'src/http/resources/health.ts',
];
/** Texts that say the same with another value in it, and those that no client sees. */
const SHOWN_WITH_VALUES: readonly RegExp[] = [
  /\$\{/,
  /^Number of the page/,
  /^Invalid input/,
  /^Expected an offset such as/,
  /^(It is|A page|The new|Whether|All rows)/,
  /CONNECT/,
];

test('every text of an error that a client can meet is documented', () => {
  const sentences = ERROR_SOURCES.flatMap((file) =>
    [...read(file).matchAll(SENTENCE)].map(([, , text = '']) => text),
  ).filter((text) => !SHOWN_WITH_VALUES.some((pattern) => pattern.test(text)));
  assert.ok(sentences.length > 35, `${sentences.length} texts`);
  assert.deepEqual(missingIn(api, sentences), []);
});

test('every make target is documented, and every documented one exists', () => {
  const targets = [...read('Makefile').matchAll(/^([a-z]+):.*##/gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'help');
  assert.ok(targets.length >= 8);
  assert.deepEqual(
    missingIn(
      read('CONTRIBUTING.md'),
      targets.map((name) => `\`make ${name}\``),
    ),
    [],
  );
  const all = [...read('Makefile').matchAll(/^([a-z]+):/gm)].map(([, name]) => name);
  for (const document of DOCUMENTS) {
    for (const [, name] of read(document).matchAll(/`(?:PORT=\d+ )?make ([a-z]+)`/g))
      assert.ok(all.includes(name), `${document}: make ${name}`);
  }
});

test('every link and every file that a document names leads somewhere', () => {
  for (const document of DOCUMENTS) {
    const text = read(document);
    for (const [, target = ''] of text.matchAll(/\]\(([^)#]*)[^)]*\)/g)) {
      if (target === '' || target.startsWith('http')) continue;
      assert.ok(existsSync(join(ROOT, dirname(document), target)), `${document}: ${target}`);
    }
    for (const [, file = ''] of text.matchAll(
      /`((?:src|test|bench|data|docs)\/[\w./-]+\.(?:ts|md|csv|txt))`/g,
    )) {
      assert.ok(existsSync(join(ROOT, file)), `${document}: ${file}`);
    }
  }
});

test('every heading that a link names exists', () => {
  for (const document of DOCUMENTS) {
    for (const [, target = '', anchor = ''] of read(document).matchAll(/\]\(([^)#]*)#([^)]+)\)/g)) {
      const headings = [
        ...read(target === '' ? document : join(dirname(document), target)).matchAll(/^#+ (.*)$/gm),
      ].map(([, heading = '']) =>
        heading
          .toLowerCase()
          .replace(/[^\w -]/g, '')
          .replaceAll(' ', '-'),
      );
      assert.ok(headings.includes(anchor), `${document}: ${target}#${anchor}`);
    }
  }
});

test('no document names a place of one machine', () => {
  for (const document of DOCUMENTS)
    assert.doesNotMatch(read(document), /(^|[\s`(])\/(home|root|work|tmp|Users)\//m, document);
});
