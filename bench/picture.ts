/**
 * Draws the newest results: requests per second compared with the peers, and latency by size of the registry.
 * `bench/picture.ts` writes bench/results/speed.svg, and the table into bench/README.md.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median, ROOT, type Rounds } from './load.ts';
import { judgedTable, type Results } from './report.ts';

const FOLDER = join(ROOT, 'bench/results');
const WIDTH = 1_000;
const HEIGHT = 340;
const COLOURS = { registry: '#2b6cb0', 'bare node:http': '#a0aec0', fastify: '#dd9b3f' } as const;
const BLOCKS = ['with blocks', 'without blocks'] as const;

const newest = readdirSync(FOLDER)
  .filter((name) => /^\d.*\.json$/.test(name))
  .sort()
  .at(-1);
if (newest === undefined) throw new Error('There are no results: run make bench.');
const results = JSON.parse(readFileSync(join(FOLDER, newest), 'utf8')) as Results;
const { lookups, sizes } = results;
if (lookups === undefined || sizes === undefined) throw new Error(`${newest} is not of a complete run.`);

const text = (x: number, y: number, content: string, more = ''): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${content}</text>`;
const thousands = (n: number): string => Math.round(n).toLocaleString('en');

/** Bars of requests per second, one group for each kind of response. */
function drawRates(left: number, width: number): string {
  const bars = BLOCKS.flatMap((blocks) =>
    Object.entries(COLOURS).map(([name, colour]) => ({
      label: `${name}, ${blocks}`,
      colour,
      rate: median((lookups?.[`${name}, ${blocks}`] ?? []).map(({ perSecond }) => perSecond)),
    })),
  );
  const most = Math.max(...bars.map(({ rate }) => rate));
  const labelWidth = 205;
  const scale = (width - labelWidth - 60) / most;
  return bars
    .map(({ label, colour, rate }, i) => {
      const y = 58 + i * 36 + (i >= 3 ? 14 : 0);
      return [
        text(left + labelWidth - 8, y + 17, label, 'text-anchor="end"'),
        `<rect x="${left + labelWidth}" y="${y}" width="${(rate * scale).toFixed(1)}" height="24" ` +
          `fill="${colour}"/>`,
        text(left + labelWidth + rate * scale + 6, y + 17, thousands(rate)),
      ].join('\n');
    })
    .join('\n');
}

const latencyOf = (rounds: Rounds) => ({
  p50Ms: median(rounds.map(({ p50Ms }) => p50Ms)),
  p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)),
});

/** Median and 99th percentile of the lookup with financial fields, by size on a logarithmic axis. */
function drawLatency(left: number, width: number): string {
  const [figures] = sizes as NonNullable<Results['sizes']>;
  const points = Object.entries(figures)
    .filter(([name]) => name.endsWith(', with blocks'))
    .map(([name, rounds]) => ({ members: Number.parseInt(name, 10), ...latencyOf(rounds) }));
  const [bottom, top] = [HEIGHT - 60, 60];
  const most = Math.ceil(Math.max(...points.map(({ p99Ms }) => p99Ms)) * 1.2);
  const first = Math.log10(points[0]?.members ?? 1);
  const last = Math.log10(points.at(-1)?.members ?? 10);
  const x = (members: number) => left + 50 + ((Math.log10(members) - first) / (last - first)) * (width - 110);
  const y = (ms: number) => bottom - (ms / most) * (bottom - top);
  const line = (name: string, colour: string, of: (point: (typeof points)[number]) => number): string => {
    const at = points.map((point) => `${x(point.members).toFixed(1)},${y(of(point)).toFixed(1)}`);
    const [start, end] = [points[0], points.at(-1)] as [(typeof points)[number], (typeof points)[number]];
    return [
      `<polyline points="${at.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...points.map((point) => {
        const centre = `cx="${x(point.members).toFixed(1)}" cy="${y(of(point)).toFixed(1)}"`;
        return `<circle ${centre} r="4" fill="${colour}"/>`;
      }),
      text(x(start.members), y(of(start)) - 12, name),
      text(x(end.members), y(of(end)) - 12, `${of(end).toFixed(1)} ms`, 'text-anchor="middle"'),
    ].join('\n');
  };
  return [
    `<line x1="${left + 40}" y1="${bottom}" x2="${left + width - 40}" y2="${bottom}" stroke="#718096"/>`,
    `<line x1="${left + 40}" y1="${top - 10}" x2="${left + 40}" y2="${bottom}" stroke="#718096"/>`,
    text(left + 34, bottom + 4, '0', 'text-anchor="end"'),
    text(left + 34, y(most) + 4, `${most} ms`, 'text-anchor="end"'),
    ...points.map(({ members }) => text(x(members), bottom + 18, thousands(members), 'text-anchor="middle"')),
    text(left + width / 2, bottom + 36, 'members', 'text-anchor="middle"'),
    line('99 of 100 within', COLOURS.fastify, ({ p99Ms }) => p99Ms),
    line('median', COLOURS.registry, ({ p50Ms }) => p50Ms),
  ].join('\n');
}

const machine = `${results.date}, ${results.cores} cores (${results.processor}), Node ${results.node}`;
const rounds = `32 connections, median of ${results.rounds} rounds`;
const viewBox = `0 0 ${WIDTH} ${HEIGHT}`;
const font = 'font-family="sans-serif" font-size="12"';
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${viewBox}" ${font}>
<title>Lookups a second beside the peers, and their latency against the size of the registry</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>
${text(20, 32, 'Lookups a second, 200,000 members', 'font-size="15" font-weight="bold"')}
${drawRates(0, 560)}
${text(600, 32, 'Latency of the lookup with blocks', 'font-size="15" font-weight="bold"')}
${drawLatency(580, 400)}
${text(20, HEIGHT - 12, `${machine}, ${rounds}`, 'fill="#4a5568"')}
</svg>
`;
writeFileSync(join(FOLDER, 'speed.svg'), svg);

const readme = join(ROOT, 'bench/README.md');
const about = `${machine}, medians of ${results.rounds} rounds:`;
const figures = `<!-- figures -->\n${about}\n\n${judgedTable(results)}\n<!-- /figures -->`;
writeFileSync(
  readme,
  readFileSync(readme, 'utf8').replace(/<!-- figures -->[\s\S]*<!-- \/figures -->/, () => figures),
);
console.log(figures);
