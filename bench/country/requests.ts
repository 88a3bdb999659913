/** What clients of a registry notice of its size: measured in turns with the other one. */
import { totalmem } from 'node:os';
import { readOnce } from '../dataset.ts';
import {
  type Figures,
  inTurn,
  lookupScript,
  measure,
  median,
  type Options,
  type Rounds,
  requestScript,
  type Server,
  startRegistry,
} from '../load.ts';
import { averageCooperative, type CountryShape } from '../population.ts';
import { exportAll, withPeak } from '../sections/exports.ts';
import { searchScript } from '../sections/search.ts';
import { timed } from '../sections/statistics.ts';
import type { CountryFigures } from './figures.ts';
import { type Country, freeBytes, LEAST_FREE_BYTES, RESERVED_SHARE } from './registry.ts';
import { fileSizes, ledgerSize } from './sizes.ts';

const CONNECTIONS = 32;
const STARTS = 5;
const PAGE_SIZE = 50;
/** More than a member takes as NDJSON, which an export writes to a file before it sends it. */
const EXPORTED_BYTES = 700;

/** The figures of each registry, in the order of the registries. */
export type Both = readonly CountryFigures[];

/** So that both are in memory, as after a while of use; not one that would not fit. */
async function warm(countries: readonly Country[]): Promise<void> {
  for (const country of countries)
    if (fileSizes(country).database < totalmem() / 2) await readOnce(country.databaseFile);
}

export async function measureStarts(countries: readonly Country[], { folder }: Options): Promise<Both> {
  const times = countries.map((): number[] => []);
  for (let i = 0; i < STARTS; i++) {
    for (const [n, { databaseFile }] of countries.entries()) {
      const server = await startRegistry(databaseFile, folder);
      times[n]?.push(server.startMs);
      await server.stop();
    }
  }
  return times.map((each) => ({ 'start to ready': median(each) }));
}

/** Of the first request and later ones, while the service is new. */
async function measureStatistics({ keys, population }: Country, { port }: Server): Promise<CountryFigures> {
  const ask = (path: string) => timed(port, keys.withoutScope, path);
  const one = 1 + averageCooperative(population.country as CountryShape, population.members);
  // The thread has started.
  await ask('/cooperatives/999999999/statistics').catch(() => undefined);
  const first = await ask('/statistics');
  const again = await ask('/statistics');
  const ofOne = await ask(`/cooperatives/${one}/statistics`);
  return {
    'statistics of the country, the first': first,
    'statistics of the country, again': again,
    'statistics of a cooperative, the first': ofOne,
  };
}

const p50 = (rounds: Rounds): number => median(rounds.map(({ p50Ms }) => p50Ms));
const p99 = (rounds: Rounds): number => median(rounds.map(({ p99Ms }) => p99Ms));
const rate = (rounds: Rounds): number => median(rounds.map(({ perSecond }) => perSecond));

/** What is asked of a registry in each round, by the name of a script. */
function subjectsOf(country: Country, { port }: Server, { folder, seconds }: Options) {
  const { population, keys } = country;
  const { members, withEntries } = population;
  const last = Math.ceil(members / PAGE_SIZE);
  const page = (name: string, lua: string) => {
    const body = `  return wrk.format("GET", "/api/v1/members/?page=" .. ${lua})`;
    return requestScript(folder, `${name} of ${members}`, keys.basic, 'math.randomseed(42)', body);
  };
  const middle = `(${Math.floor(last / 2)} + math.random(${Math.ceil(last / 10)}))`;
  const chosen = { first: 0, count: Math.floor(withEntries * (1 - RESERVED_SHARE)) };
  const scripts = {
    lookups: lookupScript(folder, `lookups of ${members}`, keys.full, population, chosen),
    first: page('first', '1'),
    middle: page('middle', middle),
    last: page('last', `${last}`),
    searches: searchScript(folder, keys.basic, population),
  };
  return Object.entries(scripts).map(([name, script]) => ({
    name: `${members}: ${name}`,
    measure: () => measure(port, script, { seconds, connections: name === 'lookups' ? CONNECTIONS : 1 }),
  }));
}

async function measureExport(country: Country, server: Server): Promise<CountryFigures> {
  const { members } = country.population;
  const [rows, memory] = ['export of the members', 'additional memory of an export'] as const;
  if (freeBytes() < members * EXPORTED_BYTES + LEAST_FREE_BYTES) {
    const missing = { missing: 'the disk has no room for the file of the export' };
    return { [rows]: missing, [memory]: missing };
  }
  const usualMib = server.rssAnonMib();
  const [seconds, peakMib] = await withPeak(server, () => exportAll(server.port, country.exportKey));
  return { [rows]: members / seconds, [memory]: Math.max(0, peakMib - usualMib) };
}

/** Bytes of a lookup in the access ledger. */
async function measureReading(country: Country, lookUp: () => Promise<unknown>): Promise<CountryFigures> {
  const before = ledgerSize(country);
  await lookUp();
  const after = ledgerSize(country);
  const bytes = (after.bytes - before.bytes) / (after.readings - before.readings);
  return { 'size of a lookup in the access ledger': bytes };
}

/** The figures of one registry, of what `inTurn` has seen. */
function loadFigures({ population }: Country, seen: Figures): CountryFigures {
  const of = (name: string): Rounds => seen[`${population.members}: ${name}`] ?? [];
  const micros = (name: string): number => 1e6 / rate(of(name));
  return {
    'lookup with blocks, 32 connections': rate(of('lookups')),
    'lookup with blocks, 32 connections, p99': p99(of('lookups')),
    'member list, page 1': micros('first'),
    'member list, a page in the middle': micros('middle'),
    'member list, the last page': micros('last'),
    'search by name, p50': p50(of('searches')),
    'search by name, p99': p99(of('searches')),
  };
}

/** Statistics, lookups, pages, searches and an export over HTTP. */
export async function measureRequests(countries: readonly Country[], options: Options): Promise<Both> {
  await warm(countries);
  const servers: Server[] = [];
  for (const { databaseFile } of countries) servers.push(await startRegistry(databaseFile, options.folder));
  const serverOf = (n: number): Server => servers[n] as Server;
  const subjects = countries.map((country, n) => subjectsOf(country, serverOf(n), options));
  const first: CountryFigures[] = [];
  for (const [n, country] of countries.entries()) {
    const lookUp = async () => subjects[n]?.[0]?.measure();
    first.push({
      ...(await measureStatistics(country, serverOf(n))),
      ...(await measureReading(country, lookUp)),
    });
  }
  // A B A B: each subject of one registry beside the same of the other.
  const ordered = (subjects[0] ?? []).flatMap((_, i) => subjects.flatMap((list) => list.slice(i, i + 1)));
  const seen = await inTurn(options.rounds, ordered);
  const both: CountryFigures[] = [];
  for (const [n, country] of countries.entries()) {
    both.push({
      ...first[n],
      ...loadFigures(country, seen),
      'anonymous memory after these': serverOf(n).rssAnonMib(),
      ...(await measureExport(country, serverOf(n))),
    });
  }
  for (const server of servers) await server.stop();
  return both;
}
