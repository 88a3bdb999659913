/**
 * The access ledger in backups and restores (docs/ledger.md#damage). Damage of it stops neither: what can be
 * read is taken, and the rest is said.
 */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { RepairedLedger, RestoredLedger } from '../../contract/backup.ts';
import { StorageError } from '../../contract/storage-error.ts';
import { hasTables } from '../engine/open-database.ts';
import { syncPath } from '../files/durable-files.ts';
import { DATABASE_FILES, keysFileOf, ledgerFileOf, withSideFiles } from '../files/registry-files.ts';
import { addLedger } from '../ledger/add-ledger.ts';
import { type LedgerFiles, withLedger } from '../ledger/ledger-reader.ts';
import { closeSnapshots, copySnapshot, leaveLogMode, type Snapshot, takeSnapshots } from './copy-database.ts';
import { assertUnused } from './in-use.ts';
import { inspectDatabase } from './inspect.ts';

export const isLedger = ({ name }: { readonly name: string }): boolean =>
  name === ledgerFileOf('registry.db');

const KEPT = DATABASE_FILES.filter(isLedger);

const filesOf = (databaseFile: string): LedgerFiles => ({
  ledgerFile: ledgerFileOf(databaseFile),
  keysFile: keysFileOf(databaseFile),
});

/** In a folder of copies: they have the names of `registry.db`. */
const filesIn = (folder: string): LedgerFiles => filesOf(join(folder, 'registry.db'));

/** @returns none where there is no ledger, or it cannot be opened */
export function takeLedgerSnapshot(databaseFile: string): Snapshot[] {
  try {
    return takeSnapshots(databaseFile, KEPT);
  } catch {
    return [];
  }
}

/**
 * Copies the ledger beside the copy of the keys. Of a damaged one, the copy has what can be read.
 * @param taken of `takeLedgerSnapshot`
 * @returns what is wrong with the ledger; null when nothing is
 * @throws what has ended the copy
 */
export async function copyLedger(
  databaseFile: string,
  taken: readonly Snapshot[],
  folder: string,
  signal?: AbortSignal,
): Promise<string | null> {
  const source = filesOf(databaseFile);
  if (!hasTables(source.ledgerFile)) return null;
  const copy = filesIn(folder);
  const fault = await copyFile(taken, copy.ledgerFile, signal);
  if (fault === null) return null;
  removeFile(copy.ledgerFile);
  try {
    const { added } = addLedger(copy, source);
    leaveLogMode(copy.ledgerFile);
    return `${basename(source.ledgerFile)}: ${fault} The copy has the ${added} readings that can be read.`;
  } catch (error) {
    removeFile(copy.ledgerFile);
    const reason = (error as Error).message;
    return `${basename(source.ledgerFile)}: ${fault} Nothing of it could be copied: ${reason}`;
  } finally {
    // It has got the keys of the hashes.
    if (existsSync(copy.keysFile)) leaveLogMode(copy.keysFile);
  }
}

async function copyFile(
  [snapshot]: readonly Snapshot[],
  path: string,
  signal?: AbortSignal,
): Promise<string | null> {
  if (snapshot === undefined) return 'it cannot be opened.';
  try {
    await copySnapshot(snapshot, path, signal);
    const { fault } = inspectDatabase(path, 'full');
    return fault === null ? null : `it is damaged: ${fault}.`;
  } catch (error) {
    signal?.throwIfAborted();
    return `it cannot be read: ${(error as Error).message}.`;
  } finally {
    closeSnapshots([snapshot]);
  }
}

function removeFile(path: string): void {
  for (const each of withSideFiles(path)) rmSync(each, { force: true });
}

/** @param folder of a backup @returns the first fault of its ledger; null when it is sound, or has none */
export function findLedgerFault(folder: string): string | null {
  try {
    const [fault] = withLedger(filesIn(folder), (ledger) => ledger.verify().faults);
    return fault === undefined ? null : `registry.ledger.db: ${fault}`;
  } catch (error) {
    return `registry.ledger.db: ${(error as Error).message}`;
  }
}

/**
 * Adds the readings of a backup to those that are at a location, and never removes one. A damaged ledger at
 * the location is replaced by what can be read of it, and kept beside.
 * @param copies the folder of the copies of the backup
 * @throws the system's error
 */
export function restoreLedger(databaseFile: string, copies: string): RestoredLedger {
  const [target, source] = [
    filesOf(databaseFile),
    { ...filesIn(copies), keysFile: keysFileOf(databaseFile) },
  ];
  if (!hasTables(source.ledgerFile)) return { added: 0, differing: [], faults: [] };
  const faults: string[] = [];
  const add = () => {
    const { isDamaged, ...added } = addLedger(target, source);
    if (isDamaged) faults.push('The ledger of the backup is damaged: what can be read of it was added.');
    return added;
  };
  try {
    return { ...add(), faults };
  } catch (error) {
    faults.push(`The ledger at the location is damaged: ${(error as Error).message}`);
  }
  try {
    const { kept } = replaceLedger(databaseFile);
    faults.push(`What can be read of it was taken over; the damaged file is ${kept}.`);
    return { ...add(), faults };
  } catch (error) {
    faults.push(`The ledger of the backup was not added: ${(error as Error).message}`);
    return { added: 0, differing: [], faults };
  }
}

/**
 * Replaces a damaged ledger by what can be read of it, once nobody uses the registry.
 * @param backup the folder of a backup whose readings are added
 * @throws StorageError (as a rejection) while somebody does, or as `replaceLedger`
 */
export async function repairLedger(databaseFile: string, backup?: string): Promise<RepairedLedger> {
  await assertUnused(databaseFile, 0, (used) => `A process has ${used} open. Stop the service, then repair.`);
  if (!hasTables(ledgerFileOf(databaseFile)))
    throw new StorageError('unusable', 'There is no access ledger here: nothing was repaired.');
  const { kept, readings } = replaceLedger(databaseFile);
  if (backup === undefined) return { kept, readings, added: 0 };
  const { added } = addLedger(filesOf(databaseFile), filesIn(backup));
  return { kept, readings, added };
}

/**
 * Puts what can be read of a ledger in its place. The next reading begins a new chain.
 * @throws the system's error
 */
function replaceLedger(databaseFile: string): Omit<RepairedLedger, 'added'> {
  const { ledgerFile, keysFile } = filesOf(databaseFile);
  const repaired = `${ledgerFile}.repaired`;
  removeFile(repaired);
  const readings = takeOver({ ledgerFile: repaired, keysFile }, { ledgerFile, keysFile });
  const kept = freeName(ledgerFile);
  for (const path of withSideFiles(ledgerFile).filter((each) => existsSync(each)))
    renameSync(path, kept + path.slice(ledgerFile.length));
  if (existsSync(repaired)) renameSync(repaired, ledgerFile);
  syncPath(dirname(ledgerFile));
  return { kept, readings };
}

/** @returns how many readings; none of a file that is not a database any more */
function takeOver(target: LedgerFiles, source: LedgerFiles): number {
  try {
    const { added } = addLedger(target, source);
    leaveLogMode(target.ledgerFile);
    return added;
  } catch {
    removeFile(target.ledgerFile);
    return 0;
  }
}

function freeName(ledgerFile: string): string {
  for (let n = 1; ; n++) {
    const name = ledgerFile.replace(/(\.db)?$/, `.damaged-${n}.db`);
    if (!existsSync(name)) return name;
  }
}
