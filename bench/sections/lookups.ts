/** The lookup at 200,000 memberships beside a bare server and Fastify. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Dataset } from '../dataset.ts';
import {
  type Figures,
  inTurn,
  lookupScript,
  measure,
  type Options,
  type Server,
  type Subject,
  startPeer,
  startRegistry,
} from '../load.ts';
import { identityCard, memberWithEntries } from '../population.ts';
import { MILK } from '../rows.ts';

const CONNECTIONS = 32;
const SAMPLE = 10_000;
/** Sent by node:http itself. */
const OWN_HEADERS = ['connection', 'date', 'keep-alive'];

/** What the bare server sends for a path. */
export async function copyResponse(server: Server, path: string, key: string) {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !OWN_HEADERS.includes(name)));
  return { path, status: response.status, headers, body: await response.text() };
}

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
    const answer = await copyResponse(server, path, key);
    if (answer.status !== 200) throw new Error(`A lookup is answered ${answer.status}.`);
    answers.push(answer);
  }
  writeFileSync(file, JSON.stringify(answers));
}

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
  return inTurn(rounds, subjects);
}
