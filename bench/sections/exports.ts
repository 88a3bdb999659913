/** An export of a million members: how long it takes, what it needs, and what lookups beside it notice. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { createKey, type Dataset } from '../dataset.ts';
import { type Figure, lookupScript, measure, type Options, type Server, startRegistry } from '../load.ts';
import { MILK } from '../rows.ts';

/** Few, so that a core is left: 32 clients that ask as fast as they can use both up already. */
const CONNECTIONS = 2;
const SAMPLE_MS = 100;

export interface Exports {
  readonly seconds: readonly number[];
  readonly gzipSeconds: readonly number[];
  /** Anonymous memory beyond what lookups alone need, at most. */
  readonly moreMib: readonly number[];
  readonly without: readonly Figure[];
  readonly beside: readonly Figure[];
}

/** @returns the seconds until the last byte */
export async function exportAll(
  port: number,
  key: string,
  encoding: 'identity' | 'gzip' = 'identity',
): Promise<number> {
  const startedMs = performance.now();
  const headers = { Authorization: `Bearer ${key}`, 'Accept-Encoding': encoding };
  // Unlike fetch, it waits for as long as the file takes.
  const sent = get(`http://127.0.0.1:${port}/api/v1/members/export`, { headers });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200)
    throw new Error(`The export is answered ${response.statusCode}: ${await text(response)}`);
  for await (const _ of response) {
    // Only the reading counts.
  }
  return (performance.now() - startedMs) / 1000;
}

/** @returns what the work gives, and the most anonymous memory of the server meanwhile */
export async function withPeak<T>(server: Server, work: () => Promise<T>): Promise<[T, peakMib: number]> {
  let peakMib = 0;
  const sampling = setInterval(() => {
    peakMib = Math.max(peakMib, server.rssAnonMib());
  }, SAMPLE_MS);
  try {
    return [await work(), peakMib];
  } finally {
    clearInterval(sampling);
  }
}

export async function exports(
  { databaseFile, population, keys }: Dataset,
  options: Options,
): Promise<Exports> {
  const { folder, rounds, seconds } = options;
  const key = await createKey(databaseFile, ['members:read'], undefined, '--allow-export');
  const chosen = { first: MILK.members, count: population.withEntries - MILK.members };
  const script = lookupScript(folder, 'beside exports', keys.full, population, chosen);
  const found = {
    ...{ seconds: [] as number[], gzipSeconds: [] as number[], moreMib: [] as number[] },
    ...{ without: [] as Figure[], beside: [] as Figure[] },
  };
  for (let round = 0; round < rounds; round++) {
    const server = await startRegistry(databaseFile, folder);
    const look = () => measure(server.port, script, { seconds, connections: CONNECTIONS });
    found.without.push(await look());
    const usualMib = server.rssAnonMib();
    const [alone, peakMib] = await withPeak(server, () => exportAll(server.port, key, 'identity'));
    found.seconds.push(alone);
    found.moreMib.push(peakMib - usualMib);
    found.gzipSeconds.push(await exportAll(server.port, key, 'gzip'));
    const [beside] = await Promise.all([look(), exportAll(server.port, key, 'identity')]);
    found.beside.push(beside);
    process.stderr.write(
      `  round ${round + 1}: ${alone.toFixed(1)} s, ${peakMib - usualMib} MiB more, lookups ` +
        `p99 ${beside.p99Ms.toFixed(2)} ms beside, ${found.without.at(-1)?.p99Ms.toFixed(2)} ms without\n`,
    );
    await server.stop();
  }
  return found;
}
