/** Power cuts: a traced service, replayed to random moments, with unsynced changes lost, kept or torn. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { missing } from '../../deploy/programs.ts';
import { spawnPlainly } from '../../support/command.ts';
import { FAULTS, type Fault, withFaults } from '../faults.ts';
import type { Figure, Outcome, TortureOptions } from '../figures.ts';
import { createRegistry } from '../registry.ts';
import { kill, LIMIT } from '../service.ts';
import { IMPORTED, nidOf, UNDONE } from './marks.ts';
import type { ReplayProgress, ReplayReport, ReplayTask } from './replay.ts';
import { STRACE } from './trace.ts';

const REPLAY = new URL('./replay.ts', import.meta.url);
const WORKLOAD = 'test/torture/power-cuts/workload.ts';
/** One for each core of a small machine. */
const THREADS = 2;
const AMOUNTS = {
  full: { writes: 120, cuts: 20_000, cutsWithFault: 1_000, checkEach: 200 },
  small: { writes: 30, cuts: 60, cutsWithFault: 60, checkEach: 30 },
} as const;

interface Recorded extends Pick<ReplayTask, 'trace' | 'before' | 'folder'> {}

const rowsOf = (series: 'I' | 'U', count: number): string =>
  Array.from({ length: count }, (_, i) => `KILLS,${nidOf(series, i)},${series}-${i},Umutoni\n`).join('');

async function record(root: string, writes: number, faults: readonly Fault[] = []): Promise<Recorded> {
  const [before, folder, trace] = [join(root, 'before'), join(root, 'live'), join(root, 'trace')];
  mkdirSync(before, { recursive: true });
  const { key } = await createRegistry(join(before, 'registry.db'));
  for (const [name, series, count] of [
    ['imported.csv', 'I', IMPORTED],
    ['undone.csv', 'U', UNDONE],
  ] as const)
    writeFileSync(
      join(before, name),
      `cooperative_code,identity_card,member_code,full_name\n${rowsOf(series, count)}`,
    );
  cpSync(before, folder, { recursive: true });
  const workload = [process.execPath, WORKLOAD, folder, key, String(writes)];
  const env = { ...withFaults(faults), UV_USE_IO_URING: '0' };
  const traced = spawnPlainly([...STRACE, '-o', trace, ...workload], env, LIMIT);
  const end = () => void kill(traced);
  process.once('exit', end);
  if ((await traced.ended) !== 0) throw new Error(`The traced processes failed: ${traced.output()}`);
  process.off('exit', end);
  return { trace, before, folder };
}

function replayInThread(
  task: ReplayTask,
  onProgress: (progress: ReplayProgress) => void,
): Promise<ReplayReport> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(REPLAY, { workerData: task });
    worker.on('message', (message: ReplayReport | ReplayProgress) => {
      if ('losing' in message) resolve(message);
      else onProgress(message);
    });
    worker.on('error', reject);
    worker.on('exit', (code) => reject(new Error(`A replay ended with ${code}.`)));
  });
}

async function replay(
  recorded: Recorded,
  cuts: number,
  checkEach: number,
  { seed, progress, folder }: TortureOptions,
): Promise<ReplayReport> {
  const done = Array.from({ length: THREADS }, () => 0);
  const reports = await Promise.all(
    done.map((_, i) =>
      replayInThread(
        {
          ...{ ...recorded, checkEach, seed: seed * 100 + i + 1 },
          ...{ cuts: Math.ceil(cuts / THREADS), scratch: join(folder, `cut-${i}`) },
        },
        ({ cuts: count, found }) => {
          done[i] = count;
          if (found !== undefined) progress(`${found}\n`);
          progress(`${done.reduce((a, b) => a + b)} of ${cuts} power cuts`);
        },
      ),
    ),
  );
  const sum = (of: (report: ReplayReport) => number) => reports.map(of).reduce((a, b) => a + b);
  return {
    cuts: sum((report) => report.cuts),
    checked: sum((report) => report.checked),
    losing: sum((report) => report.losing),
    unsound: sum((report) => report.unsound),
    unrecorded: sum((report) => report.unrecorded),
    acknowledged: Math.max(...reports.map(({ acknowledged }) => acknowledged)),
    receipts: Math.max(...reports.map(({ receipts }) => receipts)),
  };
}

export async function cutPower(options: TortureOptions): Promise<Outcome> {
  const lacking = missing('strace');
  if (lacking !== false) return { skipped: `${lacking} apt-get install strace` };
  const { writes, cuts, cutsWithFault, checkEach } = AMOUNTS[options.isSmall ? 'small' : 'full'];
  options.progress('tracing a service');
  const sound = await replay(await record(join(options.folder, 'sound'), writes), cuts, checkEach, options);
  const fault = FAULTS.syncsSeldom;
  options.progress(`tracing a service with a fault: ${fault.name}`);
  // Each is looked for in what the other cannot change.
  const recorded = await record(join(options.folder, 'fault'), writes, [fault, FAULTS.answersUnsynced]);
  const progress = (text: string) => options.progress(`with the fault: ${text}`);
  const faulty = await replay(recorded, cutsWithFault, cutsWithFault, { ...options, progress });
  const figure: Figure = {
    what: 'power cuts during writes, imports, an undo and a backup: writes lost or done in part',
    howOften: `${sound.cuts} (${sound.acknowledged} writes; \`check\` after ${sound.checked})`,
    lost: sound.losing + sound.unsound,
    fault: fault.name,
    caught: `${faulty.losing} of ${faulty.cuts} cuts`,
    isCaught: faulty.losing > 0,
  };
  const ledger: Figure = {
    what: 'the same power cuts: answered but unrecorded lookups, or gaps in the access ledger',
    howOften: `${sound.receipts} lookups`,
    lost: sound.unrecorded,
    fault: FAULTS.answersUnsynced.name,
    caught: `${faulty.unrecorded} of ${faulty.cuts} cuts`,
    isCaught: faulty.unrecorded > 0,
  };
  return { figures: [figure, ledger] };
}
