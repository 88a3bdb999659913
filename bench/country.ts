/**
 * A registry of the size of a country, compared with one of 200,000 members: see bench/README.md. Requires
 * wrk. Options: `--members 46000000`, a multiple of 10; `--only import`, `--only measure`, which measures
 * what was imported so far, or some of its stages, such as `--only check,backup`; `--part 1000000` members of
 * one file; `--rounds 3`, `--seconds 2`. A run that was interrupted goes on. The figures are kept in
 * bench/results/country.json after each stage.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { measureBackup, measureCheck, measureErasure, measureMerges } from './country/commands.ts';
import {
  type CountryFigures,
  comparison,
  type Entry,
  listMissing,
  RESULTS,
  type Results,
  readResults,
  SMALL_MEMBERS,
} from './country/figures.ts';
import { type Country, importCountry, openCountry } from './country/registry.ts';
import { type Both, measureRequests, measureStarts } from './country/requests.ts';
import { countPersons, fileSizes, rowSizes } from './country/sizes.ts';
import { killServers, type Options, removeFolder, requireWrk, temporaryFolder } from './load.ts';
import { machine } from './machine.ts';
import type { Kind } from './rows.ts';

const { values } = parseArgs({
  options: {
    members: { type: 'string', default: '46000000' },
    only: { type: 'string', default: '' },
    part: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
  },
});
const [members, part, rounds, seconds] = [values.members, values.part, values.rounds, values.seconds].map(
  Number,
) as [number, number, number, number];
const IMPORTED = {
  members: 'import of members',
  production: 'import of deliveries',
  loans: 'import of loans',
  payments: 'import of payments',
  savings: 'import of savings transactions',
} as const satisfies { readonly [kind in Exclude<Kind, 'cooperatives'>]: keyof CountryFigures };

/** All rows of a kind by all seconds of their files, and those of the last file. */
function importFigures({ imports }: Country): CountryFigures {
  const files = (kind: string) => imports.filter((each) => each.kind === kind);
  const total = (kind: string, of: 'rows' | 'seconds') =>
    files(kind).reduce((sum, each) => sum + each[of], 0);
  const rates = Object.entries(IMPORTED).map(([kind, name]) => [
    name,
    total(kind, 'rows') / total(kind, 'seconds'),
  ]);
  const last = (kind: string) => files(kind).at(-1)?.rows_per_second ?? Number.NaN;
  return {
    ...(Object.fromEntries(rates) as CountryFigures),
    'import of members, the last file': last('members'),
    'import of deliveries, the last file': last('production'),
    'longest lock of an import': Math.max(...imports.map(({ lock_seconds }) => lock_seconds)),
    'peak memory of an import': Math.max(...imports.map(({ peakMib }) => peakMib ?? 0)),
  };
}

function sizeFigures(country: Country): CountryFigures {
  const { database, others } = fileSizes(country);
  return {
    'size of registry.db': database / 1e6,
    'size of the other files': others / 1e6,
    'size of a membership with its entries': database / country.population.members,
    ...rowSizes(country),
  };
}

type Stage = (countries: readonly Country[], options: Options) => Promise<Both>;

/** The same of each registry, one after the other. */
const each =
  (measureOne: (country: Country, options: Options) => Promise<CountryFigures> | CountryFigures): Stage =>
  async (countries, options) => {
    const all: CountryFigures[] = [];
    for (const country of countries) all.push(await measureOne(country, options));
    return all;
  };

/** In the order in which they are measured: what takes longest comes last. */
const STAGES: { readonly [name: string]: Stage } = {
  imports: each(importFigures),
  sizes: each(sizeFigures),
  starts: measureStarts,
  requests: measureRequests,
  merges: each(measureMerges),
  erasure: each(measureErasure),
  backup: each(measureBackup),
  check: each(measureCheck),
};

const only = values.only.split(',');
if (
  (!['', 'import', 'measure'].includes(values.only) && !only.every((name) => name in STAGES)) ||
  ![members, part].every((n) => Number.isInteger(n / 10) && n >= 10_000) ||
  ![rounds, seconds].every((n) => Number.isInteger(n) && n >= 1)
) {
  process.stderr.write(
    'Usage: bench/country.ts [--members N] [--only import|measure|STAGE,…] [--part N]\n' +
      '  [--rounds N] [--seconds N]\n' +
      `Stages of a measurement: ${Object.keys(STAGES).join(', ')}.\n` +
      'N of members and of a part is a multiple of 10, at least 10,000.\n',
  );
  process.exit(2);
}

/** Digits beyond these say nothing. */
const rounded = (figures: CountryFigures): CountryFigures =>
  JSON.parse(
    JSON.stringify(figures, (_, value) => (typeof value === 'number' ? +value.toPrecision(5) : value)),
  );

const known = (): Results => (existsSync(RESULTS) ? readResults() : {});

/** Adds what a stage has measured of a registry, and of the small one beside it. */
function keep(country: Country, figures: CountryFigures, small: CountryFigures | undefined): Entry {
  const { population, part } = country;
  const before = known()[population.members];
  const entry: Entry = {
    ...machine(),
    ...{ members: population.members, persons: before?.persons ?? countPersons(country), part },
    cooperatives: population.country?.cooperatives ?? 0,
    figures: { ...before?.figures, ...rounded(figures) },
    ...(small === undefined ? {} : { small: { ...before?.small, ...rounded(small) } }),
  };
  writeFileSync(RESULTS, `${JSON.stringify({ ...known(), [entry.members]: entry }, null, 2)}\n`);
  return entry;
}

async function measureAndKeep(stages: readonly string[]): Promise<void> {
  const options: Options = { rounds, seconds, folder: temporaryFolder() };
  try {
    const country = await openCountry(members);
    const countries = members === SMALL_MEMBERS ? [country] : [country, await openCountry(SMALL_MEMBERS)];
    const entries: Entry[] = [];
    for (const name of stages) {
      const [figures = {}, small] = await (STAGES[name] as Stage)(countries, options);
      entries.push(keep(country, figures, small));
    }
    const entry = entries.slice(-1);
    const { headings, rows } = comparison(entry);
    console.log(
      [headings, headings.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n'),
    );
    for (const line of listMissing(entry)) console.log(`Not measured: ${line}`);
    console.log(`\nKept in ${RESULTS}`);
  } finally {
    killServers();
    removeFolder(options.folder);
  }
}

if (['', 'import'].includes(values.only)) {
  await importCountry(members, part);
  // In the same run, on the same machine; in one part.
  await importCountry(SMALL_MEMBERS, SMALL_MEMBERS);
}
if (values.only !== 'import') {
  await requireWrk();
  await measureAndKeep(['', 'measure'].includes(values.only) ? Object.keys(STAGES) : only);
}
