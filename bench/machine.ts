/** What the figures were measured on. */
import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { ROOT } from './load.ts';

const firstLine = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { encoding: 'utf8' }).split('\n')[0] ?? '';

/** Its properties, with the date, the versions and the commit. */
export const machine = () => ({
  date: new Date().toISOString().slice(0, 10),
  cores: cpus().length,
  processor: cpus()[0]?.model ?? 'unknown',
  memory_gib: Math.round(totalmem() / 2 ** 30),
  kernel: firstLine('uname', '-sr'),
  node: process.versions.node,
  commit: firstLine('git', '-C', ROOT, 'rev-parse', '--short', 'HEAD'),
});
