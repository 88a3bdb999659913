/** The layers: which directory may import which (ARCHITECTURE.md#layers). */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
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

const imports = importsIn(SRC);
const testImports = importsIn(TEST);
const isIn = (path: string, directory: string): boolean => path.startsWith(`${directory}/`);
/** Imports out of a directory that are not among the allowed ones, as `file → target`. */
const broken = (directory: string, isAllowed: (each: Import) => boolean): string[] =>
  imports
    .filter((each) => isIn(each.file, directory) && !isIn(each.target, directory) && !isAllowed(each))
    .map(({ file, target }) => `${file} → ${target}`);

test('there are files to look at', () => {
  assert.ok(imports.length > 100);
});

test('domain/ imports only domain/, and the one library that parses addresses', () => {
  assert.deepEqual(
    broken(
      'domain',
      ({ file, target }) => file === 'domain/access/address-blocks.ts' && target === 'ipaddr.js',
    ),
    [],
  );
});

/** Plumbing of the system that an engine needs too. */
const FOR_ENGINES = ['runtime/new-files.ts', 'runtime/task-thread.ts'];

test('store/ imports only domain/, lookup/ and, in store/sqlite, such plumbing, the driver and node', () => {
  const isAllowed = ({ file, target, isOurs }: Import) =>
    isOurs
      ? isIn(target, 'domain') ||
        isIn(target, 'lookup') ||
        (isIn(file, 'store/sqlite') && FOR_ENGINES.includes(target))
      : isIn(file, 'store/sqlite') && (target === 'better-sqlite3' || target.startsWith('node:'));
  assert.deepEqual(broken('store', isAllowed), []);
});

test('lookup/ imports only domain/ and json/; json/ and language/ import only domain/', () => {
  assert.deepEqual(
    broken('lookup', ({ target }) => isIn(target, 'domain') || isIn(target, 'json')),
    [],
  );
  for (const directory of ['json', 'language'])
    assert.deepEqual(
      broken(directory, ({ target }) => isIn(target, 'domain') || target.endsWith('.json')),
      [],
    );
});

test('html/ imports nothing', () => {
  assert.deepEqual(
    broken('html', () => false),
    [],
  );
});

test('only store/sqlite/ imports better-sqlite3', () => {
  const importers = imports.filter(({ target }) => target === 'better-sqlite3').map(({ file }) => file);
  assert.ok(importers.length > 0);
  assert.deepEqual(
    importers.filter((file) => !isIn(file, 'store/sqlite')),
    [],
  );
});

test('of the engine, others import nothing but what opens it', () => {
  const imported = imports.filter(
    ({ file, target }) => isIn(target, 'store/sqlite') && !isIn(file, 'store/sqlite'),
  );
  assert.deepEqual([...new Set(imported.map(({ target }) => target))], ['store/sqlite/storage.ts']);
});

test('no test of behaviour imports an engine: white-box tests and their support files do', () => {
  const importers = testImports
    .filter(({ target }) => isIn(target, 'store/sqlite') || target === 'better-sqlite3')
    .map(({ file }) => file);
  assert.ok(importers.length > 5);
  assert.deepEqual(
    importers.filter((file) => !isIn(file, 'store/sqlite') && !/^support\/sqlite[\w-]*\.ts$/.test(file)),
    [],
  );
});

test('the configuration knows only the domain', () => {
  const targets = imports.filter(({ file }) => file === 'config.ts').map(({ target }) => target);
  assert.ok(targets.length > 0);
  assert.deepEqual(
    targets.filter((target) => !isIn(target, 'domain')),
    [],
  );
});

/** Each circle of files that import each other, types included, as `a → b → a`. */
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

/** Imports between directories; each file directly in src/ stands for itself. */
const betweenDirectories = (edges: readonly Import[]): Import[] => {
  const directoryOf = (path: string) => (dirname(path) === '.' ? path : dirname(path));
  return edges
    .filter(({ isOurs }) => isOurs)
    .map((each) => ({ ...each, file: directoryOf(each.file), target: directoryOf(each.target) }))
    .filter(({ file, target }) => file !== target);
};

