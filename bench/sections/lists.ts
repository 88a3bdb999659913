/** Page 1 of the member list beside Fastify with the same rows and count. */
import type { Dataset } from '../dataset.ts';
import {
  type Figures,
  inTurn,
  measure,
  type Options,
  requestScript,
  startPeer,
  startRegistry,
} from '../load.ts';

const CONNECTIONS = 32;

export async function lists({ databaseFile, keys }: Dataset, options: Options): Promise<Figures> {
  const { folder, rounds, seconds } = options;
  const registry = await startRegistry(databaseFile, folder);
  const fastify = await startPeer('fastify', [], { REGISTRY_DB: databaseFile }, folder);
  const [own, other] = await Promise.all([registry, fastify].map(({ port }) => firstRows(port, keys.basic)));
  if (own !== other) throw new Error('The registry and Fastify do not list the same rows.');
  const script = requestScript(
    folder,
    'list',
    keys.basic,
    '',
    '  return wrk.format("GET", "/api/v1/members/")',
  );
  const load = { seconds, connections: CONNECTIONS };
  return inTurn(rounds, [
    { name: 'registry', measure: () => measure(registry.port, script, load) },
    { name: 'fastify', measure: () => measure(fastify.port, script, load) },
  ]);
}

/** The count and the rows of page 1, without its links. */
async function firstRows(port: number, key: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/members/`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  const { count, results } = (await response.json()) as { count: number; results: object[] };
  return JSON.stringify([count, results]);
}
