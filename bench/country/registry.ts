/**
 * The registry of a country: imported part by part with the real command, each file removed once it is in.
 * What was imported is noted, so that a run that was interrupted goes on with the next file.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE, createKey, createKeys, type Dataset, type ImportFigures, importFile } from '../dataset.ts';
import type { Population } from '../population.ts';
import { type Kind, writeCsv } from '../rows.ts';

/** With less room than this after a file and its log, nothing more is imported. */
export const LEAST_FREE_BYTES = 5e9;
/** Of the members with entries, the last ones, whom nobody looks up: they may be merged and erased. */
export const RESERVED_SHARE = 0.05;
/** Of 46,000,000 memberships, 20,000 cooperatives. */
const MEMBERS_OF_ONE = 2_300;
/** Fewer would have too large shares of all members. */
const LEAST_COOPERATIVES = 20;
/** One in so many members has entries. */
const WITH_ENTRIES = 10;
const PART_KINDS = ['members', 'production', 'loans', 'payments', 'savings'] as const;

export interface CountryImport extends ImportFigures {
  readonly kind: Kind;
}

/** What is kept beside the registry. */
interface Notes {
  readonly population: Population;
  /** Members of one part. */
  readonly part: number;
  readonly imports: readonly CountryImport[];
  readonly keys?: Dataset['keys'] & { readonly exporting: string };
  /** How many people were merged or erased by measurements. */
  readonly corrected: number;
}

/** A registry of which all parts, or the first ones, were imported. */
export interface Country extends Dataset {
  readonly folder: string;
  readonly exportKey: string;
  readonly part: number;
  readonly imports: readonly CountryImport[];
  /** @returns a number that no measurement has had, for the people that it changes */
  nextCorrected(): number;
}

const folderOf = (members: number): string => join(CACHE, `country-${members}`);
const notesFile = (folder: string): string => join(folder, 'country.json');

function readNotes(folder: string): Notes | undefined {
  const file = notesFile(folder);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Notes) : undefined;
}

/** Replaced as a whole: a run may be killed at any time. */
function writeNotes(folder: string, notes: Notes): void {
  const file = notesFile(folder);
  writeFileSync(`${file}.new`, JSON.stringify(notes, null, 1));
  renameSync(`${file}.new`, file);
}

export function freeBytes(): number {
  const disk = statfsSync(CACHE);
  return disk.bavail * disk.bsize;
}

/** @param members of the whole registry, a multiple of 10 */
function plan(members: number, part: number): Notes {
  const cooperatives = Math.max(LEAST_COOPERATIVES, Math.round(members / MEMBERS_OF_ONE));
  const population = {
    ...{ members, withEntries: members / WITH_ENTRIES, nowMs: Date.now() },
    country: { cooperatives, memberships: members },
  };
  return { population, part, imports: [], corrected: 0 };
}

interface Step {
  readonly kind: Kind;
  readonly slice: Population;
}

/** All files in their order: the cooperatives, then the kinds of each part. */
function stepsOf({ population, part }: Notes): Step[] {
  const { members } = population;
  const steps: Step[] = [{ kind: 'cooperatives', slice: population }];
  for (let first = 0; first < members; first += part) {
    const count = Math.min(part, members - first);
    const slice = { ...population, first, members: count, withEntries: count / WITH_ENTRIES };
    steps.push(...PART_KINDS.map((kind) => ({ kind, slice })));
  }
  return steps;
}

/**
 * Imports what is missing of the registry.
 * @param part members of one part, where none was imported yet
 * @throws Error when the disk has too little room for the next file
 */
export async function importCountry(members: number, part: number): Promise<void> {
  const folder = folderOf(members);
  mkdirSync(folder, { recursive: true });
  let notes = readNotes(folder) ?? plan(members, part);
  const databaseFile = join(folder, 'registry.db');
  for (const { kind, slice } of stepsOf(notes).slice(notes.imports.length)) {
    if (freeBytes() < LEAST_FREE_BYTES)
      throw new Error(`The disk has less than ${LEAST_FREE_BYTES / 1e9} GB left: ${members} are too many.`);
    const csv = join(folder, `${kind}.csv`);
    writeCsv(csv, kind, slice);
    const { rows, seconds, rows_per_second, lock_seconds, peakMib } = await importFile(
      databaseFile,
      kind,
      csv,
    );
    rmSync(csv);
    const done = { kind, rows, seconds, rows_per_second, lock_seconds, peakMib };
    notes = { ...notes, imports: [...notes.imports, done] };
    writeNotes(folder, notes);
    process.stderr.write(
      `${members} from ${slice.first ?? 0}: ${rows} ${kind}, ${rows_per_second} rows/s, ` +
        `locked ${lock_seconds} s, peak ${peakMib} MiB, ${(freeBytes() / 1e9).toFixed(1)} GB free\n`,
    );
  }
}

/** @returns what was imported of the registry, with its keys @throws Error without a complete part */
export async function openCountry(members: number): Promise<Country> {
  const folder = folderOf(members);
  const databaseFile = join(folder, 'registry.db');
  let notes = readNotes(folder);
  const parts = Math.floor(((notes?.imports.length ?? 0) - 1) / PART_KINDS.length);
  if (notes === undefined || parts < 1) throw new Error(`No part of ${members} members was imported yet.`);
  if (notes.keys === undefined) {
    const exporting = await createKey(databaseFile, ['members:read'], undefined, '--allow-export');
    notes = { ...notes, keys: { ...(await createKeys(databaseFile)), exporting } };
    writeNotes(folder, notes);
  }
  const { population, part, imports, keys } = notes as Required<Notes>;
  const there = Math.min(population.members, parts * part);
  return {
    ...{ folder, databaseFile, keys, part, exportKey: keys.exporting },
    population: { ...population, members: there, withEntries: there / WITH_ENTRIES },
    imports: imports.slice(0, 1 + parts * PART_KINDS.length),
    nextCorrected() {
      const current = readNotes(folder) as Notes;
      writeNotes(folder, { ...current, corrected: current.corrected + 1 });
      return current.corrected;
    },
  };
}
