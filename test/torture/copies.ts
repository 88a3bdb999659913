/**
 * Two machines, which are two folders here, take over from each other while payments are recorded and people
 * looked up (docs/spare-machine.md). Restores are killed, and run again: nothing that was acknowledged is
 * lost, and no reading.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { command, type RunningCommand } from '../support/command.ts';
import { findLedgerFaults } from '../support/sqlite-ledger-faults.ts';
import { FAULTS, type Fault } from './faults.ts';
import type { Outcome, TortureOptions } from './figures.ts';
import { type Payments, startPayments } from './kills/payments.ts';
import { findLosses, totalsOf } from './kills/verify.ts';
import { type Lookups, startLookups } from './lookups.ts';
import { createRandom } from './random.ts';
import { createRegistry } from './registry.ts';
import { checkSound, kill, serve, start } from './service.ts';

const AMOUNTS = { full: { switches: 40 }, small: { switches: 3 } } as const;
/** A killed one leaves half of them done, about. */
const STEP = 1.2;
/** All of it, or all but the access ledger. */
const DONE = [0, 3];

class Machines {
  private readonly root: string;
  private readonly faulty: readonly Fault[];
  private readonly random: () => number;
  private readonly typicalMs = { takeOver: 1_200, restore: 900 };
  private active = 0;
  killed = 0;

  constructor(root: string, random: () => number, faulty: readonly Fault[]) {
    [this.root, this.random, this.faulty] = [root, random, faulty];
    for (const name of ['0', '1', 'backups']) mkdirSync(join(root, name), { recursive: true });
  }

  get db(): string {
    return join(this.root, String(this.active), 'registry.db');
  }

  serve() {
    return serve(this.db, { faults: this.faulty });
  }

  /** Makes the other machine the one that serves: of a backup that was just made, nothing is lost. */
  async takeOver(): Promise<void> {
    const all = join(this.root, 'backups');
    const { status, err } = await command(['backup', all, '--keep', '3', '--yes', '--db', this.db]);
    if (status !== 0) throw new Error(`backup: ${err}`);
    this.active = 1 - this.active;
    await this.killThenFinish('takeOver', () =>
      start(this.db, ['restore', '--newest', all, '--replace'], { faults: this.faulty }),
    );
  }

  /** Of a backup that was just made: nothing is lost. */
  async restore(name: string): Promise<void> {
    const backup = join(this.root, name);
    const { status, err } = await command(['backup', backup, '--db', this.db]);
    if (status !== 0) throw new Error(`backup: ${err}`);
    await this.killThenFinish('restore', () =>
      start(this.db, ['restore', backup, '--replace'], { faults: this.faulty }),
    );
  }

  private async killThenFinish(kind: 'takeOver' | 'restore', run: () => RunningCommand): Promise<void> {
    const first = run();
    const afterMs = this.typicalMs[kind] * (0.2 + this.random());
    const isKilled = await Promise.race([first.ended.then(() => false), sleep(afterMs, true)]);
    if (isKilled) {
      this.killed++;
      await kill(first);
    }
    this.typicalMs[kind] *= isKilled ? STEP : 1 / STEP;
    if (!isKilled && DONE.includes((await first.ended) ?? -1)) return;
    const again = run();
    const status = await again.ended;
    if (!DONE.includes(status ?? -1)) throw new Error(`${kind}: ${first.output()}${again.output()}`);
  }
}

interface Switched {
  readonly faults: readonly string[];
  readonly ledgerFaults: readonly string[];
  readonly payments: Payments;
  readonly lookups: Lookups;
  readonly killed: number;
}

async function switchOften(
  root: string,
  switches: number,
  { seed, progress }: TortureOptions,
  faulty: readonly Fault[] = [],
): Promise<Switched> {
  const random = createRandom(seed);
  const machines = new Machines(root, random, faulty);
  const registry = await createRegistry(machines.db);
  const before = totalsOf(machines.db);
  const payments = startPayments(registry, random);
  const lookups = startLookups(registry.key, random);
  const [faults, ledgerFaults] = [[] as string[], [] as string[]];
  let last: RunningCommand | undefined;
  try {
    for (let i = 1; i <= switches; i++) {
      const { server, client } = await machines.serve();
      last = server;
      const working = Promise.all([payments.writeTo(client), lookups.readFrom(client)]);
      await sleep(300 + random() * 500);
      await kill(server);
      await working;
      await machines.takeOver();
      if (i % 2 === 0) await machines.restore(`backup-${i}`);
      const next = await machines.serve();
      last = next.server;
      await payments.finish(next.client);
      await kill(next.server);
      faults.push(...findLosses(machines.db, payments, before), ...(await checkSound(machines.db)));
      ledgerFaults.push(...findLedgerFaults(machines.db, lookups.receipts));
      progress(`${i} of ${switches} switches, ${payments.acknowledged.length} payments`);
      for (const line of [...faults, ...ledgerFaults].slice(0, 5)) progress(`${line}\n`);
      if (faults.length + ledgerFaults.length > 0) break;
    }
  } finally {
    if (last !== undefined) await kill(last);
  }
  return { faults, ledgerFaults, payments, lookups, killed: machines.killed };
}

export async function switchMachines(options: TortureOptions): Promise<Outcome> {
  const { switches } = AMOUNTS[options.isSmall ? 'small' : 'full'];
  const sound = await switchOften(join(options.folder, 'sound'), switches, options);
  const withFault = (fault: Fault, name: string, times: number) =>
    switchOften(
      join(options.folder, name),
      times,
      { ...options, progress: (text) => options.progress(`with a fault: ${text}`) },
      [fault],
    );
  const { forgetsMoving, forgetsReadings } = FAULTS;
  const [mixed, forgetful] = [
    await withFault(forgetsMoving, 'no-move', 3),
    await withFault(forgetsReadings, 'no-readings', 3),
  ];
  return {
    figures: [
      {
        what: 'kill -9 of restores between two machines: payments lost, done twice or in part',
        howOften:
          `${switches} switches, ${sound.killed} restores killed ` +
          `(${sound.payments.acknowledged.length} payments)`,
        lost: sound.faults.length,
        fault: forgetsMoving.name,
        caught: mixed.faults[0] ?? 'not at all',
        isCaught: mixed.faults.length > 0,
      },
      {
        what: 'the same kills: answered but unrecorded lookups',
        howOften: `${sound.lookups.receipts.size} lookups`,
        lost: sound.ledgerFaults.length + sound.lookups.unrecorded,
        fault: forgetsReadings.name,
        caught: forgetful.ledgerFaults[0] ?? 'not at all',
        isCaught: forgetful.ledgerFaults.length > 0,
      },
    ],
  };
}
