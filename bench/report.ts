/** Turns figures into the rows of the table: goal, result, and in how many rounds the goal was reached. */
import { type Figure, type Figures, median } from './load.ts';
import type { Exports } from './sections/exports.ts';
import type { Imports } from './sections/imports.ts';
import type { Payments } from './sections/payments.ts';
import type { Starts } from './sections/starts.ts';
import { STATISTICS_GOALS, type Statistics } from './sections/statistics.ts';

export interface Results {
  readonly date: string;
  readonly cores: number;
  readonly processor: string;
  readonly memory_gib: number;
  readonly kernel: string;
  readonly node: string;
  readonly commit: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly lookups: Figures | undefined;
  readonly lists: Figures | undefined;
  readonly refusals: Figures | undefined;
  readonly sizes: [Figures, rssAnonMib: number] | undefined;
  readonly milk: Figures | undefined;
  readonly pages: Figures | undefined;
  readonly search: Figures | undefined;
  readonly writes: Figures | undefined;
  readonly payments: Payments | undefined;
  readonly starts: Starts | undefined;
  readonly imports: Imports | undefined;
  /** Those below are undefined in results from before there were any. */
  readonly statistics?: Statistics | undefined;
  readonly webhooks?: Figures | undefined;
  readonly exports?: Exports | undefined;
  readonly ledger?: Figures | undefined;
  readonly batches?: Figures | undefined;
}

export interface Row {
  readonly figure: string;
  readonly goal: string;
  readonly seen: string;
  /** In how many rounds the goal was reached: `yes` for all, `in 2 of 3` or `no`; empty without a goal. */
  readonly reached: string;
}

const whole = (n: number): string => Math.round(n).toLocaleString('en');

function roundsOf(figures: Figures, name: string): readonly Figure[] {
  const rounds = figures[name];
  if (rounds === undefined || rounds.length === 0) throw new Error(`${name} was not measured.`);
  return rounds;
}

const rates = (figures: Figures, name: string): number[] =>
  roundsOf(figures, name).map(({ perSecond }) => perSecond);

interface Goal {
  readonly atLeast?: number;
  readonly atMost?: number;
}

function toRow(
  figure: string,
  goal: Goal,
  values: readonly number[],
  { unit = '', detail = '' }: { unit?: string; detail?: string } = {},
): Row {
  const show = (n: number) => (unit === '' ? n.toFixed(2) : `${whole(n)}${unit}`);
  const showGoal = (n: number) => (unit === '' ? String(n) : show(n));
  const { atLeast, atMost } = goal;
  const isReached = (n: number) =>
    (atLeast === undefined || n >= atLeast) && (atMost === undefined || n <= atMost);
  const reached = values.filter(isReached).length;
  const some = reached === 0 ? 'no' : `in ${reached} of ${values.length}`;
  return {
    figure,
    goal:
      atLeast !== undefined ? `≥ ${showGoal(atLeast)}` : atMost !== undefined ? `≤ ${showGoal(atMost)}` : '',
    seen: `${show(median(values))}${detail === '' ? '' : ` (${detail})`}`,
    reached: atLeast === undefined && atMost === undefined ? '' : reached === values.length ? 'yes' : some,
  };
}

/** The ratio of two rates, round by round. */
function compared(figure: string, goal: Goal, figures: Figures, own: string, other: string): Row {
  const [a, b] = [rates(figures, own), rates(figures, other)];
  const detail = `${whole(median(a))} of ${whole(median(b))}/s`;
  return toRow(
    figure,
    goal,
    a.map((rate, i) => rate / (b[i] as number)),
    { detail },
  );
}

function lookupRows(figures: Figures): Row[] {
  return [
    ['with blocks', 0.5, 5] as const,
    // Without the financial fields, Fastify needs only one statement too.
    ['without blocks', 0.55, undefined] as const,
  ].flatMap(([blocks, ofBare, ofFastify]) => {
    const own = `registry, ${blocks}`;
    const against = ofFastify === undefined ? {} : { atLeast: ofFastify };
    return [
      compared(
        `lookup ${blocks}, of bare node:http`,
        { atLeast: ofBare },
        figures,
        own,
        `bare node:http, ${blocks}`,
      ),
      compared(`lookup ${blocks}, against Fastify`, against, figures, own, `fastify, ${blocks}`),
    ];
  });
}

