/**
 * Keeps what a release promises and writes, for the tests of later ones: its interface, and a small registry
 * with one of everything. `npm run -s keep-release` writes test/release/VERSION/ before the release is made.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { IMPORT_KINDS } from '../../src/registry/file-columns.ts';
import { command } from '../support/command.ts';
import { rowsOfEverything } from '../support/rows-of-everything.ts';
import { readInterface } from './interface.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

const ends: (() => unknown)[] = [];
const context = { after: (end: () => unknown) => void ends.unshift(end) } as never;
try {
  const folder = join(HERE, version);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  writeFileSync(join(folder, 'interface.txt'), `${(await readInterface()).join('\n')}\n`);

  const place = await rowsOfEverything(context, 1);
  const env = { REGISTRY_DB: place.databaseFile };
  const out = async (...args: string[]): Promise<string> => {
    const { status, out: printed, err } = await command(args, env);
    if (status !== 0) throw new Error(`${args.join(' ')}: ${err}`);
    return printed;
  };
  const kept = join(place.folder, 'kept');
  mkdirSync(kept);
  for (const kind of IMPORT_KINDS)
    writeFileSync(join(kept, `${kind}.csv`), await out('export', kind, '--format', 'csv'));
  // Last: exports are readings, which the ledger has.
  const copy = join(kept, 'backup');
  mkdirSync(copy);
  await out('backup', copy);
  execFileSync('tar', [
    ...['--sort=name', '--owner=0', '--group=0', '--mtime=@0', '-I', 'gzip -9n'],
    ...['-C', place.folder, '-cf', join(folder, 'registry.tar.gz'), 'kept'],
  ]);
} finally {
  for (const end of ends) await end();
}
