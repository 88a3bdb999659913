/**
 * How long a mirror takes to load a registry, and how far it is behind while that changes (docs/mirror.md):
 * `node deploy/mirror/test/measure.ts [--members 200000] [--changes 1000] [--seconds 60]`. There are five
 * entries for each member; the registry is kept in bench/.cache. PostgreSQL has the settings of initdb.
 * With MIRROR_LOG=1 the log of the mirror is printed as well.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { Agent, request } from 'undici';
import { copyRegistry, createKey, ensureDataset } from '../../../bench/dataset.ts';
import { killServers, removeFolder, startRegistry, temporaryFolder } from '../../../bench/load.ts';
import { identityCard } from '../../../bench/population.ts';
import { type RunningCommand, spawnPlainly } from '../../../test/support/command.ts';
import { Cluster } from './cluster.ts';

const { values } = parseArgs({
  options: {
    members: { type: 'string', default: '200000' },
    changes: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '60' },
  },
});
const [members, perSecond, seconds] = [values.members, values.changes, values.seconds].map(Number) as [
  number,
  number,
  number,
];

const SCOPES = ['cooperatives:read', 'members:read', 'members:financials', 'loans:read', 'payments:read'];
/** Of the entries of `bench/rows.ts`, so that there are five for each member. */
const withEntries = Math.floor((members * 5 - 142_000) / 26);
const TICK_MS = 10;

const folder = temporaryFolder();
const cluster = new Cluster('');
const agent = new Agent({ connections: 64 });
let mirror: RunningCommand | undefined;
let lookingUp: NodeJS.Timeout | undefined;

/** A share of numbers, in order. */
function quantiles(all: readonly number[]): string {
  const sorted = all.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return `p50 ${at(0.5).toFixed(0)}, p99 ${at(0.99).toFixed(0)}, at most ${at(1).toFixed(0)} ms`;
}

function cpuMs(pid: number): number {
  const [user, system] =
    readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ').slice(11, 13) ?? [];
  return (Number(user) + Number(system)) * 10;
}

