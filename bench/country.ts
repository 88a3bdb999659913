/**
 * A registry of the size of a country, compared with one of 200,000 members: see bench/README.md. Requires
 * wrk. Options: `--members 46000000`, a multiple of 10; `--only import` or `--only measure`, which measures
 * what was imported so far; `--part 1000000` members of one file; `--rounds 3`, `--seconds 2`. A run that was
 * interrupted goes on. The figures are kept in bench/results/country.json.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { measureCommands } from './country/commands.ts';
import {
  type CountryFigures,
  comparison,
  type Entry,
  listMissing,
  RESULTS,
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
if (
  !['', 'import', 'measure'].includes(values.only) ||
  ![members, part].every((n) => Number.isInteger(n / 10) && n >= 10_000) ||
  ![rounds, seconds].every((n) => Number.isInteger(n) && n >= 1)
) {
  process.stderr.write(
    'Usage: bench/country.ts [--members N] [--only import|measure] [--part N] [--rounds N] [--seconds N]\n' +
      'N of members and of a part is a multiple of 10, at least 10,000.\n',
  );
  process.exit(2);
}

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
    'on disk, per membership with its entries': database / country.population.members,
    ...rowSizes(country),
  };
}

/** What was measured of the registries, in their order. */
async function measureAll(countries: readonly Country[], options: Options): Promise<Both> {
  const starts = await measureStarts(countries, options);
  const requests = await measureRequests(countries, options);
  const sizes = countries.map(sizeFigures);
  const all: CountryFigures[] = [];
  for (const [n, country] of countries.entries()) {
    const commands = await measureCommands(country, options);
    all.push({ ...importFigures(country), ...sizes[n], ...starts[n], ...requests[n], ...commands });
  }
  return all;
}

/** Digits beyond these say nothing. */
const rounded = (figures: CountryFigures): CountryFigures =>
  JSON.parse(
    JSON.stringify(figures, (_, value) => (typeof value === 'number' ? +value.toPrecision(5) : value)),
  );

function keep(entry: Entry): void {
  const known = existsSync(RESULTS) ? readResults() : {};
  writeFileSync(RESULTS, `${JSON.stringify({ ...known, [entry.members]: entry }, null, 2)}\n`);
}

async function measureAndKeep(): Promise<void> {
  const options: Options = { rounds, seconds, folder: temporaryFolder() };
  try {
    const country = await openCountry(members);
    const isSmall = members === SMALL_MEMBERS;
    const countries = isSmall ? [country] : [country, await openCountry(SMALL_MEMBERS)];
    const [figures = {}, small] = await measureAll(countries, options);
    const { population, part } = country;
    const entry: Entry = {
      ...machine(),
      ...{ members: population.members, persons: countPersons(country), part, figures: rounded(figures) },
      cooperatives: population.country?.cooperatives ?? 0,
      ...(small === undefined ? {} : { small: rounded(small) }),
    };
    keep(entry);
    const { headings, rows } = comparison([isSmall ? { ...entry, small: figures } : entry]);
    console.log(
      [headings, headings.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n'),
    );
    for (const line of listMissing([entry])) console.log(`Not measured: ${line}`);
    console.log(`\nKept in ${RESULTS}`);
  } finally {
    killServers();
    removeFolder(options.folder);
  }
}

if (values.only !== 'measure') {
  await importCountry(members, part);
  // In the same run, on the same machine; in one part.
  await importCountry(SMALL_MEMBERS, SMALL_MEMBERS);
}
if (values.only !== 'import') {
  await requireWrk();
  await measureAndKeep();
}
