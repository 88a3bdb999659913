/** Statistics: of the country, and of one large cooperative, the first time and when nothing has changed. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createKey, type Dataset, importFile } from '../dataset.ts';
import { type Options, startRegistry } from '../load.ts';
import { GROUP, identityCard } from '../population.ts';

const MEMBERS = 5_000;
const DELIVERIES = 100_000;
const DAY_MS = 86_400_000;

export type Statistics = { readonly [name: string]: readonly number[] };

/** Names of figures with their goals in milliseconds. */
export const STATISTICS_GOALS = {
  'statistics of 5,000,000 members, the first': 2_000,
  'statistics of 5,000,000 members, nothing changed': 10,
  'statistics of 5,000 members with 100,000 deliveries, the first': 30,
  'statistics of 5,000 members with 100,000 deliveries, nothing changed': 10,
} as const;

/** @returns milliseconds until the last byte */
export async function timed(port: number, key: string, path: string): Promise<number> {
  const startedMs = performance.now();
  const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} is answered ${response.status}: ${text}`);
  return performance.now() - startedMs;
}

/** @returns the database file of a registry with one large cooperative */
async function createLarge(folder: string): Promise<string> {
  mkdirSync(folder);
  const lines = (count: number, line: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => line(i));
  const member = (i: number) => `BIG-1,${identityCard(i * GROUP.memberships)},M-${i},Example ${i}`;
  const delivery = (i: number) => {
    const at = new Date(Date.now() - DAY_MS * (1 + ((i * 13) % 700))).toISOString().slice(0, 10);
    const product = i % 2 === 0 ? 'milk' : 'coffee cherries';
    return `BIG-1,M-${i % MEMBERS},P-${i},${at},${1 + (i % 40)}.5,${product}`;
  };
  const file = join(folder, 'registry.db');
  for (const [kind, rows] of [
    ['cooperatives', ['code,name', 'BIG-1,Large']],
    ['members', ['cooperative_code,identity_card,member_code,full_name', ...lines(MEMBERS, member)]],
    [
      'production',
      ['cooperative_code,member_code,reference,delivered_at,kg,product', ...lines(DELIVERIES, delivery)],
    ],
  ] as const) {
    const csv = join(folder, `${kind}.csv`);
    writeFileSync(csv, `${rows.join('\n')}\n`);
    await importFile(file, kind, csv);
  }
  return file;
}

/** @param country its keys read no money, which is summed all the same */
export async function statistics(country: Dataset, { folder, rounds }: Options): Promise<Statistics> {
  const large = await createLarge(join(folder, 'large'));
  const key = await createKey(large, ['cooperatives:read', 'members:financials']);
  const [first, again, firstOfOne, againOfOne] = Object.keys(STATISTICS_GOALS) as [
    ...[string, string, string, string],
  ];
  const figures: { [name: string]: number[] } = {};
  const note = (name: string, ms: number) => {
    figures[name] = [...(figures[name] ?? []), ms];
  };
  const all = await startRegistry(country.databaseFile, folder);
  note(first, await timed(all.port, country.keys.withoutScope, '/statistics'));
  for (let round = 0; round < rounds; round++) {
    note(again, await timed(all.port, country.keys.withoutScope, '/statistics'));
    const one = await startRegistry(large, folder);
    // The thread has started.
    await timed(one.port, key, '/cooperatives/9/statistics').catch(() => undefined);
    note(firstOfOne, await timed(one.port, key, '/cooperatives/1/statistics'));
    note(againOfOne, await timed(one.port, key, '/cooperatives/1/statistics'));
  }
  return figures;
}