try {
  const dataset = await ensureDataset(members, withEntries);
  const databaseFile = copyRegistry(dataset, join(folder, 'copy'));
  const key = await createKey(
    databaseFile,
    [...SCOPES, 'webhooks:receive', 'members:write'],
    undefined,
    '--allow-export',
  );
  await cluster.create();
  const service = await startRegistry(databaseFile, folder);
  const address = `http://127.0.0.1:${service.port}`;
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const ask = async (path: string, method: 'GET' | 'POST' | 'PATCH' = 'GET', body?: object) => {
    const given = body === undefined ? null : JSON.stringify(body);
    const answer = await request(`${address}/api/v1${path}`, {
      method,
      headers,
      body: given,
      dispatcher: agent,
    });
    await answer.body.dump();
    return answer.statusCode;
  };
  const database = new pg.Client({ connectionString: cluster.url() });
  // The cluster ends before it when something fails.
  database.on('error', () => {});
  await database.connect();
  const state = async () => {
    const { rows } = await database.query('SELECT * FROM registry.mirror_state').catch(() => ({ rows: [] }));
    return rows[0] as { epoch: string | null; sequence: string; must_count_accounts: boolean } | undefined;
  };

  // Somebody is looked up every 20 ms, whatever else happens.
  let lookups: number[] = [];
  lookingUp = setInterval(async () => {
    const started = performance.now();
    const n = Math.floor(Math.random() * members);
    await ask(`/members/${identityCard(n, dataset.population)}`);
    lookups.push(performance.now() - started);
  }, 20);

  const running = spawnPlainly(
    ['node', 'deploy/mirror/src/main.ts'],
    { REGISTRY_URL: address, REGISTRY_KEY: key, DATABASE_URL: cluster.url() },
    { timeout: 3_600_000, killSignal: 'SIGKILL' },
  );
  mirror = running;
  const started = performance.now();
  /** Processor time of the service, the mirror, and its session in PostgreSQL, without parallel workers. */
  async function busy(): Promise<number[]> {
    const { rows } = await database.query(
      "SELECT pid FROM pg_stat_activity WHERE application_name = 'registry mirror'",
    );
    return [service.cpuMs(), cpuMs(running.child.pid as number), rows.length === 0 ? 0 : cpuMs(rows[0].pid)];
  }
  let before = await busy();
  const spent = async () =>
    (await busy()).map((now, i) => `${((now - (before[i] as number)) / 1000).toFixed(1)} s`).join(', ');
  for (let found = await state(); ; found = await state()) {
    if (running.child.exitCode !== null) throw new Error(running.output());
    if (found?.epoch != null && !found.must_count_accounts) break;
    await sleep(100);
  }
  const loadMs = performance.now() - started;
  const { rows: counts } = await database.query(
    `SELECT (SELECT count(*) FROM registry.members) AS members, (SELECT count(*) FROM registry.deliveries)
       + (SELECT count(*) FROM registry.savings_transactions) AS entries`,
  );
  console.log(
    `loaded ${counts[0].members} members and ${counts[0].entries} entries in ${(loadMs / 1000).toFixed(1)} s`,
  );
  console.log(
    `  lookups meanwhile: ${quantiles(lookups)}; processor of service, mirror and database ${await spent()}`,
  );

  lookups = [];
  /** Changes that are done, with the event that is surely not before theirs. */
  const done: { atMs: number; sequence: number }[] = [];
  const lags: number[] = [];
  const first = Number((await state())?.sequence);
  let sent = 0;
  let refused = 0;
  async function change(): Promise<void> {
    const id = 1 + Math.floor(Math.random() * members);
    const at = new Date().toISOString();
    const kind = sent++ % 4;
    const status =
      kind === 0
        ? await ask(`/members/${id}/deliveries`, 'POST', { delivered_at: at, kg: '5.5', product: 'Milk' })
        : kind === 1
          ? await ask(`/members/${id}/savings-transactions`, 'POST', {
              ...{ account_number: `N-${id}`, kind: 'contribution', amount: '500', transacted_at: at },
            })
          : await ask(`/members/${id}`, 'PATCH', { mobile: `+25079${String(sent).padStart(7, '0')}` });
    if (status >= 300) refused++;
    else done.push({ atMs: performance.now(), sequence: first + sent });
  }
  const begun = performance.now();
  before = await busy();
  const waiting = new Set<Promise<void>>();
  let isEnded = false;
  const watching = (async () => {
    for (let next = 0; !isEnded || next < done.length; await sleep(20)) {
      const sequence = Number((await state())?.sequence) + refused;
      const nowMs = performance.now();
      for (; next < done.length && (done[next]?.sequence as number) <= sequence; next++)
        lags.push(nowMs - (done[next]?.atMs as number));
      if (nowMs - begun > (seconds + 60) * 1000)
        throw new Error(`It does not catch up: ${running.output().slice(-2000)}`);
    }
  })();
  for (let elapsed = 0; elapsed < seconds * 1000; elapsed = performance.now() - begun) {
    while (sent < (elapsed / 1000) * perSecond) {
      const promise = change().finally(() => waiting.delete(promise));
      waiting.add(promise);
    }
    await sleep(TICK_MS);
  }
  await Promise.all(waiting);
  const tookMs = performance.now() - begun;
  console.log(`${done.length} changes in ${(tookMs / 1000).toFixed(1)} s, ${refused} refused`);
  console.log(`  processor of service, mirror and database ${await spent()}`);
  isEnded = true;
  await watching;
  const faults = running.output().match(/^waiting: .*$/gm) ?? [];
  console.log(`  lag: ${quantiles(lags)}; lookups meanwhile: ${quantiles(lookups)}`);
  console.log(
    `  the mirror waited ${faults.length} times${faults.length > 0 ? `, such as ${faults[0]}` : ''}`,
  );
  if (process.env.MIRROR_LOG) console.log(running.output());
  await database.end();
} finally {
  clearInterval(lookingUp);
  mirror?.child.kill('SIGTERM');
  await mirror?.ended;
  killServers();
  await agent.destroy();
  await cluster.remove();
  removeFolder(folder);
}
