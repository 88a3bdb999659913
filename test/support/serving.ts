/** A service in a process of its own, as in production, and clients that write to it as fast as it takes. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from './app.ts';
import { command, type RunningCommand, spawnCommand, spawnPlainly } from './command.ts';

export interface ServingProcess {
  readonly server: RunningCommand;
  readonly port: number;
}

/** Serves a database until the test ends, on any free port. */
export async function serveProcess(context: TestContext, databaseFile: string): Promise<ServingProcess> {
  const env = { REGISTRY_DB: databaseFile, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'error' };
  const server = spawnPlainly(['node', 'src/main.ts', 'serve', '--create'], env);
  context.after(async () => {
    server.child.kill('SIGKILL');
    await server.ended;
  });
  await server.waitFor('Serving ');
  return { server, port: Number(/127\.0\.0\.1:([0-9]+)\//.exec(server.output())?.[1]) };
}

/** `serve` on a registry of its own, whose coverage counts. */
export async function serve(context: TestContext, more: NodeJS.ProcessEnv = {}) {
  const databaseFile = join(temporaryFolder(context), 'registry.db');
  const env = { REGISTRY_DB: databaseFile, HOST: '127.0.0.1', PORT: '0' };
  const server = spawnCommand(['serve', '--create'], { ...env, ...more });
  context.after(async () => {
    server.child.kill('SIGKILL');
    await server.ended;
  });
  await server.waitFor('listening on');
  const port = Number(/listening on 127\.0\.0\.1:([0-9]+)/.exec(server.output())?.[1]);
  const keys = async (...args: string[]) => JSON.parse((await command(['keys', ...args, '--json'], env)).out);
  return { server, port, keys, env };
}

/**
 * A port on loopback that nothing listens on yet, for programs that cannot choose one themselves. It is below
 * those that the system gives to clients, one of which could take it before the program listens.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const listener = createServer().listen(port, '127.0.0.1');
    try {
      await once(listener, 'listening');
    } catch {
      continue;
    }
    listener.close();
    await once(listener, 'close');
    return port;
  }
}

/** A key that may write as often as a key can. */
export async function issueWriter(databaseFile: string): Promise<string> {
  const limits = ['--per-hour', '10000000', '--per-day', '10000000'];
  const scopes = ['--scope', 'cooperatives:write,members:write'];
  const { out } = await command(
    ['keys', 'create', '--create', '--name', 'writer', ...scopes, ...limits, '--json', '--db', databaseFile],
    {},
  );
  return (JSON.parse(out) as { key: string }).key;
}

/** Posts one document. @returns its status and body */
export function post(
  port: number,
  path: string,
  { key, agent, body }: { readonly key: string; readonly agent?: Agent; readonly body: object },
): Promise<{ readonly status: number; readonly json: { readonly id: string } }> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: `/api/v1${path}`, method: 'POST', headers };
    const outgoing = request({ ...options, ...(agent === undefined ? {} : { agent }) }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, json: JSON.parse(text) }));
    });
    outgoing.on('error', reject).end(JSON.stringify(body));
  });
}

export interface Acknowledged {
  readonly memberCode: string;
  /** Epoch milliseconds at which the response was there. */
  readonly atMs: number;
}

export interface Writing {
  readonly acknowledged: readonly Acknowledged[];
  /** Ends after the requests under way. @throws for a response other than 201 */
  stop(): Promise<void>;
}

/** Posts members of one cooperative, each connection one after the other. */
export function writeMembers(port: number, key: string, cooperativeId: string, connections = 32): Writing {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const acknowledged: Acknowledged[] = [];
  let next = 0;
  let isStopping = false;
  async function writeOneByOne(): Promise<void> {
    while (!isStopping) {
      const number = ++next;
      const memberCode = `M-${number}`;
      const identityCard = `11985${String(number).padStart(11, '0')}`;
      const body = { cooperative_id: cooperativeId, member_code: memberCode, identity_card: identityCard };
      const response = await post(port, '/members', { key, agent, body: { ...body, full_name: 'Uwase' } });
      if (response.status !== 201) throw new Error(`Status ${response.status} for ${memberCode}.`);
      acknowledged.push({ memberCode, atMs: Date.now() });
    }
  }
  const done = Promise.all(Array.from({ length: connections }, writeOneByOne));
  // Reported by stop().
  done.catch(() => {});
  return {
    acknowledged,
    async stop() {
      isStopping = true;
      await done.finally(() => agent.destroy());
    },
  };
}
