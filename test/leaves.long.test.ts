/** Rooms that can be left out: without its directory and its line, the rest compiles and serves. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { send, temporaryFolder } from './support/app.ts';
import { CHILD_LIMIT, plainEnvironment } from './support/command.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);

interface Leaf {
  readonly room: string;
  /** The list that has its line. */
  readonly list: string;
  /** Beside the directory and the line, what goes with it: `file: line`. */
  readonly remains: readonly string[];
}

const MODULES = 'modules.ts';
const LEAVES: readonly Leaf[] = [
  { room: 'metrics', list: MODULES, remains: [] },
  { room: 'embedding', list: 'index.ts', remains: [] },
  { room: 'webhooks', list: MODULES, remains: [] },
  { room: 'export', list: MODULES, remains: [] },
  { room: 'statistics', list: MODULES, remains: [] },
  { room: 'search', list: MODULES, remains: [] },
];

/** A copy of what runs and compiles, without a room. */
function leaveOut(context: TestContext, { room, list }: Pick<Leaf, 'room' | 'list'>): string {
  const folder = temporaryFolder(context);
  for (const name of ['src', 'data', 'docs', 'package.json', 'tsconfig.json', 'openapi.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  rmSync(join(folder, 'src', room), { recursive: true });
  const lines = readFileSync(join(folder, 'src', list), 'utf8').split('\n');
  const kept = lines.filter((line) => !line.includes(`'./${room}/`));
  assert.equal(lines.length - kept.length, 1, `${list} names ${room} in one line`);
  writeFileSync(join(folder, 'src', list), kept.join('\n'));
  const config = { extends: './tsconfig.json', include: ['src'], exclude: ['node_modules'] };
  writeFileSync(join(folder, 'tsconfig.src.json'), JSON.stringify(config));
  return folder;
}

/** The lines with errors, each once, as `file: line`. */
async function wrongLines(folder: string): Promise<string[]> {
  const compiled = run('tsc', ['-p', 'tsconfig.src.json', '--pretty', 'false'], {
    ...{ cwd: folder, env: plainEnvironment },
    ...CHILD_LIMIT,
  });
  const { stdout } = await compiled.catch((error: { stdout: string }) => error);
  const found = [...stdout.matchAll(/^(src\/[^(]+)\((\d+),/gm)].map(([, file = '', line]) => {
    const text = readFileSync(join(folder, file), 'utf8').split('\n')[Number(line) - 1] ?? '';
    return `${file}: ${text.trim()}`;
  });
  // An error without a place, such as a wrong configuration.
  if (found.length === 0) assert.equal(stdout, '');
  return [...new Set(found)];
}

/** Seeds the demo data and serves it, with metrics where there are some. */
async function serveDemo(context: TestContext, folder: string): Promise<{ port: number; key: string }> {
  const db = join(folder, 'demo', 'registry.db');
  const env = { ...plainEnvironment, REGISTRY_DB: db, PORT: '0', METRICS: '127.0.0.1:0', LC_ALL: 'C' };
  const main = join(folder, 'src', 'main.ts');
  const options = { cwd: folder, env, ...CHILD_LIMIT };
  const { stdout } = await run(process.execPath, [main, 'seed', '--json'], options);
  const keys = JSON.parse(stdout).keys as { name: string; key: string }[];
  // Also what only some of the commands load.
  for (const args of [['--help'], ['status', '--json']])
    await run(process.execPath, [main, ...args], options).catch((error) => assert.equal(error.code, 1));
  const child = spawn(process.execPath, [main, 'serve'], { ...options, stdio: 'pipe' });
  const ended = once(child, 'close');
  context.after(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  while (!output.includes('listening on')) await Promise.race([once(child.stdout, 'data'), ended]);
  const [, port] = /Serving .* on http:\/\/[^:]+:(\d+)/.exec(output) ?? assert.fail(output);
  const { key } = keys.find(({ name }) => name === 'writer') ?? assert.fail(stdout);
  return { port: Number(port), key };
}

for (const leaf of LEAVES)
  test(`without ${leaf.room}/ and its line, the rest compiles and serves`, async (context) => {
    const folder = leaveOut(context, leaf);
    const wrong = await wrongLines(folder);
    assert.deepEqual(wrong, leaf.remains);
    assert.ok(leaf.remains.length <= 5);
    const { port, key } = await serveDemo(context, folder);
    const list = await send(port, '/members/', { key });
    assert.equal(list.status, 200);
    const [member] = list.json.results;
    const lookup = await send(port, `/members/${member.identity_card}/`, { key });
    assert.equal(lookup.status, 200);
    const body = { code: 'NEW-1', name: 'Abahuzamugambi', province: 'South', district: 'Huye' };
    const created = await send(port, '/cooperatives/', { key, method: 'POST', body });
    assert.equal(created.status, 201);
  });

test('an import of a room that is left out would be found', async (context) => {
  const folder = leaveOut(context, { room: 'webhooks', list: MODULES });
  appendFileSync(join(folder, 'src', 'compose.ts'), "import './webhooks/service.ts';\n");
  appendFileSync(
    join(folder, 'src', 'health', 'status-warnings.ts'),
    "export * from '../webhooks/post.ts';\n",
  );
  assert.deepEqual(await wrongLines(folder), [
    "src/compose.ts: import './webhooks/service.ts';",
    "src/health/status-warnings.ts: export * from '../webhooks/post.ts';",
  ]);
});
