/** The publishable package: packed, installed in an empty project, embedded and run (docs/embedding.md). */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from './support/app.ts';
import { CHILD_LIMIT, plainEnvironment } from './support/command.ts';
import { freePort } from './support/serving.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const run = (
  program: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
) => promisify(execFile)(program, args, { ...options, ...CHILD_LIMIT });
const env = plainEnvironment;

const EMBEDDING = `
import { createServer } from 'node:http';
import { openRegistry } from 'cooperative-registry';
const one = openRegistry({ db: 'one/registry.db' });
const two = openRegistry({ db: 'two/registry.db', timeZoneOffset: '+03:00' });
const mine = createServer(one.handler).listen(0, '127.0.0.1');
await new Promise((resolve) => mine.once('listening', resolve));
const running = await two.listen();
const ask = async (port, path) => {
  const response = await fetch('http://127.0.0.1:' + port + path);
  return [response.status, await response.json()];
};
const responses = [
  await ask(mine.address().port, '/readyz'),
  await ask(running.address.port, '/readyz'),
  await ask(mine.address().port, '/api/v1/members'),
  await one.request('GET', '/readyz').then(({ status, body }) => [status, body]),
];
mine.close();
mine.closeAllConnections();
await one.close();
await two.close();
console.log(JSON.stringify(responses));
`;

/**
 * Puts the package where npm would, beside the packages that it depends on and no others: those of this
 * checkout, so that no registry is asked.
 */
async function installOffline(project: string, archive: string): Promise<void> {
  const target = join(project, 'node_modules', 'cooperative-registry');
  mkdirSync(target, { recursive: true });
  await run('tar', ['-xzf', archive, '-C', target, '--strip-components=1']);
  const listed = await run('npm', ['ls', '--omit=dev', '--all', '--parseable', '--offline'], {
    cwd: ROOT,
    env,
  });
  const needed = listed.stdout.trim().split('\n').slice(1);
  assert.ok(needed.length > 5, listed.stdout);
  for (const path of needed) {
    const link = join(project, relative(ROOT, path));
    mkdirSync(dirname(link), { recursive: true });
    if (!existsSync(link)) symlinkSync(path, link);
  }
  // Links the command.
  await run('npm', ['rebuild', '--ignore-scripts', '--offline', 'cooperative-registry'], {
    cwd: project,
    env,
  });
}

/** Compiles the program of docs/embedding.md without skipLibCheck, and runs it. */
async function runDocumentedProgram(project: string): Promise<void> {
  const document = readFileSync(join(ROOT, 'docs', 'embedding.md'), 'utf8');
  writeFileSync(join(project, 'app.mts'), /```ts\n([\s\S]*?)```/.exec(document)?.[1] ?? '');
  for (const name of ['@types/node', 'undici-types']) {
    const link = join(project, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    if (!existsSync(link)) symlinkSync(join(ROOT, 'node_modules', name), link);
  }
  for (const [module, moduleResolution] of [
    ['nodenext', 'nodenext'],
    ['preserve', 'bundler'],
  ]) {
    const compilerOptions = {
      ...{ module, moduleResolution, target: 'es2023', types: ['node'], noEmit: true },
      ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false },
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['app.mts'] }));
    await run(process.execPath, [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', '.'], {
      cwd: project,
      env,
    });
  }

  const [, nid = ''] =
    /^[A-Z-]+,([0-9]{16}),.*,active,/m.exec(readFileSync(join(ROOT, 'data/seed/members.csv'), 'utf8')) ?? [];
  const port = await freePort();
  const [, shell = ''] = /```sh\n((?:npx cooperative-registry [^\n]*\n)+)```/.exec(document) ?? [];
  const commands = shell.replaceAll(/^npx /gm, 'node_modules/.bin/');
  const issued = await run('sh', ['-ec', commands], { cwd: project, env });
  // The last command prints the key as JSON, after the text of `seed`.
  const { key: KEY } = JSON.parse(issued.stdout.slice(issued.stdout.indexOf('\n{') + 1)) as { key: string };
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'app.mts', nid], {
    cwd: project,
    env: { ...env, PORT: String(port), KEY },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  let out = '';
  for await (const part of child.stdout) {
    out += part;
    if (out.includes('Listening.')) break;
  }
  assert.match(out, /^.+: .+, [0-9]+\.[0-9]{3} kg$/m);
  const response = await fetch(`http://127.0.0.1:${port}/registry/api/v1/members?page_size=1`, {
    headers: { Authorization: `Bearer ${KEY}`, Connection: 'close' },
  });
  const page = (await response.json()) as { next: string };
  assert.equal(page.next, `http://127.0.0.1:${port}/registry/api/v1/members?page=2&page_size=1`);
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);

  writeFileSync(join(project, 'operate.mjs'), /```js\n([\s\S]*?)```/.exec(document)?.[1] ?? '');
  await run(process.execPath, ['operate.mjs'], { cwd: project, env });
  const bin = join(project, 'node_modules', '.bin', 'cooperative-registry');
  const listed = await run(bin, ['keys', 'list', '--db', 'registry.db', '--json'], { cwd: project, env });
  const { keys } = JSON.parse(listed.stdout) as { keys: { prefixes: string[] }[] };
  assert.equal(keys.at(-1)?.prefixes.length, 2);
}

