/** How long it takes until the service listens, and until a command that looks at little has ended. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Dataset } from '../dataset.ts';
import { type Options, ROOT, startByNpm, startRegistry } from '../load.ts';

const run = promisify(execFile);

/** Milliseconds of each start, by name. */
export type Starts = { [name: string]: readonly number[] };

const STARTS_PER_ROUND = 3;

async function timeCommand(databaseFile: string, ...args: string[]): Promise<number> {
  const started = performance.now();
  const env = { ...process.env, REGISTRY_DB: databaseFile };
  await run('npm', ['run', '-s', 'registry', '--', ...args], { cwd: ROOT, env });
  return performance.now() - started;
}

export async function starts({ databaseFile }: Dataset, options: Options): Promise<Starts> {
  const { folder, rounds } = options;
  const subjects: [name: string, measure: () => Promise<number>][] = [
    ['start to ready, npm included', () => timeStart(startByNpm)],
    ['start to ready, the process', () => timeStart(startRegistry)],
    ['keys list, npm included', () => timeCommand(databaseFile, 'keys', 'list')],
    ['--help, npm included', () => timeCommand(databaseFile, '--help')],
  ];
  async function timeStart(start: typeof startRegistry): Promise<number> {
    const server = await start(databaseFile, folder);
    await server.stop();
    return server.startMs;
  }
  const seen: { [name: string]: number[] } = Object.fromEntries(subjects.map(([name]) => [name, []]));
  for (let round = 0; round < rounds * STARTS_PER_ROUND; round++) {
    for (const [name, measure] of subjects) {
      const ms = await measure();
      seen[name]?.push(ms);
      process.stderr.write(`  ${name.padEnd(44)} ${ms.toFixed(0).padStart(6)} ms\n`);
    }
  }
  return seen;
}
