/** A wall clock that steps by hours, back and forth, under a service: nothing is early, late or twice. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { command } from '../support/command.ts';
import { findLedgerFaults } from '../support/sqlite-ledger-faults.ts';
import type { Client } from './client.ts';
import { FAULTS, type Fault, steppedClock } from './faults.ts';
import type { Outcome, TortureOptions } from './figures.ts';
import { startReceiver } from './kills/receiver.ts';
import { startLookups } from './lookups.ts';
import { createRandom } from './random.ts';
import { createRegistry } from './registry.ts';
import { checkSound, kill, serve } from './service.ts';

const AMOUNTS = { full: 40, small: 4 } as const;
const HOUR_MS = 3_600_000;
/** Each way; any two instants are less than a day apart, as long as responses are kept. */
const FARTHEST_MS = 11 * HOUR_MS;
const EXPIRES_AFTER_MS = 4 * HOUR_MS;
const LIMIT_PER_HOUR = 3;
const RETRY_AFTER_MS = 1_000;
/** On a busy machine a retry takes longer than it is meant to, but not hours. */
const LATE_MS = 30_000;

interface Stepped {
  readonly faults: string[];
  readonly webhookFaults: string[];
}

const now = () => performance.now();
const STATISTICS = '/api/v1/statistics';

/** @returns what is wrong, a line each */
async function step(
  folder: string,
  steps: number,
  { seed, progress }: TortureOptions,
  faulty: readonly Fault[] = [],
): Promise<Stepped> {
  const random = createRandom(seed);
  const db = join(folder, 'registry.db');
  const file = join(folder, 'clock');
  const { key, loans } = await createRegistry(db);
  const newKey = async (...args: string[]): Promise<string> => {
    const { out, err } = await command(['keys', 'create', ...args, '--json', '--db', db]);
    if (err !== '') throw new Error(err);
    return (JSON.parse(out) as { key: string }).key;
  };
  const expiresMs = Date.now() + EXPIRES_AFTER_MS;
  const expires = new Date(expiresMs).toISOString().replace(/\.\d+Z$/, '+00:00');
  const reading = ['--scope', 'members:read,cooperatives:read,members:financials'];
  const many = ['--per-hour', '1000000', '--per-day', '1000000'];
  const expiring = await newKey('--name', 'expiring', ...reading, ...many, '--expires', expires);
  const unlimited = await newKey('--name', 'unlimited', ...reading, ...many);
  const limited = await newKey('--name', 'limited', ...reading, '--per-hour', String(LIMIT_PER_HOUR));
  const [faults, webhookFaults]: [string[], string[]] = [[], []];
  const say = (to: string[], fault: string) => {
    to.push(fault);
    progress(`${fault}\n`);
  };

  /** When the retry of each message may come. */
  const refused = new Map<string, number>();
  const receiver = await startReceiver(db, (id, response) => {
    const dueMs = refused.get(id);
    if (dueMs === undefined) {
      refused.set(id, now() + RETRY_AFTER_MS);
      response.writeHead(503, { 'Retry-After': String(RETRY_AFTER_MS / 1_000) });
      return;
    }
    if (now() < dueMs) say(webhookFaults, `A webhook came ${Math.ceil(dueMs - now())} ms early.`);
    response.writeHead(204);
  });
  let offsetMs = 0;
  const setClock = (ms: number) => {
    offsetMs = ms;
    writeFileSync(file, String(ms));
  };
  setClock(0);
  const { server, client } = await serve(db, { faults: [steppedClock(file), ...faulty] });
  const get = (path: string, bearer: string) =>
    client(path, { Authorization: `Bearer ${bearer}` }, undefined, 'GET');
  const lookups = startLookups(key, random);
  const paid: string[] = [];

  /** The service knows of the refusal and has stored when it tries again. */
  async function isRetrying(): Promise<boolean> {
    const { out } = await command(['webhooks', 'list', '--json', '--db', db]);
    const { webhooks } = JSON.parse(out) as { webhooks: { next_attempt_at: string | null }[] };
    return webhooks[0]?.next_attempt_at !== null || receiver.missing() === 0;
  }

  async function checkLimit(): Promise<void> {
    const { status } = await get(STATISTICS, limited);
    if (status !== 429) say(faults, `A limit was opened: ${status}.`);
    const { status: other } = await get(STATISTICS, unlimited);
    if (other !== 200) say(faults, `A limit was locked: ${other}.`);
  }

  async function checkExpiry(): Promise<void> {
    const expected = Date.now() + offsetMs < expiresMs ? 200 : 401;
    const { status } = await get(STATISTICS, expiring);
    if (status !== expected) say(faults, `A key that expires was answered ${status}, not ${expected}.`);
  }

  async function checkPayment(number: number): Promise<void> {
    const { id, isReplayed } = await pay(client, key, number, loans);
    if (!isReplayed || id !== paid[number]) say(faults, `Payment ${number} was recorded again.`);
  }

  /** Served as a command with the same clock adds them up. */
  async function checkStatistics(): Promise<void> {
    const { text } = await get(STATISTICS, unlimited);
    const clock = { now: () => Date.now() + offsetMs, monotonicMs: now };
    const { out } = await command(['statistics', '--json', '--db', db], {}, clock);
    const sumsOf = (json: string) => JSON.stringify({ ...JSON.parse(json), as_of: undefined });
    if (sumsOf(text) !== sumsOf(out)) say(faults, 'Statistics differ from those of a command.');
  }

  try {
    for (let i = 0; i < LIMIT_PER_HOUR; i++) await get(STATISTICS, limited);
    for (let i = 0; i < steps; i++) {
      const { id } = await pay(client, key, i, loans);
      paid.push(id);
      if (!(await comes(async () => refused.size > i && (await isRetrying())))) {
        say(webhookFaults, `Webhook ${i} was not sent within ${LATE_MS} ms.`);
        break;
      }
      // Forth and back in turn.
      setClock(Math.round((i % 2 === 0 ? 1 : -1) * (HOUR_MS + random() * (FARTHEST_MS - HOUR_MS))));
      await lookups.lookUp(client);
      await checkLimit();
      await checkExpiry();
      await checkPayment(Math.floor(random() * paid.length));
      await checkStatistics();
      if (!(await comes(async () => receiver.missing() === 0))) {
        say(webhookFaults, `Webhook ${i} was not sent again within ${LATE_MS} ms.`);
        break;
      }
      progress(`${i + 1} of ${steps} steps, now ${(offsetMs / HOUR_MS).toFixed(1)} hours`);
    }
    webhookFaults.push(...receiver.findLosses());
  } finally {
    await kill(server);
    receiver.close();
  }
  const sequences = [...lookups.receipts].map((receipt) => Number(receipt.split('-')[0]));
  if (sequences.some((sequence, i) => i > 0 && sequence <= (sequences[i - 1] ?? 0)))
    faults.push(`The ledger is out of order: ${sequences.join(' ')}`);
  faults.push(...findLedgerFaults(db, lookups.receipts), ...(await checkSound(db)));
  const verified = await command(['ledger', 'verify', '--db', db]);
  if (verified.status !== 0) faults.push(`${verified.out}${verified.err}`);
  return { faults, webhookFaults };
}