test('the package installs in an empty project, embeds twice and runs as a command', async (context) => {
  const folder = temporaryFolder(context);
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder, '--loglevel=error'], {
    cwd: ROOT,
    env,
  });
  const packed = JSON.parse(stdout.slice(stdout.indexOf('[')))[0] as {
    filename: string;
    files: { path: string }[];
  };
  const paths = packed.files.map(({ path }) => path);
  assert.ok(paths.includes('dist/index.d.ts') && paths.includes('dist/objects.d.ts'));
  assert.ok(paths.includes('dist/main.js') && paths.includes('data/seed/members.csv'));
  assert.ok(paths.includes('import-map.schema.json'));
  assert.deepEqual(
    paths.filter((path) => /^(src|test|bench|node_modules)\/|\.db$|demo-keys/.test(path)),
    [],
  );

  const project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{"name":"embedding","private":true,"type":"module"}');
  writeFileSync(join(project, 'embed.js'), EMBEDDING);
  await installOffline(project, join(folder, packed.filename));

  const embedded = await run(process.execPath, ['embed.js'], { cwd: project, env });
  assert.deepEqual(JSON.parse(embedded.stdout), [
    [200, { status: 'ok' }],
    [200, { status: 'ok' }],
    [401, { detail: 'Authentication credentials were not provided.' }],
    [200, { status: 'ok' }],
  ]);

  const bin = join(project, 'node_modules', '.bin', 'cooperative-registry');
  const seeded = await run(bin, ['seed', '--json'], { cwd: project, env });
  assert.equal(JSON.parse(seeded.stdout).keys.length, 5);
  const checked = await run(bin, ['check', '--json'], { cwd: project, env });
  assert.equal(JSON.parse(checked.stdout).sound, true);

  await runDocumentedProgram(project);

  const installed = join(project, 'node_modules', 'cooperative-registry');
  const cache = join(installed, 'node_modules');
  assert.ok(existsSync(cache), 'the command keeps compiled code in its own folder');
  // A file where the folder should be: as little can be written there as in a folder of somebody else.
  rmSync(cache, { recursive: true });
  writeFileSync(cache, '');
  const shown = await run(bin, ['--version'], { cwd: project, env });
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  assert.deepEqual([shown.stdout, shown.stderr], [`${version}\n`, '']);

  // An old release must reach the check of its version: a name that it does not export would end it before.
  const main = readFileSync(join(installed, 'dist', 'main.js'), 'utf8');
  assert.deepEqual(main.match(/^import .*$/gm), [
    "import { faultOfRuntime } from './runtime/node-version.js';",
  ]);
  const old = `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.20.2"})`;
  await assert.rejects(run(process.execPath, ['--import', old, bin, '--version'], { cwd: project, env }), {
    code: 2,
    stderr: 'This program needs Node 22.23.2 or newer; this is 20.20.2.\n',
  });
});
