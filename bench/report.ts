/** Figures → the rows of the table: what was asked for, what was seen. */
import type { Figures, Footprint, Imports } from './sections.ts';

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
  readonly sizes: [Figures, Footprint] | undefined;
  readonly milk: Figures | undefined;
  readonly pages: Figures | undefined;
  readonly writes: Figures | undefined;
  readonly imports: Imports | undefined;
}

export interface Row {
  readonly figure: string;
  readonly goal: string;
  readonly seen: string;
  /** Undefined where there is no goal. */
  readonly isReached: boolean | undefined;
}

const whole = (n: number): string => Math.round(n).toLocaleString('en');
const ratio = (n: number): string => n.toFixed(2);

function rate(figures: Figures, name: string): number {
  const figure = figures[name];
  if (figure === undefined) throw new Error(`${name} was not measured.`);
  return figure.perSecond;
}

function atLeast(figure: string, goal: number, seen: number, detail: string, unit = ''): Row {
  const show = unit === '' ? ratio : (n: number) => `${whole(n)}${unit}`;
  return {
    figure,
    goal: `≥ ${unit === '' ? goal : show(goal)}`,
    seen: `${show(seen)} (${detail})`,
    isReached: seen >= goal,
  };
}

function atMost(figure: string, goal: number, seen: number, detail: string, unit = ''): Row {
  const show = unit === '' ? ratio : (n: number) => `${whole(n)}${unit}`;
  return {
    figure,
    goal: `≤ ${unit === '' ? goal : show(goal)}`,
    seen: `${show(seen)}${detail === '' ? '' : ` (${detail})`}`,
    isReached: seen <= goal,
  };
}

function lookupRows(figures: Figures): Row[] {
  return ['with blocks', 'without blocks'].flatMap((blocks) => {
    const own = rate(figures, `registry, ${blocks}`);
    const bare = rate(figures, `bare node:http, ${blocks}`);
    const fastify = rate(figures, `fastify, ${blocks}`);
    const against = atLeast(
      `against Fastify, ${blocks}`,
      5,
      own / fastify,
      `${whole(own)} of ${whole(fastify)}/s`,
    );
    return [
      atLeast(`lookup ${blocks}, of bare node:http`, 0.5, own / bare, `${whole(own)} of ${whole(bare)}/s`),
      // The goal is set for the answer with blocks; without them Fastify has one statement too.
      ...(blocks === 'with blocks' ? [against] : [{ ...against, goal: '', isReached: undefined }]),
    ];
  });
}

function sizeRows([figures, footprint]: [Figures, Footprint]): Row[] {
  const rows = ['with blocks', 'without blocks'].flatMap((blocks) => {
    const few = figures[`20000 members, ${blocks}`];
    const many = figures[`5000000 members, ${blocks}`];
    if (few === undefined || many === undefined) return [];
    const rates = `${whole(many.perSecond)} of ${whole(few.perSecond)}/s`;
    const times = `${many.p99Ms.toFixed(1)} and ${few.p99Ms.toFixed(1)} ms`;
    return [
      atLeast(`5,000,000 against 20,000 ${blocks}, requests/s`, 0.67, many.perSecond / few.perSecond, rates),
      atMost(`5,000,000 against 20,000 ${blocks}, p99`, 2, many.p99Ms / few.p99Ms, times),
    ];
  });
  return [
    ...rows,
    atMost('RssAnon at 5,000,000 under load', 200, footprint.rssAnonMib, '', ' MiB'),
    atMost('start to ready at 5,000,000', 500, footprint.startMs, '', ' ms'),
  ];
}

const milkRows = (figures: Figures): Row[] =>
  ['', ', summary out of date'].map((state) => {
    const few = 1 / rate(figures, `20 entries${state}`);
    const many = 1 / rate(figures, `730 entries${state}`);
    return atMost(
      `730 entries against 20${state}`,
      1.2,
      many / few,
      `${(many * 1e6).toFixed(0)} and ${(few * 1e6).toFixed(0)} µs`,
    );
  });

function pageRows(figures: Figures): Row[] {
  const first = 1 / rate(figures, 'page 1 of 20,000');
  return Object.keys(figures)
    .filter((name) => name !== 'page 1 of 20,000')
    .map((name) => {
      const time = 1 / rate(figures, name);
      return atMost(
        `${name} against page 1 of 20,000`,
        2,
        time / first,
        `${(time * 1e3).toFixed(2)} and ${(first * 1e3).toFixed(2)} ms`,
      );
    });
}

const writeRows = (figures: Figures): Row[] =>
  Object.entries(figures).map(([name, { perSecond, p99Ms }]) =>
    atLeast(name, 8_000, perSecond, `p99 ${p99Ms.toFixed(1)} ms`, '/s'),
  );

const IMPORT_GOALS: { readonly [name: string]: number } = { members: 40_000, production: 120_000 };

const importRows = (figures: Imports): Row[] =>
  Object.entries(IMPORT_GOALS).flatMap(([name, goal]) => {
    const seen = figures[name];
    if (seen === undefined) return [];
    return [
      atLeast(
        `import of ${whole(seen.rows)} rows of ${name}`,
        goal,
        seen.rows_per_second,
        `locked ${seen.lock_seconds.toFixed(1)} s, at most ${seen.peakMib} MiB resident`,
        '/s',
      ),
    ];
  });

export function toRows(results: Results): Row[] {
  const { lookups, sizes, milk, pages, writes, imports } = results;
  return [
    ...(lookups === undefined ? [] : lookupRows(lookups)),
    ...(sizes === undefined ? [] : sizeRows(sizes)),
    ...(milk === undefined ? [] : milkRows(milk)),
    ...(pages === undefined ? [] : pageRows(pages)),
    ...(writes === undefined ? [] : writeRows(writes)),
    ...(imports === undefined ? [] : importRows(imports)),
  ];
}

export const toTable = (rows: readonly Row[]): string =>
  [
    '| Figure | Goal | Seen | |',
    '|---|---|---|---|',
    ...rows.map(
      ({ figure, goal, seen, isReached }) =>
        `| ${figure} | ${goal} | ${seen} | ${isReached === undefined ? '' : isReached ? 'yes' : 'no'} |`,
    ),
  ].join('\n');
