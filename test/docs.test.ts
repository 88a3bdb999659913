/** Documents and code agree on settings, commands, requests, responses and the files they name. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { judgedTable } from '../bench/report.ts';
import { SCOPES } from '../src/access/api-keys.ts';
import { fullPath, scopesOf } from '../src/http/declare/route.ts';
import { IMPORT_KINDS } from '../src/registry/file-columns.ts';
import { GENERATED_DOCUMENTS, namedCommands, tableNames, withTables } from './support/document-tables.ts';
import { declaredRoutes } from './support/openapi-file.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
/** Sentences may go on in the next line of a document. */
const onOneLine = (text: string): string => text.replace(/\s+/g, ' ');

const DECISIONS = readdirSync(join(ROOT, 'docs/decisions'))
  .filter((name) => name.endsWith('.md'))
  .sort();
const TUTORIALS = readdirSync(join(ROOT, 'docs/tutorials')).map((name) => `docs/tutorials/${name}`);
/** For operators and those who import files. */
const MANUAL = [
  'operating',
  'metrics',
  'keys',
  'backup',
  'scale',
  'spare-machine',
  'mirror',
  'trouble',
  'incidents',
  'ledger',
  'import-reference',
  'importing',
  'install',
  'correcting',
  'embedding',
  'webhooks',
  'desk',
].map((name) => `docs/${name}.md`);
const DOCUMENTS = [
  'README.md',
  'SECURITY.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'docs/README.md',
  'docs/api.md',
  'docs/errors.md',
  'docs/clients.md',
  'docs/bank.md',
  'docs/exporting.md',
  'docs/how-it-works.md',
  'docs/data-model.md',
  'docs/words.md',
  ...TUTORIALS,
  ...MANUAL,
  'bench/README.md',
  'data/README.md',
  'data/samples/README.md',
  ...DECISIONS.map((name) => `docs/decisions/${name}`),
];
const api = read('docs/api.md');
const missingIn = (text: string, names: readonly string[]): string[] =>
  names.filter((name) => !text.includes(name));
const quoted = (names: readonly string[]): string[] => names.map((name) => `\`${name}\``);

const COMMANDS = await namedCommands();
const optionsOf = (command: Command): string[] => command.options.map(({ long }) => long ?? '');

test('generated tables are as the code declares them, and no document lacks one', async () => {
  for (const document of GENERATED_DOCUMENTS) {
    assert.equal(read(document), await withTables(read(document)), `${document}: run make docs`);
  }
  assert.deepEqual(tableNames(api), ['deprecated']);
  assert.deepEqual(tableNames(read('docs/operating.md')), ['settings', 'commands']);
  assert.deepEqual(tableNames(read('docs/metrics.md')), ['metrics', 'refusals', 'reasons of unavailability']);
  assert.deepEqual(tableNames(read('docs/keys.md')), ['scopes']);
  assert.deepEqual(tableNames(read('docs/scale.md')), ['sizes measured']);
  assert.deepEqual(tableNames(read('docs/import-reference.md')), ['import columns', 'choices of columns']);
});

test('a generated table shows what the code declares', async () => {
  const of = (name: string) => withTables(`<!-- generated: ${name} -->\n<!-- end -->`);
  assert.match(await of('settings'), /\n\| `PORT`, `--port <n>` \| `8080` \| port to listen on/);
  assert.match(await of('commands'), /\n- `nid` `replace` `release`: /);
  for (const name of COMMANDS.keys()) {
    const [first = '', second] = name.split(' ');
    const line = (await of('commands')).split('\n').find((text) => text.startsWith(`- \`${first}\``));
    assert.ok(line?.includes(`\`${second ?? first}\``), name);
  }
  for (const scope of SCOPES) assert.ok((await of('scopes')).includes(`- \`${scope}\`: `), scope);
  for (const kind of IMPORT_KINDS) assert.match(await of('import columns'), new RegExp(`\\n- ${kind}: `));
  assert.match(
    await of('choices of columns'),
    /\n- payments, `method`: `cash` `bank` `mobile_money` `deduction`\n/,
  );
  await assert.rejects(of('nothing'), /no table called "nothing"/);
});

