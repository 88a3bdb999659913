/** Writes a backup of a registry, which may be in use (docs/backup.md#backup). */
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { copyLedger, isFull, ledgerBytes } from '../ledger/ledger-copy.ts';
import { keepErasures } from '../registry/stored/erasures.ts';
import { createFolder, createPrivateFolder } from '../runtime/process.ts';
import { typedCommand } from '../runtime/typed-command.ts';
import { WAIT_MS } from '../sqlite/connection.ts';
import { closeSnapshots, copySnapshot, type Snapshot, takeSnapshots } from '../sqlite/copy-database.ts';
import { hashFile, syncPath, writePrivateFile } from '../sqlite/durable-files.ts';
import { isRunning } from '../sqlite/file-use.ts';
import { withDatabase } from '../sqlite/open-database.ts';
import { readRegistryId } from '../sqlite/registry-facts.ts';
import { DATABASE_FILES, RESERVED_BYTES, readFreeBytes } from '../sqlite/registry-files.ts';
import { StorageError } from '../sqlite/sqlite-errors.ts';
import { formatManifest, MANIFEST_NAME, type Manifest, type ManifestFile } from './manifest.ts';
import { type Inspection, inspectDatabase } from './verify-backup.ts';

// A backup is written to a folder `NAME.incomplete-PID`, which is renamed at the end. A killed process leaves
// this folder. The next backup with the same name removes the folder. All dated names count as one name.

export interface BackupOptions {
  readonly program: string;
  /** Returns epoch milliseconds. */
  readonly now: () => number;
  /** Stops the backup before its next step, and removes the files that were written so far. */
  readonly signal?: AbortSignal;
  /** Called while databases are copied. Reading the copies back takes about as long, but is not reported. */
  readonly onProgress?: (fraction: number) => void;
}

export interface WrittenBackup extends Manifest {
  /** Fault of the first ledger file that could not be copied; null if the copy of the ledger is complete. */
  readonly ledgerFault: string | null;
}

/** True for the name of a dated backup. Names of 1.0.0 have no number. */
export const isDatedName = (name: string): boolean =>
  /^(?:[0-9]{6,12}-)?[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}Z(?:-[1-9][0-9]*)?$/.test(name);

/** Name of a folder while its backup is being written or removed. */
export const incompleteNameOf = (name: string): string => `${name}.incomplete-${process.pid}`;

/** @throws StorageError `unusable` when the target is not a new or empty folder, or cannot be created */
function createWorkFolder(target: string): string {
  assertNewOrEmpty(target);
  const folder = incompleteNameOf(resolve(target));
  try {
    createFolder(dirname(folder));
    removeIncomplete(dirname(folder), basename(resolve(target)));
    createPrivateFolder(folder);
    return folder;
  } catch (error) {
    throw cannotBeWritten(target, error);
  }
}

function assertNewOrEmpty(target: string): void {
  const stats = statSync(target, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isDirectory()) throw new StorageError('unusable', `${target} is not a folder.`);
  let names: string[];
  try {
    names = readdirSync(target);
  } catch (error) {
    throw cannotBeWritten(target, error);
  }
  if (names.length > 0)
    throw new StorageError('unusable', `${target} is not empty. Choose a new or an empty folder.`);
}

function completeFolder(folder: string, target: string): void {
  syncPath(folder);
  try {
    // A rename also replaces an empty folder.
    renameSync(folder, resolve(target));
  } catch (error) {
    throw cannotBeWritten(target, error);
  }
  syncPath(dirname(folder));
}

const cannotBeWritten = (target: string, error: unknown): StorageError => {
  const { code, message } = error as NodeJS.ErrnoException;
  const hint = code === 'EBUSY' ? ' It is the root of a disk: choose a folder in it.' : '';
  return new StorageError('unusable', `${target} cannot be written: ${message}.${hint}`, { cause: error });
};

function removeIncomplete(parent: string, target: string): void {
  const isSame = isDatedName(target) ? isDatedName : (other: string) => other === target;
  for (const name of readdirSync(parent)) {
    const [, other, pid] = /^(.*)\.incomplete-([0-9]+)$/.exec(name) ?? [];
    if (other === undefined || !isSame(other) || isOfRunning(Number(pid))) continue;
    rmSync(join(parent, name), { recursive: true, force: true });
  }
}

/** False for the id of this process: in a container, a killed backup may have had the same process id. */
const isOfRunning = (pid: number): boolean => pid !== process.pid && isRunning(pid);

