/**
 * Failures survived: `make torture` runs each part beside a planted fault that it must catch, and writes the
 * table of bench/results/torture.md. Options: `--only PART` (repeatable), `--small`, `--seed 1`, and for all
 * parts `--out FILE`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isGood, type Outcome } from './figures.ts';
import { isPart, PARTS } from './parts.ts';
import { reportOf } from './report.ts';

/** Everything ends by then, whatever hangs. */
const LIMIT_MINUTES = 40;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    small: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    out: { type: 'string' },
  },
});
const isPartial = values.only.length > 0;
const names = isPartial ? values.only : Object.keys(PARTS);
const isUsable = !(isPartial && values.out !== undefined) && Number.isSafeInteger(Number(values.seed));
if (!names.every(isPart) || !isUsable) {
  const usage = '[--only PART]... [--small] [--seed N], or all parts with --out FILE';
  process.stderr.write(`Usage: test/torture/main.ts ${usage}\nParts: ${Object.keys(PARTS).join(', ')}\n`);
  process.exit(2);
}

const root = mkdtempSync(join(tmpdir(), 'registry-torture-'));
process.on('exit', () => rmSync(root, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
setTimeout(() => {
  process.stderr.write(`\nStopped after ${LIMIT_MINUTES} minutes.\n`);
  process.exit(1);
}, LIMIT_MINUTES * 60_000).unref();

const started = Date.now();
const outcomes = new Map<string, Outcome>();
for (const name of names) {
  const progress = (text: string) => {
    const seconds = Math.round((Date.now() - started) / 1_000);
    process.stderr.write(`${process.stderr.isTTY ? '\r\x1b[K' : ''}${seconds} s, ${name}: ${text}`);
    if (!process.stderr.isTTY) process.stderr.write('\n');
  };
  const folder = join(root, name);
  const outcome = await PARTS[name]({ folder, isSmall: values.small, seed: Number(values.seed), progress });
  rmSync(folder, { recursive: true, force: true });
  if ('skipped' in outcome) progress(`NOT RUN: ${outcome.skipped}\n`);
  outcomes.set(name, outcome);
}
const { out } = values;
const report = reportOf(outcomes, Object.keys(PARTS));
process.stderr.write(`\n${Math.ceil((Date.now() - started) / 60_000)} minutes\n`);
process.stdout.write(report);
if (out !== undefined) writeFileSync(out, report);
const figures = [...outcomes.values()].flatMap((outcome) => ('figures' in outcome ? outcome.figures : []));
process.exitCode = figures.every(isGood) ? 0 : 1;
