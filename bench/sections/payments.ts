/** A year of payments over HTTP, in a copy of the registry, and what lookups cost after it. */
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { copyRegistry, createKey, type Dataset } from '../dataset.ts';
import { type Figures, inTurn, lookupScript, measure, type Options, startRegistry } from '../load.ts';
import { identityCard, memberWithEntries } from '../population.ts';
import { MILK } from '../rows.ts';

const CONNECTIONS = 32;
const WRITERS = 64;
/** Who repays: of four persons three have a loan that is being repaid. */
const PERSONS = 2_000;
const MONTHS = 12;

const CHOSEN = { first: MILK.members, count: PERSONS };

interface Caller {
  readonly port: number;
  readonly key: string;
  readonly agent: Agent;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

function call({ port, key, agent }: Caller, method: string, path: string, body?: object): Promise<Answer> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port, path: `/api/v1${path}`, method, headers, agent },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    outgoing.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Works on a list from 64 connections. */
async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  async function workOneByOne(): Promise<void> {
    for (;;) {
      const item = items[next++];
      if (item === undefined) return;
      await work(item);
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, workOneByOne));
}

async function findLoans(caller: Caller, { population }: Dataset): Promise<string[]> {
  const persons = Array.from({ length: PERSONS }, (_, k) =>
    identityCard(memberWithEntries(CHOSEN.first + k, population)),
  );
  const loans = new Set<string>();
  await inParallel(persons, async (person) => {
    const { status, text } = await call(caller, 'GET', `/loans?identity_card=${person}&status=approved`);
    if (status !== 200) throw new Error(`A list of loans is answered ${status}: ${text}`);
    for (const { id } of (JSON.parse(text) as { results: { id: string }[] }).results) loans.add(id);
  });
  return [...loans];
}

/** @returns payments per second, each acknowledged when it is on disk */
async function payForAYear(caller: Caller, loans: readonly string[]): Promise<number> {
  // Month by month, as in life: not one loan after the other.
  const payments = Array.from({ length: MONTHS }, (_, month) =>
    loans.map((loan_id) => ({ loan_id, reference: `PAY-${loan_id}-${month}` })),
  ).flat();
  const startedMs = performance.now();
  await inParallel(payments, async (payment) => {
    const body = { ...payment, amount: '1000.00', method: 'mobile_money' };
    const { status, text } = await call(caller, 'POST', '/payments', body);
    if (status !== 201) throw new Error(`A payment is answered ${status}: ${text}`);
  });
  return (payments.length * 1000) / (performance.now() - startedMs);
}

export interface Payments {
  readonly perSecond: number;
  readonly lookups: Figures;
}

export async function payments(dataset: Dataset, options: Options): Promise<Payments> {
  const { folder, rounds, seconds } = options;
  const { databaseFile, population, keys } = dataset;
  const copy = copyRegistry(dataset, join(folder, 'repaid'));
  const key = await createKey(copy, ['loans:read', 'payments:write']);
  const imported = await startRegistry(databaseFile, folder);
  const repaid = await startRegistry(copy, folder);
  const agent = new Agent({ keepAlive: true, maxSockets: WRITERS });
  const caller = { port: repaid.port, key, agent };
  const perSecond = await payForAYear(caller, await findLoans(caller, dataset));
  agent.destroy();
  const script = lookupScript(folder, 'payments', keys.full, population, CHOSEN);
  const load = { seconds, connections: CONNECTIONS };
  const lookups = await inTurn(rounds, [
    { name: 'after a year of payments', measure: () => measure(repaid.port, script, load) },
    { name: 'after an import', measure: () => measure(imported.port, script, load) },
  ]);
  return { perSecond, lookups };
}