const ledgerRows = (figures: Figures): Row[] =>
  ['with blocks', 'without blocks'].map((blocks) =>
    compared(
      `lookup ${blocks}, with the access ledger against without`,
      { atLeast: 0.9 },
      figures,
      `${blocks}, ledger on`,
      `${blocks}, ledger off`,
    ),
  );

const batchRows = (figures: Figures): Row[] =>
  ['with blocks', 'without blocks'].map((blocks) =>
    timesCompared(
      `lookup ${blocks}, 100 in a request against one`,
      0.4,
      figures,
      `together, ${blocks}`,
      `one, ${blocks}`,
    ),
  );

const listRows = (figures: Figures): Row[] => [
  compared('member list, page 1 of 50 rows, against Fastify', { atLeast: 3 }, figures, 'registry', 'fastify'),
];

const refusalRows = (figures: Figures): Row[] =>
  ['401', '403', '429'].map((status) =>
    compared(
      `refusal ${status}, of bare node:http`,
      { atLeast: 0.7 },
      figures,
      `${status}, registry`,
      `${status}, bare node:http`,
    ),
  );

function sizeRows([figures, rssAnonMib]: [Figures, number]): Row[] {
  const rows = ['with blocks', 'without blocks'].flatMap((blocks) => {
    const [many, few] = [`5000000 members, ${blocks}`, `20000 members, ${blocks}`];
    const p99 = (name: string) => roundsOf(figures, name).map(({ p99Ms }) => p99Ms);
    const [slow, fast] = [p99(many), p99(few)];
    const detail = `${median(slow).toFixed(1)} and ${median(fast).toFixed(1)} ms`;
    const name = `5,000,000 against 20,000 ${blocks}`;
    return [
      compared(`${name}, requests/s`, { atLeast: 0.67 }, figures, many, few),
      toRow(
        `${name}, p99`,
        { atMost: 2 },
        slow.map((ms, i) => ms / (fast[i] as number)),
        { detail },
      ),
    ];
  });
  return [...rows, toRow('RssAnon at 5,000,000 under load', { atMost: 200 }, [rssAnonMib], { unit: ' MiB' })];
}

/** The ratio of two times per request, round by round. */
function timesCompared(figure: string, atMost: number, figures: Figures, own: string, other: string): Row {
  const micros = (name: string) => rates(figures, name).map((rate) => 1e6 / rate);
  const [a, b] = [micros(own), micros(other)];
  const detail = `${whole(median(a))} and ${whole(median(b))} µs`;
  return toRow(
    figure,
    { atMost },
    a.map((time, i) => time / (b[i] as number)),
    { detail },
  );
}

const milkRows = (figures: Figures): Row[] =>
  ['', ', read model out of date'].map((state) =>
    timesCompared(
      `730 entries against 20${state}`,
      1.2,
      figures,
      `730 entries${state}`,
      `20 entries${state}`,
    ),
  );

const FIRST_PAGE = 'page 1 of 20,000';

function searchRows(figures: Figures): Row[] {
  const searches = roundsOf(figures, 'searches');
  const row = (name: string, atMost: number, values: number[]): Row =>
    toRow(`search by name at 1,000,000, ${name}`, { atMost: atMost * 1_000 }, values, { unit: ' µs' });
  return [
    row(
      'p50',
      3,
      searches.map(({ p50Ms }) => p50Ms * 1_000),
    ),
    row(
      'p99',
      25,
      searches.map(({ p99Ms }) => p99Ms * 1_000),
    ),
    compared('lookups beside searches', { atLeast: 0.9 }, figures, 'lookups beside searches', 'lookups'),
  ];
}

const pageRows = (figures: Figures): Row[] =>
  Object.keys(figures)
    .filter((name) => name !== FIRST_PAGE)
    .map((name) => timesCompared(`${name} against ${FIRST_PAGE}`, 2, figures, name, FIRST_PAGE));

function writeRows(figures: Figures): Row[] {
  const many = 'POST /members, 64 connections';
  const p99 = median(roundsOf(figures, many).map(({ p99Ms }) => p99Ms)).toFixed(1);
  const one = 'POST /members, 1 connection';
  return [
    toRow(many, { atLeast: 14_000 }, rates(figures, many), { unit: '/s', detail: `p99 ${p99} ms` }),
    compared(`${one}, against Fastify`, { atLeast: 1 }, figures, one, 'fastify, single insert, 1 connection'),
  ];
}

