/**
 * What followers that wait for events cost: memory, processor, and the time until all of them know; with a
 * number of rows, what an import of that many costs when every follower asks for a page of another length.
 *
 *     node bench/followers.ts [clients] [rows]
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { killServers, ROOT, removeFolder, startRegistry, temporaryFolder } from './load.ts';

const CLIENTS = Number(process.argv[2] ?? 5_000);
const ROWS = Number(process.argv[3] ?? 0);
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
let ended = 0;
async function open(): Promise<void> {
  for (let i = 0; i < CLIENTS; i++) {
    const socket = connect(server.port, '127.0.0.1');
    let tail = '';
    socket.on('data', (chunk: Buffer) => {
      if (chunk.includes('HTTP/1.1 200')) answered++;
      tail = `${tail}${chunk.toString('latin1', Math.max(0, chunk.length - 50))}`;
      if (/"last_sequence":\d+\}/.test(tail)) [ended, tail] = [ended + 1, ''];
      tail = tail.slice(-50);
    });
    sockets.push(socket);
    if (i % 500 === 499) await sleep(50);
  }
}

/** Sends one request on each connection, and resolves when all are held. */
async function wait(after: number, limitOf: (n: number) => number): Promise<void> {
  const before = await remaining();
  sockets.forEach((socket, n) => {
    const target = `/api/v1/events?after=${after}&wait=30&limit=${limitOf(n)}`;
    socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  });
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

const usualLimit = () => 100;

async function measureWrites(): Promise<void> {
  await remaining();
  const [emptyMib, emptyCpu] = [server.rssAnonMib(), server.cpuMs()];
  await sleep(IDLE_MS);
  const idle = server.cpuMs() - emptyCpu;
  await open();
  await wait(0, usualLimit);
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
    if (round < ROUNDS) await wait(round, usualLimit);
  }
}

/** An import by another process, of which each follower wants another part. */
async function measureImport(): Promise<void> {
  await post(1);
  const lines = ['cooperative_code,member_code,identity_card,full_name'];
  for (let n = 0; n < ROWS; n++) lines.push(`C-1,M-${n},${1198580000000000 + n},Uwase`);
  const members = join(folder, 'members.csv');
  writeFileSync(members, `${lines.join('\n')}\n`);
  await open();
  await wait(1, (n) => ROWS - n);
  const before = server.rssAnonMib();
  [answered, ended] = [0, 0];
  await run(process.execPath, ['src/main.ts', 'import', 'members', members, '--db', file], { cwd: ROOT });
  const started = performance.now();
  const healthMs: number[] = [];
  let mostMib = before;
  while (ended < CLIENTS) {
    const asked = performance.now();
    await (await fetch(`http://127.0.0.1:${server.port}/healthz`)).arrayBuffer();
    healthMs.push(performance.now() - asked);
    mostMib = Math.max(mostMib, server.rssAnonMib());
    await sleep(10);
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${CLIENTS} clients wait for up to ${ROWS} events: ${before.toFixed(0)} MiB`);
  console.log(`  all have their pages after ${seconds} s; at most ${mostMib.toFixed(0)} MiB`);
  console.log(`  /healthz: at most ${Math.max(...healthMs).toFixed(0)} ms`);
}

try {
  await (ROWS === 0 ? measureWrites() : measureImport());
} finally {
  for (const socket of sockets) socket.destroy();
  killServers();
  removeFolder(folder);
}
