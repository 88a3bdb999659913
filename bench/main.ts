/**
 * Measures the registry, see bench/README.md. Requires wrk.
 * Options: `--only lookups,refusals`, `--rounds 3`, `--seconds 4`; without `--only` all sections run.
 * The results of a complete run are stored in bench/results.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureDataset } from './dataset.ts';
import { killServers, type Options, ROOT, removeFolder, requireWrk, temporaryFolder } from './load.ts';
import { machine } from './machine.ts';
import { type Results, toRows, toTable } from './report.ts';
import { batches } from './sections/batches.ts';
import { exports } from './sections/exports.ts';
import { imports } from './sections/imports.ts';
import { ledger } from './sections/ledger.ts';
import { lists } from './sections/lists.ts';
import { lookups } from './sections/lookups.ts';
import { milk } from './sections/milk.ts';
import { pages } from './sections/pages.ts';
import { payments } from './sections/payments.ts';
import { refusals } from './sections/refusals.ts';
import { search } from './sections/search.ts';
import { sizes } from './sections/sizes.ts';
import { starts } from './sections/starts.ts';
import { statistics } from './sections/statistics.ts';
import { webhooks } from './sections/webhooks.ts';
import { writes } from './sections/writes.ts';

const SECTIONS = [
  'lookups',
  'batches',
  'ledger',
  'lists',
  'refusals',
  'writes',
  'payments',
  'starts',
  'sizes',
  'milk',
  'pages',
  'statistics',
  'search',
  'exports',
  'imports',
  'webhooks',
] as const;
const SMALL = [20_000, 20_000] as const;
const MIDDLE = [200_000, 200_000] as const;
const MILLION = [1_000_000, 20_000] as const;
const LARGE = [5_000_000, 200_000] as const;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: SECTIONS.join(',') },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
  },
});
const only = values.only.split(',');
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
if (only.some((name) => !SECTIONS.some((known) => known === name)) || !(rounds >= 1) || !(seconds >= 1)) {
  process.stderr.write(`Usage: bench/main.ts [--only ${SECTIONS.join(',')}] [--rounds N] [--seconds N]\n`);
  process.exit(2);
}

/** Runs one section if it is selected, then stops its servers and removes its files. */
async function section<T>(
  name: (typeof SECTIONS)[number],
  work: (options: Options) => Promise<T>,
): Promise<T | undefined> {
  if (!only.includes(name)) return undefined;
  process.stderr.write(`${name}\n`);
  const folder = temporaryFolder();
  try {
    return await work({ rounds, seconds, folder });
  } finally {
    killServers();
    removeFolder(folder);
  }
}

await requireWrk();
const small = () => ensureDataset(...SMALL);
const middle = () => ensureDataset(...MIDDLE);
const million = () => ensureDataset(...MILLION);
const large = () => ensureDataset(...LARGE);

const results: Results = {
  ...machine(),
  rounds,
  seconds,
  lookups: await section('lookups', async (options) => lookups(await middle(), options)),
  batches: await section('batches', async (options) => batches(await small(), options)),
  ledger: await section('ledger', async (options) => ledger(await small(), options)),
  lists: await section('lists', async (options) => lists(await middle(), options)),
  refusals: await section('refusals', async (options) => refusals(await middle(), options)),
  writes: await section('writes', async (options) => writes(await middle(), options)),
  payments: await section('payments', async (options) => payments(await middle(), options)),
  starts: await section('starts', async (options) => starts(await middle(), options)),
  sizes: await section('sizes', async (options) =>
    sizes([await small(), await middle(), await large()], options),
  ),
  milk: await section('milk', async (options) => milk(await middle(), options)),
  pages: await section('pages', async (options) => pages(await small(), await large(), options)),
  statistics: await section('statistics', async (options) => statistics(await large(), options)),
  search: await section('search', async (options) => search(await million(), options)),
  exports: await section('exports', async (options) => exports(await million(), options)),
  imports: await section('imports', imports),
  webhooks: await section('webhooks', webhooks),
};
const table = toTable(toRows(results));
console.log(table);
if (only.length === SECTIONS.length) {
  const folder = join(ROOT, 'bench/results');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${results.date}.json`);
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  console.log(`\nKept in ${file}`);
}
