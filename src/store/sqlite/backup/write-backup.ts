/** Writes a backup of a registry, which may be in use (docs/backup.md#backup). */
import { existsSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { BackupOptions, WrittenBackup } from '../../contract/backup.ts';
import { StorageError } from '../../contract/storage-error.ts';
import { withDatabase } from '../engine/open-database.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import { hashFile, writePrivateFile } from '../files/durable-files.ts';
import { DATABASE_FILES, RESERVED_BYTES, readFreeBytes } from '../files/registry-files.ts';
import { keepErasures } from '../identity/erasures.ts';
import { readRegistryId } from '../identity/registry-id.ts';
import { closeSnapshots, copySnapshot, type Snapshot, takeSnapshots } from './copy-database.ts';
import { type Inspection, inspectDatabase } from './inspect.ts';
import { type CopiedLedger, copyLedger, isFull, ledgerBytes } from './ledger-copy.ts';
import { formatManifest, MANIFEST_NAME, type Manifest, type ManifestFile } from './manifest.ts';
import { completeFolder, createWorkFolder } from './work-folder.ts';

/** @param freeBytes of the disk that a path is on */
export type ReadFreeBytes = (path: string) => number;

/**
 * Writes a backup to a folder that does not exist or is empty. The folder gets its name only when everything
 * in it is complete, checked and on disk.
 * @throws StorageError; nothing is left in the folder then
 */
export async function writeBackup(
  databaseFile: string,
  target: string,
  options: BackupOptions,
  freeBytes: ReadFreeBytes = readFreeBytes,
): Promise<WrittenBackup> {
  const instantMs = options.now();
  completeErasures(databaseFile);
  let folder: string | undefined;
  let snapshots: readonly Snapshot[] = [];
  try {
    folder = createWorkFolder(target);
    assertRoom(ledgerBytes(databaseFile), folder, target, freeBytes);
    // Before the keys, which have those of all months in it.
    const ledger = await copyLedger(databaseFile, folder, options.signal);
    snapshots = takeSnapshots(databaseFile);
    assertRoom(
      snapshots.reduce((sum, { bytes }) => sum + bytes, 0),
      folder,
      target,
      freeBytes,
    );
    await copySnapshots(snapshots, folder, options);
    closeSnapshots(snapshots);
    const manifest = await describe(folder, ledger, { ...options, instantMs });
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
  folder: string,
  { signal, onProgress }: BackupOptions,
): Promise<void> {
  const all = snapshots.reduce((sum, { bytes }) => sum + bytes, 0);
  let before = 0;
  for (const snapshot of snapshots) {
    const report = onProgress && ((copied: number) => onProgress((before + copied) / all));
    await copySnapshot(snapshot, join(folder, snapshot.file.name), signal, report);
    before += snapshot.bytes;
  }
}

/** A command may have been killed before it had written an erasure to their file. */
function completeErasures(databaseFile: string): void {
  if (!existsSync(databaseFile)) return;
  const settings = { readOnly: true, waitMs: WAIT_MS.command };
  withDatabase(databaseFile, settings, (db) => keepErasures(db, databaseFile));
}

/** @returns the error with the path of the backup, if its disk caused it */
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

/** The disk may be that of the registry, which takes no writes when less than the reserve is free. */
function assertRoom(bytes: number, folder: string, target: string, freeBytes: ReadFreeBytes): void {
  if (freeBytes(folder) < bytes + RESERVED_BYTES) throw diskFull(target);
}

/** Reads the copies back: what the manifest says of them was seen on the disk. */
async function describe(
  folder: string,
  ledger: CopiedLedger,
  { program, instantMs, signal }: BackupOptions & Pick<Manifest, 'instantMs'>,
): Promise<Manifest> {
  const files: ManifestFile[] = [];
  let registry: Inspection | undefined;
  for (const { name, isOptional } of DATABASE_FILES) {
    const path = join(folder, name);
    if (!existsSync(path)) continue;
    const hash = await hashFile(path, undefined, signal);
    const found = inspectDatabase(path, 'quick');
    if (found.fault !== null) {
      throw new StorageError(
        'failed',
        `The copy of ${name} is damaged: ${found.fault}. No backup was written. Run check.`,
      );
    }
    if (!isOptional) registry = found;
    const { applicationId, schemaVersion } = found;
    files.push({ name, ...hash, applicationId, schemaVersion });
  }
  for (const name of ledger.names) {
    const path = join(folder, name);
    const { applicationId, schemaVersion, fault } = inspectDatabase(path, 'quick');
    if (fault !== null) ledger.faults.push(`${basename(name)}: it cannot be read: ${fault}.`);
    files.push({ name, ...(await hashFile(path, undefined, signal)), applicationId, schemaVersion });
  }
  const { rows, sequence } = registry as Inspection;
  const registryId = readRegistryId(join(folder, 'registry.db'));
  return { program, instantMs, files, rows, sequence, registryId, number: 0 };
}