test('no directory imports itself by way of others', () => {
  assert.deepEqual(circles(betweenDirectories(imports)), []);
});

test('no directory has more than 16 files', () => {
  const all = readdirSync(SRC, { recursive: true, encoding: 'utf8' });
  const files = all.filter((name) => name.endsWith('.ts'));
  const byDirectory = Map.groupBy(files, (file) => dirname(file));
  const crowded = [...byDirectory].filter(([, names]) => names.length > 16).map(([directory]) => directory);
  assert.deepEqual(crowded, []);
});

test('a circle would be found, one of types too', () => {
  const edge = (file: string, target: string): Import => ({ file, target, isOurs: true });
  const edges = [edge('a.ts', 'b.ts'), edge('b.ts', 'c.ts'), edge('c.ts', 'b.ts'), edge('d.ts', 'a.ts')];
  assert.deepEqual(circles(edges), ['b.ts → c.ts → b.ts']);
});

test('http/ never imports an engine, an import or a command', () => {
  const forbidden = ['store/sqlite', 'import', 'cli'];
  assert.deepEqual(
    broken('http', ({ target }) => !forbidden.some((directory) => isIn(target, directory))),
    [],
  );
});

test('import/ never imports http/, an engine or a command', () => {
  const forbidden = ['http', 'store/sqlite', 'cli'];
  assert.deepEqual(
    broken('import', ({ target }) => !forbidden.some((directory) => isIn(target, directory))),
    [],
  );
});

test('webhooks/ never imports http/, an engine, an import or a command', () => {
  const forbidden = ['http', 'store/sqlite', 'import', 'cli', 'app'];
  assert.deepEqual(
    broken('webhooks', ({ target }) => !forbidden.some((directory) => isIn(target, directory))),
    [],
  );
});

test('desk/ never imports http/, an engine or a command; only cli/ and desk/ itself import it', () => {
  const forbidden = ['http', 'store/sqlite', 'cli'];
  assert.deepEqual(
    broken('desk', ({ target }) => !forbidden.some((directory) => isIn(target, directory))),
    [],
  );
  const importers = imports.filter(({ file, target }) => isIn(target, 'desk') && !isIn(file, 'desk'));
  assert.deepEqual([...new Set(importers.map(({ file }) => file))], ['cli/desk/desk.ts']);
});

test('only desk/ and http/ write HTML', () => {
  const importers = imports.filter(({ file, target }) => isIn(target, 'html') && !isIn(file, 'html'));
  assert.deepEqual(
    importers.filter(({ file }) => !isIn(file, 'desk') && !isIn(file, 'http')),
    [],
  );
});

test('cli/ never imports http/ or an engine', () => {
  const found = broken('cli', ({ target }) => !isIn(target, 'http') && !isIn(target, 'store/sqlite'));
  assert.deepEqual(found, []);
});

test('metrics/ imports only the contract of the store and node, and only app/ imports it', () => {
  assert.deepEqual(
    broken('metrics', ({ target }) => isIn(target, 'store/contract') || target.startsWith('node:')),
    [],
  );
  const importers = imports.filter(({ file, target }) => isIn(target, 'metrics') && !isIn(file, 'metrics'));
  assert.deepEqual([...new Set(importers.map(({ file }) => dirname(file)))], ['app']);
});

test('only the executable imports a command', () => {
  const importers = imports.filter(({ file, target }) => isIn(target, 'cli') && !isIn(file, 'cli'));
  assert.deepEqual([...new Set(importers.map(({ file }) => file))], ['main.ts']);
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

test('only identity/ knows former numbers and members that are no longer in force', () => {
  const tables = /\b(replaced_identity_cards|merged_members)\b/;
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  assert.deepEqual(files.filter((file) => tables.test(readFileSync(join(SRC, file), 'utf8'))).sort(), [
    'store/sqlite/check/row-checks.ts',
    'store/sqlite/identity/former-keys.ts',
  ]);
});
