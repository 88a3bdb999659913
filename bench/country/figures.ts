/** What is known of a registry of each size, how it is compared, and the table of it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../load.ts';
import type { machine } from '../machine.ts';

export const RESULTS = join(ROOT, 'bench/results/country.json');
/** What every other size is compared with. */
export const SMALL_MEMBERS = 200_000;

/** A number, or why there is none. */
export type Measured = number | { readonly missing: string };

/** The figures in their order: unit, and how many decimals are shown. */
export const FIGURES = {
  'import of members': ['rows/s', 0],
  'import of members, the last file': ['rows/s', 0],
  'import of deliveries': ['rows/s', 0],
  'import of deliveries, the last file': ['rows/s', 0],
  'import of loans': ['rows/s', 0],
  'import of payments': ['rows/s', 0],
  'import of savings transactions': ['rows/s', 0],
  'longest lock of an import': ['s', 1],
  'peak memory of an import': ['MiB', 0],
  'size of registry.db': ['MB', 0],
  'size of the other files': ['MB', 1],
  'size of a membership with its entries': ['bytes', 0],
  'size of a membership': ['bytes', 0],
  'size of a delivery': ['bytes', 0],
  'size of a loan': ['bytes', 0],
  'size of a payment': ['bytes', 0],
  'size of a savings transaction': ['bytes', 0],
  'size of an event': ['bytes', 0],
  'size of a lookup in the access ledger': ['bytes', 0],
  'start to ready': ['ms', 0],
  'lookup with blocks, 32 connections': ['requests/s', 0],
  'lookup with blocks, 32 connections, p99': ['ms', 1],
  'member list, page 1': ['µs', 0],
  'member list, a page in the middle': ['µs', 0],
  'member list, the last page': ['µs', 0],
  'search by name, p50': ['ms', 2],
  'search by name, p99': ['ms', 2],
  'statistics of the country, the first': ['ms', 0],
  'statistics of the country, again': ['ms', 1],
  'statistics of a cooperative, the first': ['ms', 1],
  'anonymous memory after these': ['MiB', 0],
  'export of the members': ['rows/s', 0],
  'additional memory of an export': ['MiB', 0],
  backup: ['s', 1],
  'backup rate': ['MB/s', 0],
  'verification of a backup': ['s', 1],
  'verification rate': ['MB/s', 0],
  check: ['s', 1],
  'check rate': ['MB/s', 0],
  'merge of two members': ['s', 2],
  'erasure of a person': ['s', 1],
  'erasure rate': ['MB/s', 0],
} as const satisfies { readonly [name: string]: readonly [unit: string, decimals: number] };

export type FigureName = keyof typeof FIGURES;
export type CountryFigures = { readonly [name in FigureName]?: Measured };

/** One run. */
export interface Entry extends ReturnType<typeof machine> {
  readonly members: number;
  readonly persons: number;
  readonly cooperatives: number;
  /** Members of the files of one part. */
  readonly part: number;
  readonly figures: CountryFigures;
  /** At 200,000 members, in the same run; undefined for that size itself. */
  readonly small?: CountryFigures;
}

/** By the number of members. */
export type Results = { readonly [members: string]: Entry };

export const readResults = (): Results => JSON.parse(readFileSync(RESULTS, 'utf8')) as Results;

export const thousands = (n: number): string => n.toLocaleString('en');

function show(name: FigureName, measured: Measured | undefined): string {
  if (typeof measured !== 'number') return '–';
  const [, decimals] = FIGURES[name];
  return measured.toLocaleString('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** The ratio of a figure to that of the small registry, of which it has one. */
function ratio(measured: Measured | undefined, small: Measured | undefined): string {
  if (typeof measured !== 'number' || typeof small !== 'number' || small === 0) return '';
  const times = measured / small;
  return times >= 9.95 ? times.toFixed(0) : times.toFixed(2);
}

/**
 * Headings and rows: each figure at 200,000 members as the last registry had it beside it, and in each entry
 * with its ratio to the one of its own run.
 */
export function comparison(entries: readonly Entry[]): { headings: string[]; rows: string[][] } {
  const compared = entries.filter(({ small }) => small !== undefined);
  const small =
    compared.at(-1)?.small ?? entries.find((each) => each.members === SMALL_MEMBERS)?.figures ?? {};
  const names = (Object.keys(FIGURES) as FigureName[]).filter((name) => small[name] !== undefined);
  return {
    headings: [
      ...['Figure', thousands(SMALL_MEMBERS)],
      ...compared.flatMap(({ members }) => [thousands(members), 'Ratio']),
    ],
    rows: names.map((name) => [
      ...[`${name} (${FIGURES[name][0]})`, show(name, small[name])],
      ...compared.flatMap(({ figures, small: own }) => [
        show(name, figures[name]),
        ratio(figures[name], own?.[name]),
      ]),
    ]),
  };
}

/** One line for each figure that could not be measured, with the reason. */
export const listMissing = (entries: readonly Entry[]): string[] =>
  entries.flatMap(({ members, figures }) =>
    Object.entries(figures).flatMap(([name, measured]) =>
      typeof measured === 'object' ? [`${name} at ${thousands(members)}: ${measured.missing}`] : [],
    ),
  );
