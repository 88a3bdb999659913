/** A disk whose fsync fails: nothing is acknowledged from then on, the service says so and ends. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { missing } from '../deploy/programs.ts';
import { command } from '../support/command.ts';
import { findLedgerFaults } from '../support/sqlite-ledger-faults.ts';
import { FAULTS, type Fault } from './faults.ts';
import type { Outcome, TortureOptions } from './figures.ts';
import { startPayments } from './kills/payments.ts';
import { findLosses, totalsOf } from './kills/verify.ts';
import { startLookups } from './lookups.ts';
import { createRandom } from './random.ts';
import { createRegistry } from './registry.ts';
import { checkSound, kill, serve } from './service.ts';

const AMOUNTS = { full: 20, small: 2 } as const;
/** Writes that are tried after the first that failed. */
const TRIED = 50;
/** Writes after which it gives up to wait for a failure. */
const MOST = 2_000;
/** Of the syncs of the WAL those that may fail. */
const FROM = 12;
const FAILURES = 60;

/** Of other files no sync fails. */
const failing = (file: string, when: string): string[] => [
  ...['strace', '-f', '-qq', '--seccomp-bpf', '-o', '/dev/null', '-P', file, '-e', 'trace=fsync'],
  ...['-e', `inject=fsync:error=EIO:when=${when}`],
];

/** @returns what is wrong, a line each, and how many writes were acknowledged before */
async function failOnce(folder: string, nth: number, random: () => number, planted: readonly Fault[] = []) {
  const db = join(folder, 'registry.db');
  const registry = await createRegistry(db);
  const before = totalsOf(db);
  const faults: string[] = [];
  // What the first start creates is synced by then.
  await kill((await serve(db)).server);
  // A checkpoint may meet the first: SQLite passes over it, as commits have synced all that is there.
  // The next one is of a commit then.
  const runner = failing(`${db}-wal`, `${nth}..${nth + 1}`);
  const { server, client } = await serve(db, { faults: planted, runner });
  try {
    let isFailing = false;
    let acknowledgedAfter = 0;
    let tried = 0;
    const payments = startPayments(registry, random);
    await payments.writeTo(async (...request) => {
      // A failure that no write meets would be waited for without end.
      if (tried >= TRIED || payments.acknowledged.length >= MOST) throw new Error('Enough was tried.');
      const isLate = isFailing;
      if (isLate) tried++;
      const answer = await client(...request);
      if (answer.status === 503 && answer.text.includes('takes no writes any more')) isFailing = true;
      if (answer.status === 201 && isLate) acknowledgedAfter++;
      return answer;
    });
    // A service that does not notice would not end either.
    if (!isFailing) faults.push('No write was refused because of the disk.');
    else if (acknowledgedAfter > 0)
      faults.push(`${acknowledgedAfter} writes were acknowledged after the disk had failed.`);
    else if ((await server.ended) === 0 || !server.output().includes('check --db'))
      faults.push(`The service does not say why it ended: ${server.output()}`);
    await kill(server);
    faults.push(...(await checkSound(db)));
    const acknowledged = payments.acknowledged.length;
    // What was refused may have been written all the same: it is sent again, as a client would.
    const again = await serve(db);
    await payments.finish(again.client);
    await kill(again.server);
    faults.push(...findLosses(db, payments, before), ...(await checkSound(db)));
    return { faults, acknowledged };
  } finally {
    await kill(server);
  }
}

const LOOKUPS = 40;
/** @returns what is wrong, a line each: a reading whose sync fails is recorded in a new file, or refused */
async function failLedger(folder: string, nth: number, random: () => number, planted: readonly Fault[] = []) {
  const db = join(folder, 'registry.db');
  const { key } = await createRegistry(db);
  // It creates the file, and its log is left to the next one.
  await kill((await serve(db)).server);
  // The file of a reading before, which the next service goes on with.
  await command(['members', 'find', 'Uwase', '--db', db]);
  const [name = ''] = readdirSync(join(folder, 'registry.ledger')).filter((each) => each.endsWith('.db'));
  const log = join(folder, 'registry.ledger', `${name}-wal`);
  const { server, client } = await serve(db, {
    faults: planted,
    runner: failing(log, `${nth}..${nth + 1}`),
  });
  const lookups = startLookups(key, random);
  let refused = 0;
  try {
    for (let i = 0; i < LOOKUPS; i++) if ((await lookups.lookUp(client)) === 503) refused++;
  } finally {
    await kill(server);
  }
  const faults = findLedgerFaults(db, lookups.receipts);
  // One may be of a checkpoint or of the reserve, which are done again.
  if (refused > 2) faults.push(`${refused} lookups were refused as two syncs failed.`);
  if (lookups.unrecorded > 0) faults.push(`${lookups.unrecorded} responses had no receipt.`);
  return faults;
}

export async function failSyncs({ folder, isSmall, seed, progress }: TortureOptions): Promise<Outcome> {
  const lacking = missing('strace');
  if (lacking !== false) return { skipped: `${lacking} apt-get install strace` };
  const random = createRandom(seed);
  const times = AMOUNTS[isSmall ? 'small' : 'full'];
  const faults: string[] = [];
  const find = (to: string[], found: readonly string[]) => {
    to.push(...found);
    for (const line of found) progress(`${line}\n`);
  };
  let acknowledged = 0;
  for (let i = 1; i <= times; i++) {
    progress(`${i} of ${times} failures of fsync`);
    const nth = FROM + Math.floor(random() * FAILURES);
    const outcome = await failOnce(join(folder, String(i)), nth, random);
    acknowledged += outcome.acknowledged;
    find(faults, outcome.faults);
  }
  const ledgerFaults: string[] = [];
  for (let nth = 1; nth <= times; nth++)
    find(ledgerFaults, await failLedger(join(folder, `ledger-${nth}`), nth, random));
  const fault = FAULTS.forgetsFailure;
  const caught = await failOnce(join(folder, 'fault'), FROM, random, [fault]);
  const ignoring = await failLedger(join(folder, 'ignored'), 1, random, [FAULTS.ignoresSync]);
  return {
    figures: [
      {
        what: 'two failures of fsync: writes lost or acknowledged afterwards, or no reason given for the end',
        howOften: `${times} (${acknowledged} writes)`,
        lost: faults.length,
        fault: fault.name,
        caught: caught.faults[0] ?? 'not at all',
        isCaught: caught.faults.length > 0,
      },
      {
        what: 'failures of fsync in the ledger: answered but unrecorded lookups, or later lookups refused',
        howOften: `${times}`,
        lost: ledgerFaults.length,
        fault: FAULTS.ignoresSync.name,
        caught: ignoring[0] ?? 'not at all',
        isCaught: ignoring.length > 0,
      },
    ],
  };
}
