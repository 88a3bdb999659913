/**
 * Tries the archive of a release as a server would: installed by root, and by another user seeded, served,
 * backed up and restored.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
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

/** Whoever runs the service; only root can be somebody else. */
const OTHER_USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

/** The commands of the steps of docs/install.md that check and unpack the archive and write the settings. */
function installCommands(): string {
  const document = readFileSync(join(ROOT, 'docs/install.md'), 'utf8');
  const steps = document.split(/^(?=\d+\. )/m).filter((step) => /^[345]\. /.test(step));
  const commands = steps.map((step) => /```sh\n([\s\S]*?)```/.exec(step)?.[1] ?? '');
  assert.equal(commands.length, 3);
  return commands.join('');
}

/** The commands that README.md runs without a service, each with its arguments. */
const readmeCommands = (): string[][] =>
  [...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/^npm run -s registry -- (.+)$/gm)].map(
    ([, args = '']) => args.split(' '),
  );

/**
 * @param release the folder with the archive and its sums
 * @param title the folder in the archive
 * @param folder an empty one, in which it is installed as docs/install.md says, below `usr/local` and `etc`
 * @throws AssertionError when something of it does not work
 */
export async function tryArchive(release: string, title: string, folder: string): Promise<void> {
  const home = join(folder, 'home');
  for (const each of ['home', 'etc', 'usr/local/lib', 'usr/local/sbin'])
    mkdirSync(join(folder, each), { recursive: true });
  if (OTHER_USER !== undefined) chownSync(home, OTHER_USER.uid, OTHER_USER.gid);
  const commands = installCommands().replace(/(?<![\w.])\/(usr\/local|etc)\b/g, `${folder}/$1`);
  execFileSync('sh', ['-euc', `NAME=registry.example.rw\n${commands}`], { cwd: release });
  const at = join(folder, 'usr/local/lib', title);
  const node = join(at, 'node_modules', '.bin', 'node');
  const program = join(at, 'src', 'main.ts');
  const port = await freePort();
  const env = {
    PATH: '/usr/bin:/bin',
    HOME: home,
    REGISTRY_DB: join(home, 'registry.db'),
    PORT: String(port),
  };
  const as = { ...OTHER_USER, cwd: home, env };
  const registry = (...args: string[]) =>
    execFileSync(node, [program, ...args], { ...as, encoding: 'utf8', timeout: LIMIT_MS });
  assert.match(registry('--version'), /^\d+\.\d+\.\d+/);
  const documented = readmeCommands();
  assert.ok(documented.length >= 3);
  for (const args of documented) registry(...args);
  registry('seed');
  const { keys } = JSON.parse(readFileSync(join(home, 'demo-keys.json'), 'utf8'));
  const files = join(home, 'files');
  registry('seed', '--csv', files);
  assert.match(registry('import', files, '--yes'), /0 new, 0 changed/);

  const startMs = performance.now();
  const service = spawn(node, [program, 'serve'], { ...as, stdio: ['ignore', 'pipe', 'inherit'] });
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
    const backup = join(home, 'backup');
    registry('backup', backup, '--yes');
    registry('backup', 'verify', backup);
    process.stdout.write(`The archive served its first lookup; ready ${readyMs} ms after its start.\n`);
  } finally {
    service.kill('SIGTERM');
    await ended;
  }
  registry('restore', join(home, 'backup'), '--replace');
  registry('check');
}
