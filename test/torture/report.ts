/** The table of `make torture`, as a document. */
import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, release, type } from 'node:os';
import { ROOT } from './faults.ts';
import { isGood, type Outcome } from './figures.ts';

const HEAD = ['What is done', 'How often', 'Lost', 'Planted fault', 'Caught', 'Run', 'Command'];

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

const commandOf = (part: string): string => `\`node test/torture/main.ts --only ${part}\``;

/**
 * @param outcomes of each part that ran, by its name
 * @param parts all of them, in the order of the table
 * @param previous the last report: the lines of other parts are taken over
 */
export function reportOf(
  outcomes: ReadonlyMap<string, Outcome>,
  parts: readonly string[],
  previous = '',
): string {
  const run = `${new Date().toISOString().slice(0, 10)}, ${commit()}`;
  const rows = parts.flatMap((part) => {
    const outcome = outcomes.get(part);
    const command = commandOf(part);
    if (outcome === undefined) return previous.split(/(?<=\n)/).filter((line) => line.includes(command));
    if ('skipped' in outcome) return row([part, `not run: ${outcome.skipped}`, '', '', '', run, command]);
    return outcome.figures.map((figure) =>
      row([
        figure.what,
        figure.howOften,
        `${figure.lost}${isGood(figure) ? '' : ' **(not as promised)**'}`,
        figure.fault,
        figure.caught,
        run,
        command,
      ]),
    );
  });
  const processor = `${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'})`;
  const machine = `${processor}, ${type()} ${release()}`;
  return [
    '# Failures survived\n\n',
    'Written by `make torture`, with the date and the commit of each run; ',
    `Node ${process.version}; ${machine}.\n\n`,
    row(HEAD),
    row(HEAD.map(() => '---')),
    ...rows,
  ].join('');
}