const paymentRows = ({ perSecond, lookups }: Payments): Row[] => [
  toRow('POST /payments, 64 connections', {}, [perSecond], { unit: '/s' }),
  compared(
    'lookup with blocks, after a year of payments against after an import',
    { atLeast: 0.97 },
    lookups,
    'after a year of payments',
    'after an import',
  ),
];

/** Milliseconds at most, by the name of the figure. */
type Times = { readonly [name: string]: number };

const START_GOALS: Times = {
  'start to ready, npm included': 500,
  'start to ready, the process': 250,
  'keys list, npm included': 400,
  '--help, npm included': 400,
};

const timeRows = (goals: Times, times: { readonly [name: string]: readonly number[] }): Row[] =>
  Object.entries(goals).map(([name, atMost]) => toRow(name, { atMost }, times[name] ?? [], { unit: ' ms' }));

const IMPORT_GOALS: { readonly [name: string]: number } = { members: 40_000, production: 120_000 };

const importRows = (figures: Imports): Row[] =>
  Object.entries(IMPORT_GOALS).flatMap(([name, atLeast]) => {
    const seen = figures[name] ?? [];
    const lock = median(seen.map(({ lock_seconds }) => lock_seconds)).toFixed(1);
    const peak = Math.max(...seen.map(({ peakMib }) => peakMib ?? 0));
    const rows = whole(seen[0]?.rows ?? 0);
    const perSecond = seen.map(({ rows_per_second }) => rows_per_second);
    const detail = `locked ${lock} s, at most ${peak} MiB resident`;
    return [toRow(`import of ${rows} rows of ${name}`, { atLeast }, perSecond, { unit: '/s', detail })];
  });

const exportRows = ({ seconds, gzipSeconds, moreMib, without, beside }: Exports): Row[] => [
  toRow('export of 1,000,000 members as NDJSON', { atMost: 12 }, seconds, { unit: ' s' }),
  toRow('the same with gzip', {}, gzipSeconds, { unit: ' s' }),
  toRow('additional memory of an export', { atMost: 50 }, moreMib, { unit: ' MiB' }),
  toRow(
    'p99 of lookups beside an export, against without',
    { atMost: 1.5 },
    beside.map(({ p99Ms }, i) => p99Ms / (without[i] as Figure).p99Ms),
  ),
];

const webhookRows = (figures: Figures): Row[] => [
  toRow('webhooks to one endpoint', { atLeast: 1_000 }, rates(figures, 'webhooks to one endpoint'), {
    unit: '/s',
  }),
];

export function toRows(results: Results): Row[] {
  const { lookups, lists, refusals, sizes, milk, pages, writes, payments, starts } = results;
  const { statistics, search, exports, imports, webhooks, ledger, batches } = results;
  return [
    ...(lookups === undefined ? [] : lookupRows(lookups)),
    ...(batches === undefined ? [] : batchRows(batches)),
    ...(ledger === undefined ? [] : ledgerRows(ledger)),
    ...(lists === undefined ? [] : listRows(lists)),
    ...(refusals === undefined ? [] : refusalRows(refusals)),
    ...(writes === undefined ? [] : writeRows(writes)),
    ...(payments === undefined ? [] : paymentRows(payments)),
    ...(starts === undefined ? [] : timeRows(START_GOALS, starts)),
    ...(sizes === undefined ? [] : sizeRows(sizes)),
    ...(milk === undefined ? [] : milkRows(milk)),
    ...(pages === undefined ? [] : pageRows(pages)),
    ...(statistics === undefined ? [] : timeRows(STATISTICS_GOALS, statistics)),
    ...(search === undefined ? [] : searchRows(search)),
    ...(exports === undefined ? [] : exportRows(exports)),
    ...(imports === undefined ? [] : importRows(imports)),
    ...(webhooks === undefined ? [] : webhookRows(webhooks)),
  ];
}

export const toTable = (rows: readonly Row[]): string =>
  [
    '| Figure | Goal | Seen | Reached |',
    '|---|---|---|---|',
    ...rows.map(({ figure, goal, seen, reached }) => `| ${figure} | ${goal} | ${seen} | ${reached} |`),
  ].join('\n');

/** The figures that have a goal, for README. */
export const judgedTable = (results: Results): string =>
  toTable(toRows(results).filter(({ goal }) => goal !== ''));
