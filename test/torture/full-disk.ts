/** A disk that fills: writes are refused and reads go on, and after room is made everything goes on. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningCommand } from '../support/command.ts';
import { fill, mount } from '../support/small-disk.ts';
import { findLedgerFaults } from '../support/sqlite-ledger-faults.ts';
import type { Client } from './client.ts';
import { FAULTS, type Fault } from './faults.ts';
import type { Outcome, TortureOptions } from './figures.ts';
import { startPayments } from './kills/payments.ts';
import { findLosses, totalsOf } from './kills/verify.ts';
import { type Lookups, startLookups } from './lookups.ts';
import { createRandom } from './random.ts';
import { createRegistry } from './registry.ts';
import { checkSound, kill, serve } from './service.ts';

const AMOUNTS = { full: 10, small: 1 } as const;
/** Room for the payments of all rounds, and for the 64 MB below which writes are refused. */
const DISK_MB = 480;
/** The reserve has room for about 70,000; fewer than this is a fault. */
const MAX_LOOKUPS = 30_000;
const CLIENTS = 16;
/** The service asks the disk once a second. */
const LOOKED_MS = 1_200;

interface Round {
  readonly faults: string[];
  readonly client: Client;
  readonly key: string;
  readonly lookups: Lookups;
}

/** A write that is not one of the payments. @returns what is wrong, if it should be refused and is not */
async function refusalOf({ client, key }: Round): Promise<string | undefined> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const { status, text } = await client('/api/v1/cooperatives', headers, '{"code":"FULL","name":"Full"}');
  return status === 503 && text.includes('nearly full')
    ? undefined
    : `A write on a full disk: ${status} ${text}`;
}

/** Looks people up on a disk that is full to the last byte. @returns how many were recorded */
async function useReserve({ client, lookups, faults }: Round): Promise<number> {
  const before = lookups.receipts.size;
  let [isRefused, asked] = [false, 0];
  const one = async () => {
    while (!isRefused && lookups.repeated === 0 && asked++ < MAX_LOOKUPS) {
      const status = await lookups.lookUp(client);
      if (status === 503) isRefused = true;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, one));
  const recorded = lookups.receipts.size - before;
  if (isRefused) faults.push(`A lookup on a full disk was refused after ${recorded}.`);
  return recorded;
}

async function fillOnce(folder: string, usesReserve: boolean, round: Round): Promise<number> {
  const { client, lookups, faults } = round;
  let reserve = 0;
  for (const leftMb of [40, 0]) {
    fill(folder, leftMb);
    await sleep(LOOKED_MS);
    const fault = await refusalOf(round);
    if (fault !== undefined) faults.push(fault);
    if ((await lookups.lookUp(client)) === 503) faults.push(`A lookup with ${leftMb} MB free: 503`);
  }
  if (usesReserve) reserve = await useReserve(round);
  if ((await client('/healthz', {}, undefined, 'GET')).status !== 200)
    faults.push('/healthz does not answer.');
  rmSync(join(folder, 'ballast'));
  return reserve;
}

async function fillDisk(root: string, rounds: number, random: () => number, planted: readonly Fault[] = []) {
  const folder = join(root, 'disk');
  const lacking = mount(folder, DISK_MB);
  if (lacking !== undefined) return { skipped: lacking };
  const unmount = () => execFileSync('umount', ['--lazy', folder]);
  // Before what is in it is removed.
  process.prependOnceListener('exit', unmount);
  let running: RunningCommand | undefined;
  try {
    const db = join(folder, 'registry.db');
    const registry = await createRegistry(db);
    const before = totalsOf(db);
    const { server, client } = await serve(db, { faults: planted });
    running = server;
    const faults: string[] = [];
    const payments = startPayments(registry, random);
    const lookups = startLookups(registry.key, random);
    const round: Round = { faults, client, key: registry.key, lookups };
    let reserve = 0;
    let isStopping = false;
    const writing = payments.writeTo(async (...request) => {
      if (isStopping) throw new Error('Enough was written.');
      return client(...request);
    });
    for (let i = 0; i < rounds; i++) {
      await sleep(300);
      reserve = Math.max(reserve, await fillOnce(folder, i === 0, round));
      const acknowledged = payments.acknowledged.length;
      for (let waited = 0; payments.acknowledged.length === acknowledged && waited < 50; waited++)
        await sleep(100);
      if (payments.acknowledged.length === acknowledged)
        faults.push('Writes do not go on when there is room.');
      if ((await lookups.lookUp(client).catch(() => 0)) === 503) faults.push('Lookups do not go on.');
    }
    isStopping = true;
    await writing;
    await payments.finish(client).catch((error: Error) => faults.push(error.message));
    await kill(server);
    faults.push(...(await checkSound(db)), ...findLosses(db, payments, before));
    const ledgerFaults = findLedgerFaults(db, lookups.receipts);
    if (lookups.unrecorded > 0) ledgerFaults.push(`${lookups.unrecorded} responses had no receipt.`);
    return { faults, ledgerFaults, reserve, acknowledged: payments.acknowledged.length };
  } finally {
    if (running !== undefined) await kill(running);
    process.off('exit', unmount);
    unmount();
  }
}

export async function fillDisks({ folder, isSmall, seed, progress }: TortureOptions): Promise<Outcome> {
  const random = createRandom(seed);
  const rounds = AMOUNTS[isSmall ? 'small' : 'full'];
  progress('filling a small disk');
  const sound = await fillDisk(join(folder, 'sound'), rounds, random);
  if (sound.skipped !== undefined) return { skipped: sound.skipped };
  for (const line of [...sound.faults, ...sound.ledgerFaults].slice(0, 20)) progress(`${line}\n`);
  progress('filling one with a fault');
  const [stops, tells] = [FAULTS.failsWhenFull, FAULTS.answersUnrecorded];
  const stopping = await fillDisk(join(folder, 'stops'), 1, random, [stops]).catch((error: Error) => ({
    ...{ faults: [`${error.message}: the service has ended`], skipped: undefined },
  }));
  const telling = await fillDisk(join(folder, 'tells'), 1, random, [tells, FAULTS.noReserve]);
  if (stopping.skipped !== undefined || telling.skipped !== undefined) throw new Error('No disk.');
  return {
    figures: [
      {
        what: 'a disk that fills: writes lost, refused without the reason, or refused after room returns',
        howOften: `${2 * rounds} times (${sound.acknowledged} writes)`,
        lost: sound.faults.length,
        fault: stops.name,
        caught: stopping.faults[0] ?? 'not at all',
        isCaught: stopping.faults.length > 0,
      },
      {
        what: 'the same disk: answered but unrecorded lookups',
        howOften: `${sound.reserve} lookups`,
        lost: sound.ledgerFaults.length,
        fault: tells.name,
        caught: telling.ledgerFaults.join(' ') || 'not at all',
        isCaught: telling.ledgerFaults.length > 0,
      },
    ],
  };
}