/**
 * Writes a backup to a new or empty folder. The files appear together, once all are checked and on disk.
 * @throws StorageError, or the abort reason of the signal, after removing the files
 */
export async function writeBackup(
  databaseFile: string,
  target: string,
  options: BackupOptions,
  freeBytes = readFreeBytes,
): Promise<WrittenBackup> {
  const instantMs = options.now();
  // A killed command may have committed erasures without adding them to the file of erasures.
  if (existsSync(databaseFile))
    withDatabase(databaseFile, { readOnly: true, waitMs: WAIT_MS.command }, (db) =>
      keepErasures(db, databaseFile),
    );
  let folder: string | undefined;
  let snapshots: readonly Snapshot[] = [];
  try {
    folder = createWorkFolder(target);
    const free = () => freeBytes(folder as string);
    assertRoom(ledgerBytes(databaseFile), target, free);
    // The ledger is copied first, so that the copied file of keys has the month keys of all copied entries.
    const ledger = await copyLedger(databaseFile, folder, options.signal);
    snapshots = takeSnapshots(databaseFile);
    const bytes = snapshots.reduce((sum, snapshot) => sum + snapshot.bytes, 0);
    assertRoom(bytes, target, free);
    await copySnapshots(snapshots, bytes, folder, options);
    closeSnapshots(snapshots);
    const manifest = await describe(databaseFile, folder, ledger, instantMs, options);
    writePrivateFile(join(folder, MANIFEST_NAME), formatManifest(manifest));
    completeFolder(folder, target);
    return { ...manifest, ledgerFault: ledger.faults[0] ?? null };
  } catch (error) {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    throw toBackupError(target, error);
  } finally {
    closeSnapshots(snapshots);
  }
}

async function copySnapshots(
  snapshots: readonly Snapshot[],
  all: number,
  folder: string,
  { signal, onProgress }: BackupOptions,
): Promise<void> {
  let before = 0;
  for (const { file, db, bytes } of snapshots) {
    const report = onProgress && ((fraction: number) => onProgress((before + bytes * fraction) / all));
    await copySnapshot(db, join(folder, file.name), signal, report);
    before += bytes;
  }
}

/** @returns an error that names the folder if its disk caused the failure; otherwise the same error */
function toBackupError(target: string, error: unknown): unknown {
  if (isFull(error)) return diskFull(target, error);
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (error instanceof StorageError || !/^(?:E[A-Z]+|SQLITE_IOERR.*)$/.test(code)) return error;
  return new StorageError('failed', `The backup in ${target} failed: ${message}. Nothing was kept of it.`, {
    cause: error,
  });
}

const diskFull = (target: string, cause?: unknown) =>
  new StorageError('failed', `The disk of ${target} has no room for the backup. Nothing was kept of it.`, {
    cause,
  });

/** Also requires `RESERVED_BYTES`: with less room, a registry on the same disk refuses writes. */
function assertRoom(bytes: number, target: string, free: () => number): void {
  if (free() < bytes + RESERVED_BYTES) throw diskFull(target);
}

/** Reads the copies back from the disk, checks them, and describes them in a manifest. */
async function describe(
  databaseFile: string,
  folder: string,
  ledger: Awaited<ReturnType<typeof copyLedger>>,
  instantMs: number,
  { program, signal }: BackupOptions,
): Promise<Manifest> {
  const files: ManifestFile[] = [];
  async function add(name: string): Promise<Inspection> {
    const path = join(folder, name);
    const hash = await hashFile(path, undefined, signal);
    const inspection = inspectDatabase(path, 'quick');
    const { applicationId, schemaVersion } = inspection;
    files.push({ name, ...hash, application_id: applicationId, schema_version: schemaVersion });
    return inspection;
  }
  let registry: Inspection | undefined;
  for (const { name, isOptional } of DATABASE_FILES) {
    if (!existsSync(join(folder, name))) continue;
    const inspection = await add(name);
    if (inspection.fault !== null)
      throw new StorageError(
        'failed',
        `The copy of ${name} is damaged: ${inspection.fault}. No backup was written. ` +
          `Run ${typedCommand('check', databaseFile)}`,
      );
    if (!isOptional) registry = inspection;
  }
  for (const name of ledger.names) {
    const { fault } = await add(name);
    if (fault !== null) ledger.faults.push(`${basename(name)}: it cannot be read: ${fault}.`);
  }
  const { rows, sequence } = registry as Inspection;
  const registryId = readRegistryId(join(folder, 'registry.db'));
  return { program, instantMs, files, rows, sequence, registryId, number: 0 };
}
