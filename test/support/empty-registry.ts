/** An empty registry, migrated once in a process and then copied: migrating takes longer than many tests. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { keysFileOf, openFile, openKeyStore, REGISTRY_SCHEMA } from './sqlite.ts';

let made: ReadonlyMap<string, Buffer> | undefined;

function make(): ReadonlyMap<string, Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'registry-empty-'));
  try {
    const file = join(folder, 'registry.db');
    const db = openFile(file, { create: true, schema: REGISTRY_SCHEMA });
    // So that of few rows some are added up, and some are not.
    db.exec('UPDATE batches SET size = 3');
    db.close();
    openKeyStore(keysFileOf(file)).close();
    return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Creates it with its keys' file, unless there is one. @param file called `registry.db` */
export function createEmptyRegistry(file: string): void {
  if (existsSync(file)) return;
  made ??= make();
  for (const [name, content] of made) writeFileSync(join(dirname(file), name), content, { mode: 0o600 });
}