async function pay(client: Client, key: string, number: number, loans: number) {
  const headers = {
    ...{ Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    'Idempotency-Key': `payment-${number}`,
  };
  const fields = { loan_id: String(1 + (number % loans)), amount: '1.00', method: 'cash' };
  const body = JSON.stringify({
    ...{ ...fields, reference: `P-${number}`, paid_at: '2026-06-01T08:00:00+02:00' },
  });
  const { status, text, isReplayed } = await client('/api/v1/payments', headers, body);
  if (status !== 201) throw new Error(`${status}: ${text}`);
  return { id: (JSON.parse(text) as { id: string }).id, isReplayed };
}

async function comes(hasCome: () => Promise<boolean>): Promise<boolean> {
  for (const sinceMs = now(); now() - sinceMs < LATE_MS; await sleep(20)) if (await hasCome()) return true;
  return hasCome();
}

export async function stepClocks(options: TortureOptions): Promise<Outcome> {
  const { folder, isSmall } = options;
  const steps = AMOUNTS[isSmall ? 'small' : 'full'];
  const sound = await step(join(folder, 'sound'), steps, options);
  const [limits, retries] = [FAULTS.limitsByWallClock, FAULTS.retriesByWallClock];
  const progress = (text: string) => options.progress(`with the faults: ${text}`);
  const faulty = await step(join(folder, 'fault'), 2, { ...options, progress }, [limits, retries]);
  const figure = (what: string, faults: readonly string[], fault: Fault, caught: readonly string[]) => ({
    ...{ what, howOften: `${steps}, each up to 22 hours`, lost: faults.length, fault: fault.name },
    ...{ caught: caught[0] ?? 'not at all', isCaught: caught.length > 0 },
  });
  return {
    figures: [
      figure(
        'steps of the clock: limits exceeded, payments done twice, keys, sums or the ledger wrong',
        ...[sound.faults, limits, faulty.faults],
      ),
      figure(
        'the same steps: webhooks early, late, lost or out of order',
        ...[sound.webhookFaults, retries, faulty.webhookFaults],
      ),
    ],
  };
}