test('the options that the text gives to all commands are those of all but the commands that it names', () => {
  const lacking = (option: string) =>
    [...COMMANDS].filter(([, command]) => !optionsOf(command).includes(option)).map(([name]) => name);
  assert.deepEqual(lacking('--json'), ['serve', 'export', 'ledger export']);
  assert.deepEqual(lacking('--db'), ['import map', 'import template']);
  assert.deepEqual(lacking('--lang'), []);
  const text = onOneLine(read('docs/operating.md'));
  assert.ok(text.includes('All commands but `serve`, `export` and `ledger export` take `--json`.'));
  assert.ok(text.includes('All but `import map` and `import template` take `--db FILE`'));
});

/** The program's arguments in each command line: in a checkout, and where it is installed. */
function commandLines(text: string): string[] {
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block).join('');
  return [
    ...text.matchAll(/npm run -s registry -- (\w[^\n`]*)/g),
    ...blocks.matchAll(/^ *registry (\w[^\n&]*)/gm),
  ].map(([, line = '']) => line);
}

test('every command line in a document names a command and options that exist', () => {
  let looked = 0;
  for (const document of DOCUMENTS) {
    for (const line of commandLines(read(document))) {
      const words = line.split(/\s+/);
      const command = COMMANDS.get(words.slice(0, 2).join(' ')) ?? COMMANDS.get(words[0] ?? '');
      assert.ok(command, `${document}: ${line}`);
      for (const option of words.filter((word) => /^--\w/.test(word)))
        assert.ok([...optionsOf(command), '--help'].includes(option), `${document}: ${line}`);
      looked++;
    }
  }
  assert.ok(looked > 20, `${looked} command lines`);
});

/** Lines of the list of routes, such as "`/api/v1/me`: GET any key". A line without methods is of GET. */
const ROUTES = [
  ...(api.split('\n## Routes\n')[1]?.split('\n## ')[0] ?? '').matchAll(/^- (`.*`): (.*)$/gm),
].flatMap(([, paths = '', needs = '']) =>
  paths.split(', ').flatMap((path) =>
    needs.split('; ').flatMap((each) => {
      const [, methods = 'GET', need = each] = /^([A-Z]+(?:, [A-Z]+)*) (.*)$/.exec(each) ?? [];
      return methods.split(', ').map((method) => ({ route: `${method} ${path.slice(1, -1)}`, need }));
    }),
  ),
);

test('every route is documented with what it needs', () => {
  for (const route of declaredRoutes()) {
    const { access } = route;
    const need =
      typeof access === 'string'
        ? { public: 'no key', 'any key': 'any key' }[access]
        : scopesOf(route)
            .map((scope) => `\`${scope}\``)
            .join(', ');
    const name = `${route.method} ${fullPath(route)}`;
    assert.deepEqual(
      ROUTES.filter((each) => each.route === name),
      [{ route: name, need }],
    );
  }
});

test('no document names a route that does not exist', () => {
  const known = new Set(declaredRoutes().map((route) => `${route.method} ${fullPath(route)}`));
  assert.ok(ROUTES.length > 20);
  assert.deepEqual(
    ROUTES.filter(({ route }) => !known.has(route)),
    [],
  );
});

