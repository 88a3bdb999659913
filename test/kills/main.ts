/**
 * Kills the service and commands, again and again, while payments are recorded, members are merged and
 * webhooks delivered, and then looks for what was lost, done twice or by half. Run by `make kills`.
 * Options: `--kills 50`, `--seed 1`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { command, type RunningCommand, spawnPlainly } from '../support/command.ts';
import { clientOf, type Payments, startPayments } from './payments.ts';
import { startReceiver } from './receiver.ts';
import { createRegistry, MEMBERS } from './registry.ts';
import { findLosses, type Merge, totalsOf } from './verify.ts';

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '50' }, seed: { type: 'string', default: '1' } },
});
const kills = Number(values.kills);
let state = Number(values.seed);
if (!(kills >= 1) || !Number.isSafeInteger(state)) {
  process.stderr.write('Usage: test/kills/main.ts [--kills N] [--seed N]\n');
  process.exit(2);
}
/** A number from 0 up to 1, the same in each run with the same seed. */
function random(): number {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
  return state / 2_147_483_648;
}

const folder = mkdtempSync(join(tmpdir(), 'registry-kills-'));
const db = join(folder, 'registry.db');
const env = { REGISTRY_DB: db, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'error' };
const running = new Set<RunningCommand>();

function start(args: readonly string[]): RunningCommand {
  const started = spawnPlainly(['node', 'src/main.ts', ...args], env);
  running.add(started);
  void started.ended.then(() => running.delete(started));
  return started;
}

async function kill(started: RunningCommand): Promise<void> {
  started.child.kill('SIGKILL');
  await started.ended;
}

async function serve(): Promise<{ readonly server: RunningCommand; readonly port: number }> {
  const server = start(['serve']);
  await server.waitFor('Serving ');
  return { server, port: Number(/127\.0\.0\.1:([0-9]+)\//.exec(server.output())?.[1]) };
}

/** Milliseconds after which a merge is killed: adapted so that about half of the merges are done by then. */
let typicalMs = 700;
const STEP = 1.15;

/** @returns what ended: a merge that was killed may be done or not, and nothing between. */
async function mergeAndKill({ from, into }: Merge): Promise<'killed' | 'ended'> {
  const merging = start([
    'members',
    'merge',
    '--yes',
    String(from),
    String(into),
    '--reason',
    'registered twice',
  ]);
  // A process takes some tenths of a second to start: the kill comes before, in or after its transaction.
  const timer = setTimeout(() => merging.child.kill('SIGKILL'), typicalMs * (0.6 + 0.8 * random()));
  const status = await merging.ended;
  clearTimeout(timer);
  if (status !== null && status !== 0) throw new Error(`The merge failed: ${merging.output()}`);
  const outcome = status === null ? 'killed' : 'ended';
  typicalMs = outcome === 'killed' ? typicalMs * STEP : typicalMs / STEP;
  return outcome;
}

async function checkSound(): Promise<void> {
  const { status, out } = await command(['check', '--db', db]);
  if (status !== 0) throw new Error(`The registry is not sound:\n${out}`);
}

/** One service from its start to its death, with payments and a merge meanwhile. */
async function round(payments: Payments, merge: Merge): Promise<'killed' | 'ended'> {
  const { server, port } = await serve();
  const writing = payments.writeTo(clientOf(port));
  const merging = mergeAndKill(merge);
  await sleep(150 + random() * 600);
  await kill(server);
  await writing;
  const outcome = await merging;
  await checkSound();
  return outcome;
}

async function run(): Promise<void> {
  const registry = await createRegistry(db);
  const before = totalsOf(db);
  const payments = startPayments(registry, random);
  const receiver = await startReceiver(db);
  const merges: Merge[] = [];
  const outcomes = { killed: 0, ended: 0 };
  for (let i = 0; i < kills; i++) {
    // A merge that a kill prevented is tried again by another one of the same pair.
    const pair = i % (MEMBERS / 2);
    const merge = { from: 2 * pair + 1, into: 2 * pair + 2 };
    merges.push(merge);
    outcomes[await round(payments, merge)]++;
    process.stderr.write(`\r${i + 1} of ${kills} kills, ${payments.acknowledged.length} payments`);
  }
  process.stderr.write('\n');
  const { server, port } = await serve();
  await payments.finish(clientOf(port));
  await receiver.waitFor();
  await kill(server);
  await checkSound();
  const losses = findLosses(db, { payments, merges, before });
  const merged = merges.length - losses.unmerged;
  process.stdout.write(
    `${kills} kills of the service: ${payments.acknowledged.length} payments acknowledged, ` +
      `${payments.repeated} requests repeated, ${payments.replayed} of them already recorded.\n` +
      `${merges.length} merges: ${outcomes.killed} killed, ${merged} done, ${losses.unmerged} not begun.\n`,
  );
  const missed = receiver.findLosses();
  receiver.close();
  process.stdout.write(`${receiver.repeated} webhooks were delivered again, under their first id.\n`);
  const faults = [...losses.faults, ...missed];
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
  else process.stdout.write('Nothing was lost, charged twice or done by half.\n');
}

try {
  await run();
} finally {
  await Promise.all([...running].map(kill));
  rmSync(folder, { recursive: true });
}
