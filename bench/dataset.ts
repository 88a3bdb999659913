/**
 * The registries that are measured: created with the real import command and kept in bench/.cache until the
 * schema changes or their newest entries are a month old.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  copyFileSync,
  createReadStream,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Population } from './population.ts';
import { KINDS, type Kind, writeCsv } from './rows.ts';

export const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
export const CACHE = fileURLToPath(new URL('.cache', import.meta.url));
const FRESH_MS = 30 * 86_400_000;

/** A registry with its population and the keys to access it. */
export interface Dataset {
  readonly databaseFile: string;
  readonly population: Population;
  readonly keys: {
    readonly full: string;
    readonly basic: string;
    readonly writing: string;
    readonly withoutScope: string;
    /** Limited to one request per hour. */
    readonly throttled: string;
  };
}

/** The figures that one import printed, and its peak memory. */
export interface ImportFigures {
  readonly rows: number;
  readonly seconds: number;
  readonly rows_per_second: number;
  readonly lock_seconds: number;
  readonly peakMib: number | undefined;
}

/**
 * Runs a command of the registry.
 * @returns its standard output and its peak memory
 * @throws Error when its exit status is not 0
 */
export async function runRegistry(
  databaseFile: string,
  args: readonly string[],
): Promise<{ out: string; peakMib: number | undefined }> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, REGISTRY_DB: databaseFile },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let peakMib: number | undefined;
  const sampling = setInterval(() => {
    peakMib = peakMemoryMib(child.pid as number) ?? peakMib;
  }, 50);
  const [out, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  clearInterval(sampling);
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${out.slice(0, 2_000)}`);
  return { out, peakMib };
}

/** The peak resident memory of a process so far; undefined where the system does not report it. */
function peakMemoryMib(pid: number): number | undefined {
  try {
    const kib = /VmHWM:\s+([0-9]+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? undefined : Math.round(Number(kib) / 1024);
  } catch {
    return undefined;
  }
}

export async function importFile(
  databaseFile: string,
  kind: Kind,
  path: string,
  ...more: readonly string[]
): Promise<ImportFigures> {
  const { out, peakMib } = await runRegistry(databaseFile, ['import', kind, path, '--json', ...more]);
  const file = JSON.parse(out).files[0];
  if (file.imported !== true) throw new Error(`The import of ${kind} was refused: ${out.slice(0, 2_000)}`);
  const { rows, seconds, rows_per_second, lock_seconds } = file;
  return { rows, seconds, rows_per_second, lock_seconds, peakMib };
}

/** @param perHour requests per hour; the largest possible limit by default */
export async function createKey(
  databaseFile: string,
  scopes: readonly string[],
  perHour = 10_000_000,
  ...more: readonly string[]
): Promise<string> {
  const { out } = await runRegistry(databaseFile, [
    ...[
      'keys',
      'create',
      '--name',
      'bench',
      '--per-hour',
      String(perHour),
      '--per-day',
      '10000000',
      '--json',
    ],
    ...scopes.flatMap((scope) => ['--scope', scope]),
    ...more,
  ]);
  return JSON.parse(out).key;
}

/** The keys of a dataset. */
export const createKeys = async (databaseFile: string): Promise<Dataset['keys']> => ({
  full: await createKey(databaseFile, ['members:read', 'members:financials']),
  basic: await createKey(databaseFile, ['members:read']),
  writing: await createKey(databaseFile, ['members:read', 'members:write']),
  withoutScope: await createKey(databaseFile, ['cooperatives:read']),
  throttled: await createKey(databaseFile, ['members:read'], 1),
});

/** Reads a file so that the system caches it in memory, as when a registry has been running for a while. */
export async function readOnce(file: string): Promise<void> {
  for await (const _ of createReadStream(file, { highWaterMark: 2 ** 20 })) {
    // Only the reading counts.
  }
}

const schemas = fileURLToPath(new URL('../src/sqlite', import.meta.url));

/** A dataset that is older than any of these is created again. */
const sourceFiles = (): string[] => [
  ...['population.ts', 'rows.ts', 'names.ts'].map((name) => fileURLToPath(new URL(name, import.meta.url))),
  ...readdirSync(schemas).map((name) => join(schemas, name)),
];

/**
 * @param withEntries how many of the members have entries
 * @returns the registry with that many members, created if there is no recent one with the current schema
 */
export async function ensureDataset(members: number, withEntries: number): Promise<Dataset> {
  const folder = join(CACHE, String(members));
  const description = join(folder, 'dataset.json');
  if (existsSync(description)) {
    const stored = JSON.parse(readFileSync(description, 'utf8')) as Dataset;
    const isFresh =
      Date.now() - stored.population.nowMs < FRESH_MS &&
      sourceFiles().every((file) => statSync(file).mtimeMs < statSync(description).mtimeMs) &&
      stored.population.withEntries === withEntries;
    if (isFresh) {
      // Another release may have stored the read model.
      await runRegistry(stored.databaseFile, ['summarize']);
      await readOnce(stored.databaseFile);
      return stored;
    }
  }
  rmSync(folder, { recursive: true, force: true });
  const making = `${folder}.making`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { recursive: true });
  const population: Population = { members, withEntries, nowMs: Date.now() };
  const databaseFile = join(making, 'registry.db');
  for (const kind of KINDS) {
    const csv = join(making, `${kind}.csv`);
    writeCsv(csv, kind, population);
    const { rows, seconds, lock_seconds } = await importFile(databaseFile, kind, csv);
    process.stderr.write(`${members}: ${rows} ${kind} in ${seconds} s, locked ${lock_seconds} s\n`);
    rmSync(csv);
  }
  const keys = await createKeys(databaseFile);
  renameSync(making, folder);
  const dataset: Dataset = { databaseFile: join(folder, 'registry.db'), population, keys };
  writeFileSync(description, JSON.stringify(dataset, null, 2));
  return dataset;
}

/**
 * Copies a registry with its keys into a new folder, to be written to. The copy is on disk before it is used:
 * otherwise the first commits would wait until the system has written all of it.
 * @returns the database file of the copy
 */
export function copyRegistry({ databaseFile }: Dataset, folder: string): string {
  mkdirSync(folder);
  const copy = join(folder, 'registry.db');
  for (const [from, to] of [
    [databaseFile, copy],
    [databaseFile.replace(/\.db$/, '.keys.db'), join(folder, 'registry.keys.db')],
  ] as const) {
    copyFileSync(from, to);
    const file = openSync(to, 'r+');
    fsyncSync(file);
    closeSync(file);
  }
  return copy;
}
