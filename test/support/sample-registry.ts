/** A registry with rows of every kind and a key, and its backup: made once in a process, then copied. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { command } from './command.ts';

const SEED = fileURLToPath(new URL('../../data/seed/', import.meta.url));
/** A cooperative of the demo data: the registry has its rows only. */
const CODE = 'KOMUKINYU-GSG';

let made: Promise<string> | undefined;

async function make(): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'registry-sample-'));
  process.on('exit', () => rmSync(root, { recursive: true, force: true }));
  const files = join(root, 'files');
  mkdirSync(files);
  for (const name of readdirSync(SEED).filter((each) => each.endsWith('.csv'))) {
    const lines = readFileSync(join(SEED, name), 'utf8').split('\n');
    const kept = lines.filter((line, i) => i === 0 || line.startsWith(`${CODE},`));
    writeFileSync(join(files, name), `${kept.join('\n')}\n`);
  }
  for (const args of [
    ['import', files, '--create'],
    ['keys', 'create', '--name', 'sample', '--scope', 'members:read'],
    ['backup', join(root, 'backup')],
  ]) {
    const { status, err } = await command([...args, '--db', join(root, 'live', 'registry.db')]);
    assert.equal(status, 0, err);
  }
  // A copy of the registry has made no backup.
  rmSync(join(root, 'live', 'registry.backups.json'));
  return root;
}

/** Copies the registry to `live/registry.db` in a folder. @returns the path of the database */
export async function copyRegistry(folder: string): Promise<string> {
  made ??= make();
  cpSync(join(await made, 'live'), join(folder, 'live'), { recursive: true });
  return join(folder, 'live', 'registry.db');
}

/** Copies the backup of the registry to a path that does not exist. */
export async function copyBackup(folder: string): Promise<void> {
  made ??= make();
  cpSync(join(await made, 'backup'), folder, { recursive: true });
}
