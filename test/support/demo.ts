/** The demo data and a backup of it: made once in a process, and copied for each test. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command } from './command.ts';

let made: Promise<string> | undefined;

async function make(): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'registry-demo-'));
  process.on('exit', () => rmSync(root, { recursive: true, force: true }));
  const db = join(root, 'live', 'registry.db');
  for (const args of [['seed'], ['backup', join(root, 'backup')]]) {
    const { status, err } = await command([...args, '--db', db]);
    assert.equal(status, 0, err);
  }
  return root;
}

/** Copies the demo data to `live/registry.db` in a folder. @returns the path of the database */
export async function copyDemo(folder: string): Promise<string> {
  made ??= make();
  cpSync(join(await made, 'live'), join(folder, 'live'), { recursive: true });
  return join(folder, 'live', 'registry.db');
}

/** Copies the backup of the demo data to a path that does not exist. */
export async function copyDemoBackup(folder: string): Promise<void> {
  made ??= make();
  cpSync(join(await made, 'backup'), folder, { recursive: true });
}
