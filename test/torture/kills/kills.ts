/**
 * Kills: the service and commands die again and again while payments are recorded, people looked up, members
 * merged, files imported and undone, and webhooks delivered.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningCommand } from '../../support/command.ts';
import { findLedgerFaults } from '../../support/sqlite-ledger-faults.ts';
import { FAULTS, type Fault } from '../faults.ts';
import type { Outcome, TortureOptions } from '../figures.ts';
import { startLookups } from '../lookups.ts';
import { createRandom } from '../random.ts';
import { createRegistry } from '../registry.ts';
import { checkSound, kill, type Service, serve, start } from '../service.ts';
import { startCommands } from './commands.ts';
import { startPayments } from './payments.ts';
import { startReceiver } from './receiver.ts';
import { findLosses, totalsOf } from './verify.ts';

const AMOUNTS = {
  full: { kills: 200, killsWithFault: 10, checkEach: 10 },
  small: { kills: 3, killsWithFault: 5, checkEach: 1 },
} as const;

interface Killed {
  /** What was lost, done twice or by half, a line each. */
  readonly faults: readonly string[];
  readonly ledgerFaults: readonly string[];
  readonly text: string;
  readonly responses: number;
}

async function killAll(
  folder: string,
  kills: number,
  { seed, isSmall, progress }: TortureOptions,
  faulty: readonly Fault[] = [],
): Promise<Killed> {
  const random = createRandom(seed);
  const { checkEach } = AMOUNTS[isSmall ? 'small' : 'full'];
  const db = join(folder, 'registry.db');
  const faults: string[] = [];
  const find = (found: readonly string[]) => {
    faults.push(...found);
    for (const line of found.slice(0, 20)) progress(`${line}\n`);
  };
  const running = new Set<RunningCommand>();
  const run = (args: readonly string[]): RunningCommand => {
    const started = start(db, args, { faults: faulty });
    running.add(started);
    return started;
  };
  const startService = async (): Promise<Service> => {
    const service = await serve(db, { faults: faulty });
    running.add(service.server);
    return service;
  };

  const registry = await createRegistry(db);
  const before = totalsOf(db);
  const payments = startPayments(registry, random);
  const lookups = startLookups(registry.key, random);
  const receiver = await startReceiver(db);
  const commands = startCommands(db, run, random);
  try {
    for (let i = 1; i <= kills; i++) {
      const { server, client } = await startService();
      const working = Promise.all([payments.writeTo(client), lookups.readFrom(client), commands.runNext()]);
      // The first response takes longest: only some kills come before it.
      if (random() < 0.8) await lookups.lookUp(client);
      await sleep(random() * 700);
      await kill(server);
      await working;
      // Damage stays: what a check of the growing registry would take is spent on kills.
      if (i % checkEach === 0) find(await checkSound(db));
      find(commands.takeFaults());
      progress(`${i} of ${kills} kills, ${payments.acknowledged.length} payments`);
    }
    const { server, client } = await startService();
    await payments.finish(client);
    await receiver.waitFor();
    await kill(server);
    find(await checkSound(db));
    find([...findLosses(db, payments, before), ...receiver.findLosses()]);
  } finally {
    receiver.close();
    await Promise.all([...running].map(kill));
  }
  const { acknowledged, repeated, replayed } = payments;
  const { killed, done } = commands.counts;
  return {
    faults,
    ledgerFaults: [
      ...findLedgerFaults(db, lookups.receipts),
      ...(lookups.unrecorded > 0 ? [`${lookups.unrecorded} responses had no receipt.`] : []),
    ],
    responses: lookups.receipts.size,
    text:
      `${kills}, and ${killed} of commands (${acknowledged.length} payments, ${repeated} sent again ` +
      `and ${replayed} replayed; ${done} merges, imports and undos; ${receiver.repeated} webhooks repeated)`,
  };
}

export async function killServices(options: TortureOptions): Promise<Outcome> {
  const { folder, isSmall, progress } = options;
  const { kills, killsWithFault } = AMOUNTS[isSmall ? 'small' : 'full'];
  const sound = await killAll(join(folder, 'sound'), kills, options);
  for (const line of sound.ledgerFaults.slice(0, 20)) progress(`${line}\n`);
  const fault = FAULTS.acknowledgesEarly;
  const withFaults = { ...options, progress: (text: string) => progress(`with the faults: ${text}`) };
  const planted = [fault, FAULTS.answersUnwritten];
  const faulty = await killAll(join(folder, 'fault'), killsWithFault, withFaults, planted);
  return {
    figures: [
      {
        what: 'kill -9 of the service and commands: work lost, done twice, in part or out of order',
        howOften: sound.text,
        lost: sound.faults.length,
        fault: fault.name,
        caught: `${faulty.faults.length} times in ${killsWithFault} kills`,
        isCaught: faulty.faults.length > 0,
      },
      {
        what: 'the same kills: answered but unrecorded lookups',
        howOften: `${sound.responses} lookups`,
        lost: sound.ledgerFaults.length,
        fault: FAULTS.answersUnwritten.name,
        caught: faulty.ledgerFaults.join(' ') || 'not at all',
        isCaught: faulty.ledgerFaults.length > 0,
      },
    ],
  };
}
