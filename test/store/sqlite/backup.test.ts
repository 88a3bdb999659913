/** Backups of SQLite files, below the commands. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs, { copyFileSync, readdirSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { writeBackup } from '../../../src/backup/write-backup.ts';
import { DATABASE_FILES, ownsFile } from '../../../src/sqlite/registry-files.ts';
import { temporaryFolder } from '../../support/app.ts';
import { rowsOf } from '../../support/markdown.ts';
import { copyRegistry } from '../../support/sample-registry.ts';
import { ledgerPlaceIn, reading } from '../../support/sqlite-ledger.ts';

const OPTIONS = { program: '1.0.0', now: Date.now };
const MIB = 1024 * 1024;

test('a backup is refused that would leave the disk nearly full', async (context) => {
  const root = temporaryFolder(context);
  const db = await copyRegistry(root);
  const folder = join(root, 'backup');
  // Room for the reserve, but not for the copies.
  await assert.rejects(
    writeBackup(db, folder, OPTIONS, () => 64 * MIB),
    {
      message: `The disk of ${folder} has no room for the backup. Nothing was kept of it.`,
    },
  );
  assert.deepEqual(readdirSync(root), ['live']);
  await writeBackup(db, folder, OPTIONS, () => 80 * MIB);
});

test('the folders of a backup are synced after the last name in them was written', async (context) => {
  const root = temporaryFolder(context);
  const db = await copyRegistry(root);
  const ledger = ledgerPlaceIn(dirname(db)).openLedger();
  await ledger.record([reading()]);
  await ledger.close();
  const { openSync, fsyncSync } = fs;
  const opened = new Map<number, string>();
  const synced = new Map<string, number>();
  context.mock.method(fs, 'openSync', (...args: Parameters<typeof openSync>) => {
    const descriptor = openSync(...args);
    opened.set(descriptor, String(args[0]));
    return descriptor;
  });
  context.mock.method(fs, 'fsyncSync', (descriptor: number) => {
    const path = opened.get(descriptor) ?? '';
    if (path.endsWith('/registry.ledger')) synced.set('registry.ledger', readdirSync(path).length);
    if (/\.incomplete-\d+$/.test(path)) synced.set('backup', readdirSync(path).length);
    fsyncSync(descriptor);
  });
  syncBuiltinESMExports();
  context.after(() => {
    context.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const folder = join(root, 'backup');
  await writeBackup(db, folder, OPTIONS);
  assert.deepEqual(Object.fromEntries(synced), {
    'registry.ledger': readdirSync(join(folder, 'registry.ledger')).length,
    backup: readdirSync(folder).length,
  });
});

test('a text that does not fit on the disk is an error, not a shorter file', (context) => {
  const file = join(temporaryFolder(context), 'manifest.json');
  const module = new URL('../../../src/sqlite/durable-files.ts', import.meta.url);
  const write = `import { writePrivateFile } from '${module}';
    writePrivateFile(process.argv[1], 'x'.repeat(40_000))`;
  const limited = [
    '-c',
    'ulimit -f 16 && exec "$0" "$@"',
    process.execPath,
    '--input-type=module',
    '-e',
    write,
  ];
  const { status, stderr } = spawnSync('sh', [...limited, file], { encoding: 'utf8' });
  assert.match(stderr, /EFBIG/);
  assert.equal(status, 1);
});

/** Names in the operators' table of files; a row may have several. */
const namesIn = ([names = '']: string[]): string[] => names.split(', ').map((name) => name.slice(1, -1));
const LISTED = rowsOf('docs/operating.md', 'File');
/** A file of each row, beside `registry.db`. */
const listedFiles = (): string[] =>
  LISTED.flatMap(namesIn).map((name) => name.replace(/^…/, 'registry.db').replace('…', '1'));

test('the list of files names every database, and all of its files belong to the registry', () => {
  const backedUp = LISTED.filter((cells) => cells.at(-1) === 'yes')
    .flatMap(namesIn)
    .filter((name) => name !== 'registry.ledger');
  assert.deepEqual(
    DATABASE_FILES.map(({ name }) => name),
    backedUp,
  );
  for (const { name, pathAt } of DATABASE_FILES) {
    assert.equal(pathAt('/data/registry.db'), `/data/${name}`);
    assert.ok(ownsFile('/data/registry.db', `/data/${name}-wal`));
  }
  for (const name of listedFiles()) assert.ok(ownsFile('/data/registry.db', `/data/${name}`), name);
});

const hasGit = spawnSync('git', ['--version']).status === 0;

test('none of the files of a registry is committed by accident', { skip: !hasGit }, (context) => {
  const cwd = temporaryFolder(context);
  const ignored = fileURLToPath(new URL('../../../.gitignore', import.meta.url));
  copyFileSync(ignored, join(cwd, '.gitignore'));
  const git = (...args: string[]) => spawnSync('git', args, { cwd, encoding: 'utf8' }).stdout;
  git('init', '--quiet');
  const paths = listedFiles().map((name) => `data/${name}`);
  assert.deepEqual(
    git('check-ignore', ...paths)
      .trim()
      .split('\n'),
    paths,
  );
});
