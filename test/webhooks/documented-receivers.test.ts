/** The receivers of docs/webhooks.md run as they are printed. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/app.ts';
import { freePort } from '../support/serving.ts';
import { startWebhooks, until } from '../support/webhooks.ts';

const document = readFileSync(fileURLToPath(new URL('../../docs/webhooks.md', import.meta.url)), 'utf8');

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

/** Runs the one in a language with a secret; what it prints is added to the lines. */
function runReceiver(
  context: TestContext,
  { language, program, secret, port }: { language: string; program: string; secret: string; port: number },
): { readonly child: ChildProcess; readonly lines: string[] } {
  const [, code = ''] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(document) ?? [];
  const file = join(temporaryFolder(context), language === 'js' ? 'receiver.mjs' : 'receiver.py');
  writeFileSync(file, code);
  const env = { ...process.env, NODE_V8_COVERAGE: '', WEBHOOK_SECRET: secret, PORT: String(port) };
  const child = spawn(program, [file], { env, stdio: ['ignore', 'pipe', 'ignore'], timeout: 60_000 });
  context.after(() => child.kill());
  const lines: string[] = [];
  child.stdout?.on('data', (chunk: Buffer) => lines.push(...chunk.toString().trim().split('\n')));
  return { child, lines };
}

const hasPython = spawnSync('python3', ['--version']).status === 0;

for (const [language, program] of [
  ['js', process.execPath],
  ['python', 'python3'],
] as const) {
  const skip = language === 'python' && !hasPython;
  test(`the receiver in ${language} prints each message once`, { skip }, async (context) => {
    const { keyId, json, create, run } = await startWebhooks(context);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/hooks`;
    const { secret } = await json('add', '--key', String(keyId), '--url', url, '--allow-private');
    const { child, lines } = runReceiver(context, { language, program, secret, port });
    await until(async () => (await listens(port)) || child.exitCode !== null);
    assert.equal((await run('test', '1')).status, 0);
    await create('C-1');
    await until(() => lines.some((line) => line.includes('cooperative.created')));
    assert.equal((await json('replay', '1', '1')).status, 204);
    assert.equal((await fetch(url, { method: 'POST', body: '{}' })).status, 401);
    // Signed by a secret that it does not know.
    await json('rotate', '1');
    assert.equal((await run('test', '1')).err, 'Not delivered. The response was 401.\n');
    assert.equal(lines.filter((line) => line.includes('cooperative.created')).length, 1);
  });
}
