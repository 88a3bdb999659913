/** The system calls that the service makes are those that its unit allows: elsewhere systemd does not run. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { send, temporaryFolder } from '../support/app.ts';
import { command, spawnPlainly } from '../support/command.ts';
import { freePort } from '../support/serving.ts';
import { missing, readDeployed } from './programs.ts';

/** What the heading and the last line of the table look like. */
const NO_CALLS = ['syscall', 'total'];
/** As root, SQLite and the ledger give new files to the owner of the database; the unit is not root. */
const AS_ROOT = ['fchown', 'lchown'];
const skip = missing('strace', 'systemd-analyze');

/** The calls of a group such as `@system-service`, and of those in it; another name is a call. */
function expand(name: string): string[] {
  if (!name.startsWith('@')) return [name];
  const listed = execFileSync('systemd-analyze', ['--no-pager', 'syscall-filter', name], {
    encoding: 'utf8',
  });
  return [...listed.matchAll(/^ +(@?\w[\w-]*)$/gm)].flatMap(([, member = '']) => expand(member));
}

/** As systemd reads the lines one after the other: `~` takes away from what those before allow. */
function allowedCalls(unit: string): Set<string> {
  // What systemd allows every process to do.
  const allowed = new Set(expand('@default'));
  for (const [, minus, names = ''] of unit.matchAll(/^SystemCallFilter=(~?)(.*)$/gm)) {
    for (const call of names.split(' ').flatMap(expand))
      minus === '~' ? allowed.delete(call) : allowed.add(call);
  }
  return allowed;
}

test('the service makes no system call that its unit forbids', { skip }, async (context) => {
  const folder = temporaryFolder(context);
  const env = { REGISTRY_DB: join(folder, 'registry.db'), HOST: '127.0.0.1', PORT: `${await freePort()}` };
  assert.equal((await command(['seed'], env)).status, 0);
  const scopes = 'cooperatives:read,cooperatives:write,members:read,members:financials';
  const issued = await command(
    ['keys', 'create', '--create', '--name', 'a', '--scope', scopes, '--allow-export', '--json'],
    env,
  );
  const { key } = JSON.parse(issued.out);
  const counted = join(folder, 'calls');
  const options = ['-f', '-c', '-S', 'name', '-U', 'name', '-o', counted];
  const server = spawnPlainly(
    ['strace', ...options, process.execPath, 'src/main.ts', 'serve', '--create'],
    env,
  );
  context.after(() => {
    if (server.child.exitCode === null) process.kill(-(server.child.pid as number), 'SIGKILL');
  });
  await server.waitFor('listening on');
  const port = Number(env.PORT);
  for (const path of [
    '/statistics',
    '/members?search=uwase',
    '/members/export',
    '/members/1198079244288038/',
  ])
    assert.equal((await send(port, path, { key })).status, 200, path);
  const body = { code: 'A', name: 'A' };
  assert.equal((await send(port, '/cooperatives', { key, method: 'POST', body })).status, 201);
  const { pid } = server.child;
  process.kill(Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()), 'SIGTERM');
  await server.ended;
  const made = readFileSync(counted, 'utf8')
    .match(/^\w+$/gm)
    ?.filter((name) => !NO_CALLS.includes(name));
  assert.ok((made?.length ?? 0) > 30, `${made}`);
  const allowed = allowedCalls(readDeployed('cooperative-.service.d/hardening.conf'));
  assert.deepEqual(
    made?.filter((call) => !allowed.has(call) && !AS_ROOT.includes(call)),
    [],
  );
});
