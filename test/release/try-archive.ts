/** Tries the archive of a release as a server would: unpacked, seeded, served, backed up and restored. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';

/** A command of the program ends by itself after this time. */
const LIMIT_MS = 120_000;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * @param archive the `.tar.gz`
 * @param title the folder in it
 * @param folder where it is unpacked
 * @throws AssertionError when something of it does not work
 */
export async function tryArchive(archive: string, title: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-xzf', archive, '-C', folder]);
  const at = join(folder, title);
  const node = join(at, 'node_modules', '.bin', 'node');
  const port = await freePort();
  const env = {
    PATH: '/usr/bin:/bin',
    HOME: folder,
    REGISTRY_DB: join(folder, 'registry.db'),
    PORT: String(port),
  };
  const registry = (...args: string[]) =>
    execFileSync(node, ['src/main.ts', ...args], { cwd: at, env, encoding: 'utf8', timeout: LIMIT_MS });
  assert.match(registry('--version'), /^\d+\.\d+\.\d+/);
  registry('seed');
  const { keys } = JSON.parse(readFileSync(join(folder, 'demo-keys.json'), 'utf8'));
  const files = join(folder, 'files');
  registry('seed', '--csv', files);
  assert.match(registry('import', files, '--yes'), /0 new, 0 changed/);

  const startMs = performance.now();
  const service = spawn(node, ['src/main.ts', 'serve'], {
    cwd: at,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(service, 'exit');
  try {
    const listening = new Promise<void>((resolve) => {
      service.stdout.on('data', (part) => String(part).includes('listening on') && resolve());
    });
    await Promise.race([listening, ended]);
    const readyMs = Math.round(performance.now() - startMs);
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/members/1198079244288038/`, {
      headers: { Authorization: `Bearer ${keys[0].key}`, Connection: 'close' },
    });
    const person = (await response.json()) as { memberships: readonly unknown[] };
    assert.deepEqual([response.status, person.memberships.length], [200, 2]);
    const backup = join(folder, 'backup');
    registry('backup', backup, '--yes');
    registry('backup', 'verify', backup);
    process.stdout.write(`The archive served its first lookup; ready ${readyMs} ms after its start.\n`);
  } finally {
    service.kill('SIGTERM');
    await ended;
  }
  registry('restore', join(folder, 'backup'), '--replace');
  registry('check');
}
