/** What commands take that read or rewrite much of a registry, one registry after the other. */
import { join } from 'node:path';
import { runRegistry } from '../dataset.ts';
import { median, type Options, removeFolder } from '../load.ts';
import {
  COUNTRY_GROUP,
  cooperativeOf,
  identityCard,
  inOrderOfPeople,
  memberWithEntries,
} from '../population.ts';
import { memberName } from '../rows.ts';
import type { CountryFigures, Measured } from './figures.ts';
import { type Country, freeBytes, LEAST_FREE_BYTES } from './registry.ts';
import { fileSizes } from './sizes.ts';

const MERGES = 3;
/** Memberships with a number below this within a group are of people with one membership only. */
const SINGLE = 176;
const REASON = ['--reason', 'Measurement', '--yes', '--json'] as const;

/** @returns the seconds of a command, the start of its process included */
async function timeCommand({ databaseFile }: Country, ...args: string[]): Promise<number> {
  const startedMs = performance.now();
  await runRegistry(databaseFile, args);
  const seconds = (performance.now() - startedMs) / 1_000;
  process.stderr.write(`  ${args[0]} ${args[1] ?? ''}: ${seconds.toFixed(1)} s\n`);
  return seconds;
}

/** The files of the registry in MB, once for each of the seconds. */
const perSecond = (country: Country, seconds: number): number => {
  const { database, others } = fileSizes(country);
  return (database + others) / 1e6 / seconds;
};

/** @param times how many times the size of the database must be free, beside what stays free */
function lacksRoom(country: Country, times: number): { readonly missing: string } | undefined {
  const bytes = fileSizes(country).database * times + LEAST_FREE_BYTES;
  const [needed, free] = [bytes, freeBytes()].map((each) => `${Math.round(each / 1e9)} GB`);
  if (freeBytes() >= bytes) return undefined;
  return { missing: `${needed} of free disk would be needed, and ${free} were there` };
}

export async function measureBackup(country: Country, { folder }: Options): Promise<CountryFigures> {
  const missing = lacksRoom(country, 1);
  const names = ['backup', 'backup rate', 'verification of a backup', 'verification rate'];
  if (missing !== undefined) return Object.fromEntries(names.map((name) => [name, missing]));
  const copy = join(folder, `backup-${country.population.members}`);
  const writing = await timeCommand(country, 'backup', copy);
  const reading = await timeCommand(country, 'backup', 'verify', copy);
  removeFolder(copy);
  const values = [writing, perSecond(country, writing), reading, perSecond(country, reading)];
  return Object.fromEntries(names.map((name, i) => [name, values[i] as Measured]));
}

/** The next membership with entries that nothing else is measured with. */
function nextReserved({ population, nextCorrected }: Country): number {
  return memberWithEntries(population.withEntries - 1 - nextCorrected(), population);
}

/** Two people of one cooperative: the membership that goes, and one with entries that stays. */
function pairToMerge(country: Country): readonly [from: number, into: number] {
  const { population } = country;
  for (;;) {
    const into = nextReserved(country);
    const from = into - 1;
    if (from < 0) throw new Error('No people are left to merge.');
    const isSingle = inOrderOfPeople(from, population) % COUNTRY_GROUP.memberships < SINGLE;
    if (isSingle && cooperativeOf(from, population) === cooperativeOf(into, population)) return [from, into];
  }
}

export async function measureMerges(country: Country): Promise<CountryFigures> {
  const times: number[] = [];
  for (let i = 0; i < MERGES; i++) {
    const [from, into] = pairToMerge(country).map((n) => memberName(n, country.population));
    times.push(await timeCommand(country, 'members', 'merge', from as string, into as string, ...REASON));
  }
  return { 'merge of two members': median(times) };
}

/** The file is rewritten, by way of a copy and of the log. */
export async function measureErasure(country: Country): Promise<CountryFigures> {
  const [name, ofSize] = ['erasure of a person', 'erasure rate'] as const;
  const missing = lacksRoom(country, 2);
  if (missing !== undefined) return { [name]: missing, [ofSize]: missing };
  const card = identityCard(nextReserved(country), country.population);
  const seconds = await timeCommand(country, 'persons', 'erase', card, ...REASON);
  return { [name]: seconds, [ofSize]: perSecond(country, seconds) };
}

/** Of the whole file, without a change. */
export async function measureCheck(country: Country): Promise<CountryFigures> {
  const seconds = await timeCommand(country, 'check', '--json');
  return { check: seconds, 'check rate': perSecond(country, seconds) };
}
