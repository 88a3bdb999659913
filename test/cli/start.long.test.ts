/** How commands are started: on Node's own type stripping, quietly, loading what they need and no more. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { COMPILED_CODE } from '../../src/runtime/compile-cache.ts';
import { temporaryFolder } from '../support/app.ts';
import { command, spawnPlainly } from '../support/command.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { version, scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
  scripts: { [name: string]: string };
};

test('--version prints the version, and Node warns of nothing', async () => {
  const started = spawnPlainly(['node', 'src/main.ts', '--version']);
  assert.equal(await started.ended, 0);
  assert.equal(started.output(), `${version}\n`);
});

test('the npm script and the program keep compiled code in the same folder', () => {
  assert.ok(scripts.registry?.startsWith(`NODE_COMPILE_CACHE=${relative(ROOT, COMPILED_CODE)} `));
});

/** Writes what a process has loaded, from its main file on, as its last line. */
const REPORT_LOADED = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module';
const urls = new Set();
registerHooks({
  resolve(name, context, next) {
    const found = next(name, context);
    urls.add(found.url);
    return found;
  },
});
process.on('exit', () => console.log(JSON.stringify([...urls])));
`)}`;

/** Paths of the files that a command loads, packages of node_modules included. */
async function loadedBy(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const started = spawnPlainly(['node', '--import', REPORT_LOADED, 'src/main.ts', ...args], env);
  assert.equal(await started.ended, 0, started.output());
  const urls = JSON.parse(started.output().trim().split('\n').at(-1) ?? '') as string[];
  return urls.filter((url) => url.startsWith('file:')).map((url) => relative(ROOT, fileURLToPath(url)));
}

const SERVER = /^src\/(?:compose|routes|http\/server\/server)\.ts$/;
const IMPORT = /^src\/import\/|^node_modules\/(?:cli-progress)\//;

test('a command loads only what it needs: keys list neither the server nor the import', async (context) => {
  const env = { REGISTRY_DB: join(temporaryFolder(context), 'registry.db') };
  const created = await command(
    ['keys', 'create', '--create', '--name', 'a', '--scope', 'members:read'],
    env,
  );
  assert.equal(created.status, 0);
  for (const args of [['--help'], ['--version'], ['keys', 'list'], ['keys', '--help']]) {
    const loaded = await loadedBy(args, env);
    assert.ok(loaded.includes('src/program.ts'));
    assert.deepEqual(
      loaded.filter((path) => SERVER.test(path) || IMPORT.test(path)),
      [],
      args.join(' '),
    );
  }
  assert.ok((await loadedBy(['serve', '--help'])).some((path) => SERVER.test(path)));
  assert.ok((await loadedBy(['import', '--help'])).some((path) => IMPORT.test(path)));
});

/** What is left in the folder after an import of three files whose standard output or error is closed. */
async function importUnread(context: TestContext, stream: 'stdout' | 'stderr') {
  const folder = temporaryFolder(context);
  const place = join(folder, 'files');
  mkdirSync(place);
  for (let i = 1; i <= 3; i++) writeFileSync(join(place, `cooperatives-${i}.csv`), `code,name\nA-${i},A\n`);
  // Notes on standard error, before and after.
  writeFileSync(join(place, 'other.csv'), '');
  writeFileSync(join(place, 'savings.csv'), '');
  const env = { REGISTRY_DB: join(folder, 'registry.db') };
  const started = spawnPlainly(['node', 'src/main.ts', 'import', place], env);
  started.child[stream]?.destroy();
  const status = await started.ended;
  const listed = await command(['check', '--json'], env);
  return { status, files: readdirSync(folder).sort(), checked: listed.out };
}

for (const stream of ['stdout', 'stderr'] as const) {
  test(`an import whose ${stream} nobody reads goes on to its end and its own status`, async (context) => {
    const { status, files, checked } = await importUnread(context, stream);
    // The last file is empty, which refuses it.
    assert.equal(status, 1);
    assert.deepEqual(files, ['files', 'registry.db']);
    assert.match(checked, /"check": "rows of cooperatives",\s+"fault": null,\s+"value": "3"/);
  });
}

test('a command that prints to a closed pipe ends with status 0', async (context) => {
  const env = { REGISTRY_DB: join(temporaryFolder(context), 'registry.db') };
  await command(['keys', 'create', '--create', '--name', 'a', '--scope', 'members:read'], env);
  const started = spawnPlainly(['node', 'src/main.ts', 'keys', 'list'], env);
  started.child.stdout?.destroy();
  assert.deepEqual([await started.ended, started.output()], [0, '']);
});

/** What the system says of a process; nothing once it has ended. */
function statusOf(pid: number | undefined): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}

test('the document of an import into a slow pipe is not kept in memory', async (context) => {
  const folder = temporaryFolder(context);
  const file = join(folder, 'cooperatives.csv');
  // Each empty line is named in a note: 70 MB.
  writeFileSync(file, `code,name\nA-1,Abahuje\n${'\n'.repeat(8_000_000)}B-2,Biringaniye\n`);
  const args = ['import', 'cooperatives', file, '--db', join(folder, 'registry.db'), '--create', '--json'];
  const child = spawn(process.execPath, [join(ROOT, 'src/main.ts'), ...args], { stdio: 'pipe' });
  const ended = once(child, 'close');
  let [bytes, peakMiB] = [0, 0];
  for await (const chunk of child.stdout) {
    bytes += chunk.length;
    const [, kib] = /VmHWM:\s+(\d+) kB/.exec(statusOf(child.pid)) ?? [];
    peakMiB = Math.max(peakMiB, Number(kib ?? 0) / 1024);
  }
  assert.deepEqual(await ended, [0, null]);
  assert.ok(bytes > 60e6, `${bytes} bytes`);
  assert.ok(peakMiB > 50 && peakMiB < 350, `${peakMiB} MiB`);
});

async function isStoppedBySigterm(context: TestContext, commandLine: readonly string[]): Promise<void> {
  const folder = temporaryFolder(context);
  const env = { REGISTRY_DB: join(folder, 'registry.db'), HOST: '127.0.0.1', PORT: '0' };
  const started = spawnPlainly(commandLine, env);
  let isEnded = false;
  context.after(async () => {
    if (!isEnded) process.kill(-(started.child.pid ?? 0), 'SIGKILL');
    await started.ended;
  });
  await started.waitFor('listening on');
  started.child.kill('SIGTERM');
  // Ends when the last process that holds the pipes has ended: the server, not its parent.
  await started.ended;
  isEnded = true;
  assert.match(started.output(), /"message":"stopping"/);
}

for (const commandLine of [
  ['node', 'src/main.ts', 'serve', '--create'],
  ['npm', 'run', '-s', 'registry', '--', 'serve', '--create'],
  // What is installed stays as it is.
  ['make', '-o', 'node_modules/.installed', 'run'],
]) {
  test(`SIGTERM to \`${commandLine.join(' ')}\` stops the server in order`, {
    timeout: 60_000,
  }, async (context) => {
    await isStoppedBySigterm(context, commandLine);
  });
}
