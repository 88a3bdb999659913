/** The files of the access ledger: a folder for each chain, with its segments, their keys and their heads. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const DIGITS = 6;
const named = (segment: number): string => String(segment).padStart(DIGITS, '0');

export const chainFolderOf = (ledger: string, chain: number): string => join(ledger, String(chain));

/** Who has it locked writes the chain. It is beside the folders of chains, which backups copy. */
export const lockFileOf = (ledger: string, chain: number): string => join(ledger, `${chain}.lock`);

export const segmentFileOf = (folder: string, segment: number): string =>
  join(folder, `${named(segment)}.ndjson`);

export const keysFolderOf = (folder: string): string => join(folder, 'keys');

/** The key of the hashes of national IDs in one segment. */
export const keyFileOf = (folder: string, segment: number): string =>
  join(keysFolderOf(folder), `${named(segment)}.key`);

/** A signed line for each closed segment, and for each that was removed. */
export const headsFileOf = (folder: string): string => join(folder, 'heads.ndjson');

export const signingKeyOf = (ledger: string): string => join(ledger, 'signing.key');
export const publicKeyOf = (ledger: string): string => join(ledger, 'signing.pub');

/** The numbers of the chains of a ledger, ascending; none where there is no ledger. */
export const listChains = (ledger: string): number[] => listNumbers(ledger, /^([1-9][0-9]*)$/);

/** The segments of a chain that there is a file of, ascending. */
export const listSegments = (folder: string): number[] => listNumbers(folder, /^([0-9]{6,})\.ndjson$/);

/** The segments of a chain that there is a key of, ascending. */
export const listKeys = (folder: string): number[] => listNumbers(keysFolderOf(folder), /^([0-9]{6,})\.key$/);

function listNumbers(folder: string, pattern: RegExp): number[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return names
    .map((name) => Number(pattern.exec(name)?.[1] ?? 0))
    .filter((number) => number > 0)
    .sort((a, b) => a - b);
}
