/** The floors of the house: which room may import which (ARCHITECTURE.md). */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));
const IMPORT = /(?:from|^import|import\()\s*'([^'\n]+)'/gm;

interface Import {
  /** Path from src/. */
  readonly file: string;
  /** Path from src/ for a file of ours, else the package's name. */
  readonly target: string;
  readonly isOurs: boolean;
}

function allImports(): Import[] {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  return files.flatMap((file) =>
    [...readFileSync(join(SRC, file), 'utf8').matchAll(IMPORT)].map(([, name = '']) => {
      const isOurs = name.startsWith('.');
      return { file, isOurs, target: isOurs ? relative(SRC, join(SRC, dirname(file), name)) : name };
    }),
  );
}

const imports = allImports();
const inRoom = (path: string, room: string): boolean => path.startsWith(`${room}/`);
/** Imports out of a room that are not among the allowed ones, as `file → target`. */
const broken = (room: string, isAllowed: (each: Import) => boolean): string[] =>
  imports
    .filter((each) => inRoom(each.file, room) && !inRoom(each.target, room) && !isAllowed(each))
    .map(({ file, target }) => `${file} → ${target}`);

test('there is something to look at', () => {
  assert.ok(imports.length > 100);
});

test('domain/ imports only domain/, and the one library that parses addresses', () => {
  assert.deepEqual(
    broken('domain', ({ file, target }) => file === 'domain/address-blocks.ts' && target === 'ipaddr.js'),
    [],
  );
});

test('store/ imports only domain/ and, in store/sqlite, the database driver and node', () => {
  const isAllowed = ({ file, target, isOurs }: Import) =>
    isOurs
      ? inRoom(target, 'domain')
      : inRoom(file, 'store/sqlite') && (target === 'better-sqlite3' || target.startsWith('node:'));
  assert.deepEqual(broken('store', isAllowed), []);
});

test('only store/sqlite/ imports better-sqlite3', () => {
  const importers = imports.filter(({ target }) => target === 'better-sqlite3').map(({ file }) => file);
  assert.ok(importers.length > 0);
  assert.deepEqual(
    importers.filter((file) => !inRoom(file, 'store/sqlite')),
    [],
  );
});

test('http/ never imports an engine, an import or a command', () => {
  const forbidden = ['store/sqlite', 'import', 'cli'];
  assert.deepEqual(
    broken('http', ({ target }) => !forbidden.some((room) => inRoom(target, room))),
    [],
  );
});

test('import/ never imports http/, an engine or a command', () => {
  const forbidden = ['http', 'store/sqlite', 'cli'];
  assert.deepEqual(
    broken('import', ({ target }) => !forbidden.some((room) => inRoom(target, room))),
    [],
  );
});

test('nobody but the executable imports a command', () => {
  const importers = imports.filter(({ file, target }) => inRoom(target, 'cli') && !inRoom(file, 'cli'));
  assert.deepEqual([...new Set(importers.map(({ file }) => file))], ['main.ts']);
});

test('no room is called utils, helpers, common, shared, manager, base or misc', () => {
  const names = readdirSync(SRC, { recursive: true, encoding: 'utf8' });
  assert.deepEqual(
    names.filter((name) =>
      /(^|\/)(utils?|helpers?|common|shared|managers?|base|misc)(\.ts|\/|$)/i.test(name),
    ),
    [],
  );
});

test('every column of an import file has its place in the table, in the same order', async () => {
  const { IMPORT_COLUMNS } = await import('../src/import/columns.ts');
  const { stagedColumns } = await import('../src/store/sqlite/import/targets.ts');
  const { IMPORT_KINDS } = await import('../src/store/ports.ts');
  for (const kind of IMPORT_KINDS) {
    assert.deepEqual(
      IMPORT_COLUMNS[kind].map(({ name }) => name),
      stagedColumns(kind).map(({ name }) => name),
      kind,
    );
  }
});
