/** What followers that wait for events cost: memory, processor, and the time until all of them know. */
import { execFile } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { killServers, ROOT, removeFolder, startRegistry, temporaryFolder } from './load.ts';

const CLIENTS = Number(process.argv[2] ?? 5_000);
const ROUNDS = 5;
const IDLE_MS = 5_000;

const run = promisify(execFile);
const folder = temporaryFolder();
const file = join(folder, 'registry.db');

async function createKey(): Promise<string> {
  const scopes = ['--scope', 'webhooks:receive,cooperatives:write'];
  const limits = ['--per-hour', '10000000', '--per-day', '10000000'];
  const args = ['src/main.ts', 'keys', 'create', '--name', 'f', ...scopes, ...limits, '--json', '--db', file];
  const { stdout } = await run(process.execPath, args, { cwd: ROOT });
  return (JSON.parse(stdout) as { key: string }).key;
}

const key = await createKey();
const server = await startRegistry(file, folder);
const url = `http://127.0.0.1:${server.port}/api/v1`;
const headers = { Authorization: `Bearer ${key}` };

/** Requests that this key may still send in an hour: it tells how many have been admitted. */
async function remaining(): Promise<number> {
  const response = await fetch(`${url}/me`, { headers });
  return ((await response.json()) as { rate_limits: { hour: { remaining: number } } }).rate_limits.hour
    .remaining;
}

const sockets: Socket[] = [];
let answered = 0;
async function open(): Promise<void> {
  for (let i = 0; i < CLIENTS; i++) {
    const socket = connect(server.port, '127.0.0.1');
    socket.on('data', (chunk: Buffer) => {
      if (chunk.includes('HTTP/1.1 200')) answered++;
    });
    sockets.push(socket);
    if (i % 500 === 499) await sleep(50);
  }
}

/** Sends one request on each connection, and resolves when all are held. */
async function wait(after: number): Promise<void> {
  const before = await remaining();
  const target = `/api/v1/events?after=${after}&wait=30`;
  for (const socket of sockets)
    socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  let asked = 1;
  while (before - (await remaining()) - asked < CLIENTS) {
    asked++;
    await sleep(50);
  }
}

async function post(number: number): Promise<void> {
  const response = await fetch(`${url}/cooperatives`, {
    ...{ method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' } },
    body: JSON.stringify({ code: `C-${number}`, name: 'Abahuje' }),
  });
  if (response.status !== 201) throw new Error(`Status ${response.status}.`);
  await response.arrayBuffer();
}

try {
  await remaining();
  const [emptyMib, emptyCpu] = [server.rssAnonMib(), server.cpuMs()];
  await sleep(IDLE_MS);
  const idle = server.cpuMs() - emptyCpu;
  await open();
  await wait(0);
  const waitingMib = server.rssAnonMib();
  const cpuBefore = server.cpuMs();
  await sleep(IDLE_MS);
  const waiting = server.cpuMs() - cpuBefore;
  const perClient = ((waitingMib - emptyMib) * 1024) / CLIENTS;
  console.log(`${CLIENTS} clients wait: ${waitingMib.toFixed(0)} MiB instead of ${emptyMib.toFixed(0)}`);
  console.log(`  ${perClient.toFixed(1)} KiB for each, with its connection`);
  console.log(`  processor: ${waiting} ms in ${IDLE_MS / 1000} s, without clients ${idle} ms`);
  for (let round = 1; round <= ROUNDS; round++) {
    answered = 0;
    const started = performance.now();
    const posted = post(round).then(() => performance.now() - started);
    while (answered < CLIENTS) await sleep(1);
    const all = performance.now() - started;
    console.log(
      `  write answered after ${(await posted).toFixed(0)} ms, all clients after ${all.toFixed(0)} ms`,
    );
    if (round < ROUNDS) await wait(round);
  }
} finally {
  for (const socket of sockets) socket.destroy();
  killServers();
  removeFolder(folder);
}
