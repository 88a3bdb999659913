/** New members, each acknowledged when it is on disk, in copies of the registry. */
import { join } from 'node:path';
import { copyRegistry, type Dataset } from '../dataset.ts';
import {
  type Figures,
  inTurn,
  measure,
  type Options,
  requestScript,
  type Server,
  type Subject,
  startPeer,
  startRegistry,
} from '../load.ts';
import { COOPERATIVES } from '../population.ts';

let started = 0;

/** A script that posts members whom nobody has posted before. */
function writeScript(folder: string, key: string): string {
  const run = started++;
  const member = [
    '"cooperative_id":"%d"',
    '"identity_card":"120068%d042"',
    `"member_code":"W-${run}-%d"`,
    '"full_name":"Example Person"',
    '"gender":"FEMALE"',
    '"mobile":"+250788000000"',
    '"registration_date":"2024-03-31"',
  ].join(',');
  return requestScript(
    folder,
    `write ${run}`,
    key,
    'local i = 0\nwrk.headers["Content-Type"] = "application/json"',
    `  i = i + 1
  local order = ${9_000_000 + run * 60_000} + i
  local body = string.format('{${member}}', 1 + i % ${COOPERATIVES}, order, i)
  return wrk.format("POST", "/api/v1/members", nil, body)`,
  );
}

export async function writes(dataset: Dataset, options: Options): Promise<Figures> {
  const { folder, rounds, seconds } = options;
  const key = dataset.keys.writing;
  const registry = await startRegistry(copyRegistry(dataset, join(folder, 'own')), folder);
  const peerFile = copyRegistry(dataset, join(folder, 'peer'));
  const fastify = await startPeer('fastify', [], { REGISTRY_DB: peerFile }, folder);
  const subject = (name: string, server: Server, connections: number): Subject => ({
    name,
    measure: () => measure(server.port, writeScript(folder, key), { seconds, connections }),
  });
  return inTurn(rounds, [
    subject('POST /members, 64 connections', registry, 64),
    subject('POST /members, 1 connection', registry, 1),
    subject('fastify, single insert, 1 connection', fastify, 1),
  ]);
}
