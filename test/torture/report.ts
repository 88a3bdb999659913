/** The table of `make torture`, as a document. */
import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, release, type } from 'node:os';
import { ROOT } from './faults.ts';
import { isGood, type Outcome } from './figures.ts';

const HEAD = ['What is done', 'How often', 'Lost', 'Planted fault', 'Caught', 'Command'];

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

/** @param outcomes of each part, by its name */
export function reportOf(outcomes: ReadonlyMap<string, Outcome>, minutes: number): string {
  const rows = [...outcomes].flatMap(([name, outcome]) => {
    const command = `\`node test/torture/main.ts --only ${name}\``;
    if ('skipped' in outcome) return [[name, `not run: ${outcome.skipped}`, '', '', '', command]];
    return outcome.figures.map((figure) => [
      figure.what,
      figure.howOften,
      `${figure.lost}${isGood(figure) ? '' : ' **(not as promised)**'}`,
      figure.fault,
      figure.caught,
      command,
    ]);
  });
  const processor = `${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'})`;
  const machine = `${processor}, ${type()} ${release()}`;
  return [
    '# Failures survived\n\n',
    `Written by \`make torture\` on ${new Date().toISOString().slice(0, 10)}, in ${minutes} minutes; `,
    `commit ${commit()}; Node ${process.version}; ${machine}.\n\n`,
    row(HEAD),
    row(HEAD.map(() => '---')),
    ...rows.map(row),
  ].join('');
}