/** Where a text for a client or an operator begins: a call that refuses, or a constant that one uses. */
const ERROR_MADE = new RegExp(
  [
    /new (?:FieldError|FileFault|HttpError|ImportError|RegistryError|StorageError)\(/,
    /\b(?:badRequest|invalid|refusal|refuse|add|push|onFault|fileFault|twice|shared|where)\(/,
    /\b[A-Z_]+ = (?=['`])/,
    /\bsql: (?=`)/,
    /return \[(?=[0-9]{3})/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);
const LITERAL = /'((?:[^'\\\n]|\\.)*)'|`((?:[^`$\\]|\\.|\$\{(?:[^{}`]|`[^`]*`)*\}|\$(?!\{))*)`/g;
/** A sentence, or the beginning of one that goes on with the number of a line. */
const SENTENCE = /^(?:[A-Z"$][^\n]* [^\n]*(?:\.|\bline)|No data provided)$/;
/** A description. */
const NOT_TOLD = ['OpenAPI 3.1.'];

/** What commands and the desk say to the person before them is in their own pages and tests. */
const NOT_FOR_CLIENTS = new RegExp(
  '^(?:terminal|desk|demo|browse|entering|embedding|health|keys|metrics|webhooks|runtime)/' +
    '|command|disk-buffer|pages/|-text|^[^/]*$',
);

interface ErrorText {
  readonly file: string;
  readonly text: string;
}

function errorTexts(): ErrorText[] {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !NOT_FOR_CLIENTS.test(name),
  );
  return files.flatMap((file) => {
    const source = read(`src/${file}`).replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, '');
    return [...source.matchAll(ERROR_MADE)].flatMap((made) => {
      const after = source.slice((made.index ?? 0) + made[0].length);
      const statement = after.slice(0, 400).split(/;\n|\n\n|\n {0,2}\},?\n/)[0] ?? '';
      return [...statement.matchAll(LITERAL)]
        .map(([, plain, template]) => plain ?? template ?? '')
        .flatMap((text) => (text.includes('SELECT') ? textsInSql(text) : [text.trim()]))
        .filter((text) => SENTENCE.test(text) && !/JOIN|=>/.test(text) && !NOT_TOLD.includes(text))
        .map((text) => ({ file, text }));
    });
  });
}

const textsInSql = (sql: string): string[] =>
  [...sql.matchAll(/'([A-Z][^'\n]*)'/g)].map(([, text = '']) => text.trim());

/** The text with anything where the code puts a value or a quoted name. */
function toPattern(text: string): RegExp {
  const parts = text
    .replace(/\\(.)/g, '$1')
    .split(/\$\{(?:[^{}`]|`[^`]*`)*\}|\{\w+(?:\|[^{}]*)?\}/)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/"[^"]*"/g, '"[^"]+"'));
  return new RegExp(parts.join('[^`]*?'));
}

test('every text of an error is documented: for clients in errors.md, for operators there or on their pages', () => {
  const texts = errorTexts();
  assert.ok(new Set(texts.map(({ text }) => text)).size > 75, `${texts.length} texts`);
  const forClients = onOneLine([api, read('docs/errors.md')].join('\n'));
  const forOperators = onOneLine([forClients, ...MANUAL.map(read)].join('\n'));
  const missing = texts.filter(({ file, text }) => {
    const ofClients = /^(?:events|export|http|registry|search|statistics)\/|^sqlite\/group-commit/;
    const isForClients = ofClients.test(file);
    return !toPattern(text).test(isForClients ? forClients : forOperators);
  });
  assert.deepEqual(missing, []);
});

test('docs/api.md begins with the key, a lookup, errors and paging, and says what a restart resets', () => {
  const [, first = ''] = api.split(/^## /m);
  assert.ok(first.startsWith('In one page\n') && first.split(/\s+/).length < 250);
  assert.deepEqual(missingIn(first, ['Bearer $KEY', '/members/', '"detail"', 'Retry-After', '`next`']), []);
  assert.match(
    onOneLine(api),
    /## Rate limits .* A restart of the service resets both counts\. ## Responses/,
  );
});

test('every field of a log line is documented', () => {
  const source = read('src/http/server/access-log.ts');
  const fields = new Set([...source.matchAll(/[{,]"(\w+)":/g)].map(([, name = '']) => name));
  assert.ok(fields.size >= 7, [...fields].join());
  assert.deepEqual(missingIn(read('docs/operating.md'), quoted([...fields])), []);
});

test('the benchmarks show the figures of the newest results', () => {
  const newest = readdirSync(join(ROOT, 'bench/results'))
    .filter((name) => /^\d.*\.json$/.test(name))
    .sort()
    .at(-1);
  const table = judgedTable(JSON.parse(read(`bench/results/${newest}`)));
  assert.ok(table.split('\n').length > 15);
  assert.ok(read('bench/README.md').includes(table), 'run npm run -s picture');
});

test('every option of openRegistry is documented', () => {
  const source =
    /interface RegistryOptions \{([\s\S]*?)\n\}/.exec(read('src/embedding/embedded-registry.ts'))?.[1] ?? '';
  const options = [...source.matchAll(/readonly (\w+)\??:/g)].map(([, name = '']) => name);
  assert.ok(options.length >= 9);
  assert.deepEqual(missingIn(read('docs/embedding.md'), quoted(options)), []);
});

test('every make target is documented, and every documented one exists', () => {
  const makefile = read('Makefile');
  const targets = [...makefile.matchAll(/^([a-z]+):.*##/gm)].map(([, name = '']) => `make ${name}`);
  assert.ok(targets.length >= 9);
  assert.deepEqual(missingIn(read('CONTRIBUTING.md'), quoted(targets)), []);
  const all = [...makefile.matchAll(/^([a-z]+):/gm)].map(([, name]) => name);
  for (const document of DOCUMENTS) {
    for (const [, name] of read(document).matchAll(/(?:`|^|\d )make ([a-z]+)/gm))
      assert.ok(all.includes(name), `${document}: make ${name}`);
  }
});

const LINK = /\]\(([^)#\s]*)(?:#([^)\s]+))?\)/g;
/** Files that a program writes: none of them is committed. */
const WRITTEN_BY_RUNNING = /^(?:data\/(?:registry|demo-keys)|trial\/|bench\/\.cache)/;

test('every link and every file that a document names exists', () => {
  let links = 0;
  for (const document of DOCUMENTS) {
    const text = read(document);
    for (const [, target = ''] of text.matchAll(LINK)) {
      assert.doesNotMatch(target, /^(?:https?:|\/|\.\.\/\.\.\/\.\.)/, document);
      assert.ok(existsSync(join(ROOT, dirname(document), target)), `${document}: ${target}`);
      links++;
    }
    for (const [, file = ''] of text.matchAll(/`((?:src|test|bench|data|docs|deploy)\/[\w./-]*)`/g)) {
      if (!WRITTEN_BY_RUNNING.test(file)) assert.ok(existsSync(join(ROOT, file)), `${document}: ${file}`);
    }
    for (const [, file = ''] of text.matchAll(/`((?:cli|domain|http|import|store)\/[\w./-]*\w\.ts)`/g))
      assert.ok(existsSync(join(ROOT, 'src', file)), `${document}: ${file}`);
  }
  assert.ok(links > 25, `${links} links`);
});

test('the map names every page', () => {
  const map = read('docs/README.md');
  const pages = readdirSync(join(ROOT, 'docs')).filter(
    (name) => name.endsWith('.md') && name !== 'README.md',
  );
  const names = [...pages, ...TUTORIALS.map((path) => path.slice('docs/'.length))];
  assert.deepEqual(
    missingIn(
      map,
      names.map((name) => `](${name})`),
    ),
    [],
  );
});

test('every promise, risk and article of SECURITY.md names what tests it', () => {
  const security = read('SECURITY.md');
  for (const [heading, rows] of [
    ['Promises', 35],
    ['OWASP API Security Top 10 (2023)', 10],
    ['The law', 5],
  ] as const) {
    const section = security.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
    // Each table begins with two lines that promise nothing.
    const tables = section.split(/\n\n+/).filter((block) => block.trim().startsWith('|'));
    const items = section.match(/^- .*(?:\n {2}.*)*/gm) ?? [];
    const lines = [...items, ...tables.flatMap((block) => block.trim().split('\n').slice(2))];
    assert.ok(lines.length >= rows, heading);
    for (const line of lines) assert.match(line, /`test\/[\w./-]+\.test\.ts`/, line);
  }
});

test('every constant that the documents of the code name exists', () => {
  const code = ['src', 'test', 'bench'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
      .map((name) => readFileSync(join(ROOT, folder, name), 'utf8')),
  );
  for (const document of ['ARCHITECTURE.md', 'CONTRIBUTING.md']) {
    for (const [, name] of read(document).matchAll(/`([A-Z]+_[A-Z_]+)`/g))
      assert.ok(
        code.some((text) => new RegExp(`\\b${name}\\b`).test(text)),
        `${document}: ${name}`,
      );
  }
});

const toAnchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

test('every heading that a link names exists', () => {
  for (const document of DOCUMENTS) {
    for (const [, target = '', anchor] of read(document).matchAll(LINK)) {
      if (anchor === undefined) continue;
      const file = target === '' ? document : join(dirname(document), target);
      const headings = [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => toAnchor(heading));
      assert.ok(headings.includes(anchor), `${document}: ${target}#${anchor}`);
    }
  }
});

/** Every file of this project that may hold a comment. */
const SOURCES = ['src', 'test', 'bench', 'data'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(
      (name) => /\.(?:ts|mjs)$/.test(name) && !name.includes('node_modules') && !name.startsWith('.cache'),
    )
    .map((name) => `${folder}/${name}`),
);

test('every heading that a comment cites exists', () => {
  const headings = new Map<string, string[]>();
  let cited = 0;
  for (const source of SOURCES) {
    for (const [, document = '', anchor = ''] of read(source).matchAll(
      /\b((?:docs\/)?[\w-]+\.md)#([\w-]+)/g,
    )) {
      const target = existsSync(join(ROOT, document)) ? document : `docs/${document}`;
      assert.ok(existsSync(join(ROOT, target)), `${source}: ${document}`);
      if (!headings.has(target))
        headings.set(
          target,
          [...read(target).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => toAnchor(heading)),
        );
      assert.ok(headings.get(target)?.includes(anchor), `${source}: ${document}#${anchor}`);
      cited++;
    }
  }
  assert.ok(cited > 40, `${cited} citations`);
});

test('no comment and no document cites what a reader does not have', () => {
  const unavailable = new RegExp(
    ['contract', 'specification'].map((name) => `${name} sections? [0-9N]`).join('|'),
    'i',
  );
  for (const file of [...SOURCES, ...DOCUMENTS]) assert.doesNotMatch(read(file), unavailable, file);
});

test('decisions are numbered without gaps, and each has a context, a decision and consequences', () => {
  assert.deepEqual(
    DECISIONS.map((name) => Number(name.slice(0, 4))),
    DECISIONS.map((_, i) => i + 1),
  );
  for (const name of DECISIONS) {
    const text = read(`docs/decisions/${name}`);
    assert.match(text, new RegExp(`^# ${Number(name.slice(0, 4))}\\. `), name);
    assert.deepEqual(missingIn(text, ['## Context', '## Decision', '## Consequences']), [], name);
  }
});

test('the changelog speaks of the version of the package', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  assert.match(read('CHANGELOG.md'), new RegExp(`^## ${version.replaceAll('.', '\\.')}\\b`, 'm'));
});

test('no document names a place of one machine', () => {
  for (const document of DOCUMENTS) {
    const text = read(document);
    assert.doesNotMatch(text, /(^|[\s`('"=])\/(home|root|work|tmp|Users|srv|opt)\//m, document);
  }
});
