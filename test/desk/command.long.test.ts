/** `registry desk`: the link that it prints, and what a second one does (docs/desk.md#the-link). */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../support/app.ts';
import { command, type RunningCommand, spawnCommand } from '../support/command.ts';
import { createEmptyRegistry } from '../support/empty-registry.ts';

/** Ends before its folder is removed. */
function run(context: TestContext, args: readonly string[], env: NodeJS.ProcessEnv = {}): RunningCommand {
  const started = spawnCommand(['desk', ...args], env);
  context.after(async () => {
    started.child.kill('SIGKILL');
    await started.ended;
  });
  return started;
}

function registry(context: TestContext): { db: string; file: string } {
  const folder = temporaryFolder(context);
  const db = join(folder, 'registry.db');
  createEmptyRegistry(db);
  return { db, file: join(folder, 'registry.desk.json') };
}

const LINK = /http:\/\/127\.0\.0\.1:(\d+)\/open\/[\w-]{43}/;

test('the desk prints a link, ends at SIGTERM with status 0, and leaves no file behind', async (context) => {
  const { db, file } = registry(context);
  const desk = run(context, ['--db', db, '--port', '0']);
  await desk.waitFor('/open/');
  assert.match(desk.output(), new RegExp(`^Open the desk within a minute, once: ${LINK.source}\n$`));
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const [link = ''] = LINK.exec(desk.output()) ?? [];
  assert.equal((await fetch(link)).status, 200);
  assert.equal((await fetch(link)).status, 403);
  desk.child.kill('SIGTERM');
  assert.equal(await desk.ended, 0);
  assert.equal(existsSync(file), false);
});

test('a second desk on the same registry gives a new link to the first', async (context) => {
  const { db } = registry(context);
  const desk = run(context, ['--db', db, '--port', '0']);
  await desk.waitFor('/open/');
  const second = await command(['desk', '--db', db, '--json', '--as', 'N. N.']);
  assert.equal(second.status, 0);
  assert.equal(second.err, 'The desk is open already: this is a new link to it.\n');
  const { link } = JSON.parse(second.out);
  assert.equal(LINK.exec(link)?.[1], LINK.exec(desk.output())?.[1]);
  const opened = await fetch(link);
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  assert.match(await (await fetch(new URL('/', link), { headers: { cookie } })).text(), /<b>N\. N\. \(/);
});

test('after a kill the next desk takes the place of the one that is gone', async (context) => {
  const { db, file } = registry(context);
  const killed = run(context, ['--db', db, '--port', '0']);
  await killed.waitFor('/open/');
  killed.child.kill('SIGKILL');
  await killed.ended;
  assert.equal(existsSync(file), true);
  const next = run(context, ['--db', db, '--port', '0']);
  await next.waitFor('/open/');
  assert.doesNotMatch(next.output(), /already/);
});

test('a port that was asked for and is in use is refused', async (context) => {
  const { db } = registry(context);
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  context.after(() => other.close());
  const { port } = other.address() as { port: number };
  const refused = await command(['desk', '--db', db, '--port', String(port)]);
  assert.deepEqual([refused.status, refused.out], [1, '']);
  assert.equal(refused.err, `Port ${port} is in use. Choose another one with --port.\n`);
});

test('it listens on this machine only, and needs a registry', async (context) => {
  const { db } = registry(context);
  const elsewhere = await command(['desk', '--db', db, '--host', '0.0.0.0']);
  assert.equal(elsewhere.status, 2);
  assert.match(elsewhere.err, /listens on 127\.0\.0\.1 only.*ssh -L 8081:127\.0\.0\.1:8081/);
  const without = await command(['desk', '--db', `${db}.none`]);
  assert.equal(without.status, 2);
  assert.match(without.err, /^There is no registry at .*\. Create one with/);
});

test('with --open the link is opened, not printed, and printed where no browser can be opened', async (context) => {
  const { db } = registry(context);
  const programs = join(dirname(db), 'programs');
  mkdirSync(programs);
  const opened = join(programs, 'opened');
  // Whole at once, as it is waited for.
  const script = `#!/bin/sh\necho "$1" > ${opened}.new && /bin/mv ${opened}.new ${opened}\n`;
  const PATH = programs;
  const without = run(context, ['--db', db, '--port', '0', '--open'], { PATH });
  await without.waitFor('/open/');
  assert.match(
    without.output(),
    /^No browser could be opened \(spawn xdg-open ENOENT\)\. Open the link yourself\.$/m,
  );
  writeFileSync(join(programs, 'xdg-open'), script, { mode: 0o755 });
  const again = run(context, ['--db', db, '--open'], { PATH });
  assert.equal(await again.ended, 0);
  assert.equal(again.output(), '');
  const link = readFileSync(opened, 'utf8').trim();
  assert.match(link, new RegExp(`^${LINK.source}$`));
  assert.equal((await fetch(link)).status, 200);
  writeFileSync(join(programs, 'xdg-open'), '#!/bin/sh\nexit 3\n', { mode: 0o755 });
  const failing = run(context, ['--db', db, '--open'], { PATH });
  await failing.ended;
  assert.match(failing.output(), /\(xdg-open ended with status 3\).*\/open\//s);
});
