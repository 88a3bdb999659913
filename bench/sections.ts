/** What is measured, a function per row or two of the table. Each gives its figures by name. */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Dataset, type ImportFigures, importFile, runRegistry } from './dataset.ts';
import {
  type Figure,
  inTurn,
  lookupScript,
  measure,
  median,
  ROOT,
  requestScript,
  type Server,
  type Subject,
  startPeer,
  startRegistry,
  startServer,
} from './load.ts';
import { COOPERATIVES, ENTRIES, identityCard, type Kind, MILK, memberWithEntries, writeCsv } from './rows.ts';

export interface Options {
  readonly rounds: number;
  readonly seconds: number;
  readonly folder: string;
}

const CONNECTIONS = 32;
const SAMPLE = 10_000;
/** Sent by node:http itself. */
const OWN_HEADERS = ['connection', 'date', 'keep-alive'];

export type Figures = { [name: string]: Figure };
const toFigures = (measured: Map<string, Figure>): Figures => Object.fromEntries(measured);

/** The registry's own answers for some people, for the bare server to send. */
async function collectAnswers(
  { population }: Dataset,
  server: Server,
  key: string,
  file: string,
): Promise<void> {
  const answers: unknown[] = [];
  for (let k = 0; k < SAMPLE; k++) {
    const path = `/api/v1/members/${identityCard(memberWithEntries(MILK.members + k, population))}/`;
    const reply = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    if (reply.status !== 200) throw new Error(`${path} answers ${reply.status}.`);
    const headers = Object.fromEntries([...reply.headers].filter(([name]) => !OWN_HEADERS.includes(name)));
    answers.push({ path, headers, body: await reply.text() });
  }
  writeFileSync(file, JSON.stringify(answers));
}

/** Lookups of a registry of 200,000 beside a bare server and Fastify. */
export async function lookups(dataset: Dataset, options: Options): Promise<Figures> {
  const { folder, rounds, seconds } = options;
  const { keys, population, databaseFile } = dataset;
  const everyone = { first: MILK.members, count: population.withEntries - MILK.members };
  const sample = { first: MILK.members, count: SAMPLE };
  const registry = await startRegistry(databaseFile, folder);
  const fastify = await startPeer('fastify', [], { REGISTRY_DB: databaseFile }, folder);
  const subjects: Subject[] = [];
  for (const [blocks, key] of [
    ['with blocks', keys.full],
    ['without blocks', keys.basic],
  ] as const) {
    const answers = join(folder, `${blocks}.json`);
    await collectAnswers(dataset, registry, key, answers);
    const bare = await startPeer('bare', [answers], {}, folder);
    const load = { seconds, connections: CONNECTIONS };
    const all = lookupScript(folder, `all ${blocks}`, key, population, everyone);
    const some = lookupScript(folder, `sample ${blocks}`, key, population, sample);
    subjects.push(
      { name: `registry, ${blocks}`, measure: () => measure(registry.port, all, load) },
      { name: `bare node:http, ${blocks}`, measure: () => measure(bare.port, some, load) },
      { name: `fastify, ${blocks}`, measure: () => measure(fastify.port, all, load) },
    );
  }
  return toFigures(await inTurn(rounds, subjects));
}

export interface Footprint {
  /** MiB under load, at the end of it. */
  readonly rssAnonMib: number;
  /** Milliseconds from the start of the process until it listens: the median of several starts. */
  readonly startMs: number;
}

const STARTS = 5;

/** The same lookup at every size; memory and start of the largest. */
export async function sizes(datasets: readonly Dataset[], options: Options): Promise<[Figures, Footprint]> {
  const { folder, rounds, seconds } = options;
  const servers = await Promise.all(datasets.map((each) => startRegistry(each.databaseFile, folder)));
  const subjects = (['full', 'basic'] as const).flatMap((scope) =>
    datasets.map(({ population, keys }, i): Subject => {
      const name = `${population.members} members, ${scope === 'full' ? 'with' : 'without'} blocks`;
      const chosen = { first: MILK.members, count: population.withEntries - MILK.members };
      const script = lookupScript(folder, name, keys[scope], population, chosen);
      const { port } = servers[i] as Server;
      return { name, measure: () => measure(port, script, { seconds, connections: CONNECTIONS }) };
    }),
  );
  const figures = toFigures(await inTurn(rounds, subjects));
  const rssAnonMib = (servers.at(-1) as Server).rssAnonMib();
  for (const server of servers) await server.stop();
  const starts: number[] = [];
  for (let i = 0; i < STARTS; i++) {
    const server = await startRegistry((datasets.at(-1) as Dataset).databaseFile, folder);
    starts.push(server.startMs);
    await server.stop();
  }
  return [figures, { rssAnonMib, startMs: median(starts) }];
}

