/** The table of `make torture`, as a document. */
import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, release, type } from 'node:os';
import { ROOT } from './faults.ts';
import { isGood, type Outcome } from './figures.ts';

const HEAD = ['Failure: faults looked for', 'How often', 'Found', 'Planted fault', 'Caught'];

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;

function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  try {
    return (
      git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', 'src') === '' ? '' : ', changed')
    );
  } catch {
    return 'unknown';
  }
}

/**
 * @param outcomes of each part that ran, by its name
 * @param parts all of them, in the order of the table
 */
export function reportOf(outcomes: ReadonlyMap<string, Outcome>, parts: readonly string[]): string {
  const rows = parts.flatMap((part) => {
    const outcome = outcomes.get(part);
    if (outcome === undefined) return [];
    if ('skipped' in outcome) return row([part, `not run: ${outcome.skipped}`, '', '', '']);
    return outcome.figures.map((figure) => {
      const found = `${figure.lost}${isGood(figure) ? '' : ' **(not as promised)**'}`;
      return row([figure.what, figure.howOften, found, figure.fault, figure.caught]);
    });
  });
  const run = `${new Date().toISOString().slice(0, 10)}, commit ${commit()}`;
  const processor = `${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'})`;
  const machine = `${processor}, ${type()} ${release()}`;
  return [
    '# Failures survived\n\n',
    'For assessors: `make torture` causes these failures, looks for the faults that they leave, and must ',
    'catch each planted fault. `node test/torture/main.ts --only PART` runs one part: ',
    `${parts.join(', ')}. `,
    `Measured on ${run}, with Node ${process.version}, ${machine}.\n\n`,
    row(HEAD),
    row(HEAD.map(() => '---')),
    ...rows,
  ].join('');
}
