/**
 * An overload by clients that try again at once, and five kinds of slow clients beside good ones; then the
 * overload once more with the module that decides replaced by one that refuses nothing.
 *
 *     node bench/overload.ts [connections] [slow clients]
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ensureDataset } from './dataset.ts';
import { killServers, ROOT, removeFolder, type Server, startServer, temporaryFolder } from './load.ts';

const CONNECTIONS = process.argv[2] ?? '1500';
const SLOW_CLIENTS = process.argv[3] ?? '1000';
const SECONDS = 6;
const REPLACING = `import { registerHooks } from 'node:module';
const source = 'export const openOverloadGuard = () => ({ refuse() {}, start() {}, stop() {} });';
registerHooks({ load: (url, context, next) => url.endsWith('/server/overload.ts')
  ? { format: 'module', source, shortCircuit: true } : next(url, context) });`;

const run = promisify(execFile);
const { databaseFile, keys } = await ensureDataset(20_000, 20_000);
const folder = temporaryFolder();
const crowd = (kind: string, { port }: Server, clients: string, ...more: string[]) => {
  const key = kind === 'slow-body' ? keys.writing : keys.full;
  return [join(ROOT, 'bench/crowd.ts'), kind, String(port), key, clients, ...more];
};
const asking = async (server: Server, clients: string, pauseMs = 0) =>
  (await run(process.execPath, crowd('asking', server, clients, String(SECONDS), String(pauseMs), '4')))
    .stdout;
const start = (...args: string[]) =>
  startServer([...args, join(ROOT, 'src/main.ts'), 'serve'], { REGISTRY_DB: databaseFile }, folder);
const say = (what: string, { rssAnonMib }: Server, seen = '') =>
  console.log(`${what.padEnd(28)} ${rssAnonMib().toFixed(0).padStart(5)} MiB  ${seen.trim()}`);

async function overload(name: string, server: Server): Promise<void> {
  console.log(name);
  say('64 connections', server, await asking(server, '64'));
  say(`${CONNECTIONS} connections`, server, await asking(server, CONNECTIONS));
  await sleep(1_000);
  say('64 connections, 5 s later', server, await asking(server, '64'));
  await server.stop();
}

async function slow(kind: string): Promise<void> {
  const server = await start();
  say('before', server);
  const good = asking(server, '8', 10);
  const slowClients: ChildProcess = spawn(process.execPath, crowd(kind, server, SLOW_CLIENTS));
  say(`8 good beside ${kind}`, server, await good);
  slowClients.kill();
  await server.stop();
}

try {
  await overload('as it is', await start());
  const planted = `data:text/javascript,${encodeURIComponent(REPLACING)}`;
  await overload('with nothing refused', await start('--import', planted));
  for (const kind of ['slow-headers', 'slow-body', 'slow-reading', 'unread', 'silent']) await slow(kind);
} finally {
  killServers();
  removeFolder(folder);
}