/** A person with deliveries twice a day beside one with twenty, when the stored summary is right and when it is not. */
export async function milk({ databaseFile, population, keys }: Dataset, options: Options): Promise<Figures> {
  const { folder, rounds, seconds } = options;
  const now = await startRegistry(databaseFile, folder);
  const later = await startServer(
    ['--import', 'tsx', join(ROOT, 'bench/later.ts')],
    { REGISTRY_DB: databaseFile },
    folder,
  );
  const load = { seconds, connections: CONNECTIONS };
  const subjects = (
    [
      ['', now],
      [', summary out of date', later],
    ] as const
  ).flatMap(([state, server]) =>
    (
      [
        [MILK.production, 0],
        [ENTRIES.production, MILK.members],
      ] as const
    ).map(([entries, first]): Subject => {
      const name = `${entries} entries${state}`;
      const script = lookupScript(folder, name, keys.full, population, { first, count: MILK.members });
      return { name, measure: () => measure(server.port, script, load) };
    }),
  );
  return toFigures(await inTurn(rounds, subjects));
}

/** Pages of the member list, one request at a time, so that its rate is the time of a request. */
export async function pages(small: Dataset, large: Dataset, options: Options): Promise<Figures> {
  const { folder, rounds } = options;
  const ports = new Map<Dataset, number>();
  for (const each of [small, large]) ports.set(each, (await startRegistry(each.databaseFile, folder)).port);
  const last = Math.ceil(large.population.members / 50);
  const inCooperative = Math.ceil(large.population.members / COOPERATIVES / 50);
  const list: [name: string, Dataset, path: string][] = [
    ['page 1 of 20,000', small, '"/api/v1/members/"'],
    ['page 1 of 5,000,000', large, '"/api/v1/members/"'],
    ['any page of 5,000,000', large, `"/api/v1/members/?page=" .. math.random(${last})`],
    ['last page of 5,000,000', large, `"/api/v1/members/?page=${last}"`],
    [
      'any page of active ones of 5,000,000',
      large,
      `"/api/v1/members/?status=active&page=" .. math.random(${last})`,
    ],
    [
      'last page of any cooperative of 5,000,000',
      large,
      `"/api/v1/members/?page=${inCooperative - 1}&cooperative=" .. math.random(${COOPERATIVES})`,
    ],
  ];
  const subjects = list.map(([name, dataset, path]): Subject => {
    const script = requestScript(
      folder,
      name,
      dataset.keys.basic,
      'math.randomseed(42)',
      `  return wrk.format("GET", ${path})`,
    );
    const port = ports.get(dataset) as number;
    return { name, measure: () => measure(port, script, { seconds: 2, connections: 1 }) };
  });
  return toFigures(await inTurn(rounds, subjects));
}

/** New members, each acknowledged when it is on disk, in a copy of the registry. */
export async function writes({ databaseFile, keys }: Dataset, options: Options): Promise<Figures> {
  const { folder, rounds, seconds } = options;
  const copy = join(folder, 'registry.db');
  copyFileSync(databaseFile, copy);
  copyFileSync(databaseFile.replace(/\.db$/, '.keys.db'), join(folder, 'registry.keys.db'));
  const server = await startRegistry(copy, folder);
  let started = 0;
  const subject: Subject = {
    name: 'POST /members, 64 connections',
    async measure() {
      const script = requestScript(
        folder,
        'write',
        keys.writing,
        'local i = 0\nwrk.headers["Content-Type"] = "application/json"',
        `  i = i + 1
  local body = string.format('{"cooperative_id":"%d","identity_card":"120068%d042","member_code":"W-${started}-%d","full_name":"Example Person","gender":"FEMALE","mobile":"+250788000000","registration_date":"2024-03-31"}', 1 + i % ${COOPERATIVES}, ${9_000_000 + started * 300_000} + i, i)
  return wrk.format("POST", "/api/v1/members", nil, body)`,
      );
      started++;
      return measure(server.port, script, { seconds, connections: 64 });
    },
  };
  return toFigures(await inTurn(Math.min(rounds, 3), [subject]));
}

export type Imports = { [kind: string]: ImportFigures };

/** The import command end to end: a million members, then two million deliveries of 100,000 of them. */
export async function imports(options: Options): Promise<Imports> {
  const population = { members: 1_000_000, withEntries: 100_000, nowMs: Date.now() };
  const kinds: readonly Kind[] = ['cooperatives', 'members', 'production'];
  const csv = (kind: Kind) => join(options.folder, `${kind}.csv`);
  for (const kind of kinds) writeCsv(csv(kind), kind, population);
  const measured = new Map<string, ImportFigures[]>();
  for (let round = 0; round < options.rounds; round++) {
    const databaseFile = join(options.folder, `import-${round}.db`);
    for (const [name, kind] of [...kinds.map((kind) => [kind, kind]), ['members again', 'members']] as [
      string,
      Kind,
    ][]) {
      const figures = await importFile(databaseFile, kind, csv(kind));
      measured.set(name, [...(measured.get(name) ?? []), figures]);
      process.stderr.write(
        `  round ${round + 1}: ${name.padEnd(16)} ${figures.rows_per_second} rows/s, locked ${figures.lock_seconds} s, peak ${figures.peakMib} MiB\n`,
      );
    }
    const { out } = await runRegistry(databaseFile, ['check', '--json']);
    if (JSON.parse(out).sound !== true) throw new Error(`What was imported is not sound: ${out}`);
  }
  const middle = (all: ImportFigures[]): ImportFigures =>
    [...all].sort((a, b) => a.rows_per_second - b.rows_per_second)[
      Math.floor(all.length / 2)
    ] as ImportFigures;
  return Object.fromEntries([...measured].map(([name, all]) => [name, middle(all)]));
}
