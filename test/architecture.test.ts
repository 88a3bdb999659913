/** The rooms of src/, and which of them may import which (ARCHITECTURE.md#rooms). */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));
const TEST = fileURLToPath(new URL('./', import.meta.url));
const IMPORT = /(?:from|^import|import\()\s*'([^'\n]+)'/gm;

interface Import {
  /** Path from the folder that was searched. */
  readonly file: string;
  /** Path from src/ for a file of this project, else the package's name. */
  readonly target: string;
  readonly isOurs: boolean;
}

function importsIn(folder: string): Import[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  return files.flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(IMPORT)].map(([, name = '']) => {
      const isOurs = name.startsWith('.');
      return { file, isOurs, target: isOurs ? relative(SRC, join(folder, dirname(file), name)) : name };
    }),
  );
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
const imports = importsIn(SRC);
const isIn = (path: string, directory: string): boolean => path.startsWith(`${directory}/`);

/** What knows no capability; each imports only those before it. */
const FRAMES = ['values', 'runtime', 'sqlite', 'access', 'http', 'formats', 'terminal', 'desk'];
/** The interface specification: cooperatives, members, loans, payments and what a lookup shows. */
const SPECIFICATION = ['registry'];
/** Each capability with the others that it leans on: each is one thing more to know. */
const CAPABILITIES: { readonly [room: string]: readonly string[] } = {
  events: [],
  // The registry as it is served, with the sequence of its changes.
  'open-registry.ts': ['events'],
  journal: [],
  import: ['journal', 'open-registry.ts'],
  entering: ['import', 'open-registry.ts'],
  reference: [],
  keys: ['entering', 'open-registry.ts'],
  ledger: ['journal', 'keys'],
  people: ['journal', 'import', 'keys', 'ledger'],
  check: ['ledger'],
  backup: ['journal', 'import', 'ledger', 'people', 'check'],
  health: ['journal', 'import', 'keys', 'ledger', 'check', 'backup'],
  // What a module may add to the program.
  'module.ts': ['reference', 'open-registry.ts', 'health'],
  export: ['module.ts', 'events'],
  statistics: ['module.ts'],
  webhooks: ['module.ts', 'events', 'reference', 'open-registry.ts', 'health'],
  metrics: ['module.ts', 'health'],
  search: [],
  browse: ['open-registry.ts', 'journal', 'people', 'health'],
  demo: ['import', 'keys'],
};
/** What can be left out with the one line of another file that imports it. */
const LEAVES = {
  export: 'modules.ts',
  statistics: 'modules.ts',
  webhooks: 'modules.ts',
  metrics: 'modules.ts',
  search: 'modules.ts',
  embedding: 'index.ts',
};
/** What puts the rest together may import all of it. */
const COMPOSITION = [
  'modules.ts',
  'compose.ts',
  'routes.ts',
  'desk-screens.ts',
  'desk-command.ts',
  'serve-command.ts',
];
const ENTRIES = ['program.ts', 'main.ts', 'embedding', 'index.ts'];

const roomOf = (path: string): string => path.split('/')[0] ?? path;

test('every file of src/ is in a room', () => {
  assert.ok(imports.length > 100);
  const rooms = [...FRAMES, ...SPECIFICATION, ...Object.keys(CAPABILITIES), ...COMPOSITION, ...ENTRIES];
  assert.deepEqual([...new Set(files.map(roomOf))].sort(), [...rooms].sort());
});

/** The rooms that a room may import, beside itself. */
function allowedFrom(room: string): readonly string[] {
  const below = [...FRAMES, ...SPECIFICATION];
  const place = below.indexOf(room);
  if (place !== -1) return below.slice(0, place);
  const leansOn = CAPABILITIES[room];
  return leansOn === undefined
    ? [...below, ...Object.keys(CAPABILITIES), ...COMPOSITION, ...ENTRIES]
    : [...below, ...leansOn];
}

test('a room imports only rooms below it, and a capability only those that it is listed with', () => {
  const wrong = imports
    .filter(({ isOurs }) => isOurs)
    .map(({ file, target }) => ({ file, target, from: roomOf(file), to: roomOf(target) }))
    .filter(({ from, to }) => from !== to && !allowedFrom(from).includes(to))
    .map(({ file, target }) => `${file} → ${target}`);
  assert.deepEqual(wrong, []);
});

test('a leaf is imported by the list that has its line, and by nothing else', () => {
  for (const [leaf, list] of Object.entries(LEAVES)) {
    const importers = imports.filter(({ file, target }) => roomOf(target) === leaf && roomOf(file) !== leaf);
    assert.deepEqual(
      importers.map(({ file }) => file),
      [list],
      leaf,
    );
  }
});

test('no capability is listed with one that it does not import', () => {
  const needless = Object.entries(CAPABILITIES).flatMap(([room, others]) =>
    others
      .filter(
        (other) => !imports.some(({ file, target }) => roomOf(file) === room && roomOf(target) === other),
      )
      .map((other) => `${room} → ${other}`),
  );
  assert.deepEqual(needless, []);
});

/** Each circle of files or rooms that import each other, types included, as `a → b → a`. */
function circles(edges: readonly Import[]): string[] {
  const targetsOf = Map.groupBy(
    edges.filter(({ isOurs }) => isOurs),
    ({ file }) => file,
  );
  const done = new Set<string>();
  const found: string[] = [];
  function visit(file: string, path: readonly string[]): void {
    const place = path.indexOf(file);
    if (place !== -1) found.push([...path.slice(place), file].join(' → '));
    if (place !== -1 || done.has(file)) return;
    for (const { target } of targetsOf.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  }
  for (const file of targetsOf.keys()) visit(file, []);
  return found;
}

test('no file imports itself by way of others', () => {
  assert.deepEqual(circles(imports), []);
});

test('no room imports itself by way of others', () => {
  const between = imports
    .filter(({ isOurs }) => isOurs)
    .map((each) => ({ ...each, file: roomOf(each.file), target: roomOf(each.target) }))
    .filter(({ file, target }) => file !== target);
  assert.deepEqual(circles(between), []);
});

test('no directory of http/ imports itself by way of the others', () => {
  const within = imports
    .filter(({ file, target }) => isIn(file, 'http') && isIn(target, 'http'))
    .map((each) => ({ ...each, file: dirname(each.file), target: dirname(each.target) }))
    .filter(({ file, target }) => file !== target);
  assert.ok(within.length > 10);
  assert.deepEqual(circles(within), []);
});

test('a circle would be found, one of types too', () => {
  const edge = (file: string, target: string): Import => ({ file, target, isOurs: true });
  const edges = [edge('a.ts', 'b.ts'), edge('b.ts', 'c.ts'), edge('c.ts', 'b.ts'), edge('d.ts', 'a.ts')];
  assert.deepEqual(circles(edges), ['b.ts → c.ts → b.ts']);
});

test('the tree is small enough to be read: no more than 45 directories, and no file beyond 600 lines', () => {
  assert.ok(new Set(files.map((file) => dirname(file))).size <= 45);
  const long = files.filter((file) => readFileSync(join(SRC, file), 'utf8').split('\n').length > 600);
  assert.deepEqual(long, []);
});

test('no two files have one name', () => {
  const byName = Map.groupBy(files, (file) => basename(file));
  assert.deepEqual(
    [...byName.values()].filter((paths) => paths.length > 1),
    [],
  );
});

test('only sqlite/ and what copies its files import better-sqlite3, only values/ parses addresses', () => {
  const KEPT = { 'better-sqlite3': ['sqlite', 'backup'], 'ipaddr.js': ['values'] };
  for (const [name, rooms] of Object.entries(KEPT)) {
    const importers = imports.filter(({ target }) => target === name).map(({ file }) => roomOf(file));
    assert.deepEqual([...new Set(importers)].sort(), [...rooms].sort(), name);
  }
});

test('no test of behaviour looks into the database: white-box tests and their support files do', () => {
  const importers = importsIn(TEST)
    .filter(({ target }) => target === 'better-sqlite3')
    .map(({ file }) => file);
  assert.ok(importers.length > 5);
  assert.deepEqual(
    importers.filter((file) => !isIn(file, 'store/sqlite') && !/^support\/sqlite[\w-]*\.ts$/.test(file)),
    [],
  );
});

test('no directory or file is called utils, helpers, common, shared, manager, base or misc', () => {
  const names = readdirSync(SRC, { recursive: true, encoding: 'utf8' });
  assert.deepEqual(
    names.filter((name) =>
      /(^|\/)(utils?|helpers?|common|shared|managers?|base|misc)(\.ts|\/|$)/i.test(name),
    ),
    [],
  );
});

test('former numbers and members that are no longer in force are known in one file, and checked in another', () => {
  const tables = /\b(replaced_identity_cards|merged_members)\b/;
  assert.deepEqual(files.filter((file) => tables.test(readFileSync(join(SRC, file), 'utf8'))).sort(), [
    'check/check.ts',
    'registry/stored/former-ids.ts',
  ]);
});

/** The files of a way, in the order in which ARCHITECTURE.md lists them. */
function wayOf(name: string): string[] {
  const text = readFileSync(join(TEST, '..', 'ARCHITECTURE.md'), 'utf8');
  const way = text.split(`- **${name}**`)[1]?.split(/\n- \*\*|\n\n/)[0] ?? '';
  return [...way.matchAll(/`src\/([\w/-]+\.ts)`/g)].map(([, file = '']) => file);
}

test('a lookup, a write, an import and a merge are ways of few files and directories', () => {
  const lookup = wayOf('a lookup');
  const ways = {
    'a lookup': { way: lookup, files: 10, directories: 5 },
    'a write': { way: [...lookup.slice(0, 2), ...wayOf('a write')], files: 12, directories: 7 },
    'an import': { way: wayOf('an import'), files: 25, directories: 8 },
    'a merge': { way: wayOf('a merge'), files: 20, directories: 7 },
  };
  for (const [name, { way, files: most, directories }] of Object.entries(ways)) {
    assert.ok(way.length > 5, name);
    assert.deepEqual(
      way.filter((file) => !files.includes(file)),
      [],
      name,
    );
    assert.ok(way.length <= most, `${name}: ${way.length} files`);
    const found = new Set(way.map((file) => dirname(file)));
    assert.ok(found.size <= directories, `${name}: ${[...found].join(', ')}`);
  }
});

test('each file of the way of a merge is imported by one before it: it is followed from call to call', () => {
  const way = wayOf('a merge');
  assert.ok(way.length > 5 && way.length <= 20);
  const unreached = way.slice(1).filter((file, i) => {
    const before = way.slice(0, i + 1);
    return !imports.some((each) => each.target === file && before.includes(each.file));
  });
  assert.deepEqual(unreached, []);
});
