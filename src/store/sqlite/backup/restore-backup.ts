/** Restores a backup to a location (docs/backup.md#restore). */
import { lstatSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Restored, RestoreOptions } from '../../ports/backup.ts';
import { StorageError } from '../../ports/storage-error.ts';
import { withDatabase } from '../engine/open-database.ts';
import { renewEpoch } from '../events/epoch.ts';
import { copyPrivately, syncPath } from '../files/durable-files.ts';
import {
  backupsFileOf,
  DATABASE_FILES,
  type DatabaseFile,
  erasuresFileOf,
  RESERVED_BYTES,
  readFreeBytes,
} from '../files/registry-files.ts';
import { addToErasuresFile } from '../identity/erasures.ts';
import { removeStaleStaging } from '../staging/staged/staging-file.ts';
import { type ErasedAgain, eraseAgain, findErasures, type RestoreScope } from './erase-again.ts';
import { assertUnused } from './in-use.ts';
import { type Manifest, ManifestError, type ManifestFile, readManifest } from './manifest.ts';
import { filesAt, RestoringFolder, wasInterrupted } from './restoring-folder.ts';
import { findWrongContent, findWrongFile } from './verify-backup.ts';

/** For a command that is about to end, such as `keys list`. */
const MAX_WAIT_MS = 1_000;

/** @param onStep called after each change on disk; given by tests, which end the process in it */
export async function restoreBackup(
  location: string,
  folder: string,
  scope: RestoreScope,
  options: RestoreOptions,
  onStep: (step: string) => void = () => undefined,
): Promise<Restored> {
  const databaseFile = resolve(location);
  const manifest = readSound(folder);
  const isResumed = wasInterrupted(databaseFile);
  if (!isResumed && !options.replace) assertNothingAt(databaseFile);
  assertNoLinks(databaseFile);
  const restoring = new RestoringFolder(databaseFile);
  try {
    const { all, report, isMigrated } = await prepare(folder, manifest, restoring, {
      ...{ ...options, location, scope, onStep },
    });
    removeStaleStaging(databaseFile);
    restoring.moveOldFiles(onStep);
    onStep('moved');
    restoring.placeCopies(onStep);
    onStep('placed');
    if (addToErasuresFile(erasuresFileOf(databaseFile), all)) onStep('erasures kept');
    const replacedFolder = restoring.finish(options.now());
    const isOlder = manifest.files.some(
      (file) => file.schemaVersion < newestOf(file) && !(isMigrated && file === registryOf(manifest)),
    );
    return { backup: manifest, replacedFolder, isOlder, erasures: report };
  } catch (error) {
    throw toRestoreError(error, location);
  } finally {
    restoring.close();
  }
}

interface Preparation extends RestoreOptions {
  /** As the configuration names it. */
  readonly location: string;
  readonly scope: RestoreScope;
  readonly onStep: (step: string) => void;
}

/** Changes nothing at the location; whatever goes wrong, it is as it was. */
async function prepare(
  folder: string,
  manifest: Manifest,
  restoring: RestoringFolder,
  { location, scope, onStep, ...options }: Preparation,
): Promise<ErasedAgain> {
  const { copies } = restoring;
  try {
    onStep('announced');
    await assertUnused(
      resolve(location),
      MAX_WAIT_MS,
      (used) =>
        `A process has ${used} open. Stop the service and every command on ${location}, then restore.`,
    );
    assertRoom(manifest, location);
    restoring.prepareCopies();
    onStep('prepared');
    for (const file of manifest.files) {
      await copy(folder, copies, file);
      onStep(`copied ${file.name}`);
    }
    const found = await findErasures(restoring, options.erasuresFile);
    const registry = join(copies, registryOf(manifest).name);
    return eraseAgain(registry, found, scope, { ...options, onStep, instantMs: manifest.instantMs });
  } catch (error) {
    restoring.abandon();
    throw error;
  }
}

function toRestoreError(error: unknown, location: string): unknown {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (error instanceof StorageError || !/^(?:E[A-Z]+|SQLITE_\w+)$/.test(code)) return error;
  return new StorageError('failed', `The restore into ${location} failed: ${message}. Run it again.`, {
    cause: error,
  });
}

const kindOf = ({ name }: ManifestFile): DatabaseFile =>
  DATABASE_FILES.find((file) => file.name === name) as DatabaseFile;

const registryOf = ({ files }: Manifest): ManifestFile =>
  files.find((file) => !kindOf(file).isOptional) as ManifestFile;

const newestOf = (file: ManifestFile): number => kindOf(file).schema.migrations.length;

const notSound = (folder: string, fault: string, cause?: unknown) =>
  new StorageError('failed', `${folder} is not a sound backup. Nothing was restored. ${fault}`, { cause });

function readSound(folder: string): Manifest {
  let manifest: Manifest;
  try {
    manifest = readManifest(folder);
  } catch (error) {
    if (error instanceof ManifestError) throw notSound(folder, error.message, error);
    throw error;
  }
  for (const file of manifest.files) {
    const fault = findWrongFile(join(folder, file.name), file);
    if (fault !== undefined) throw notSound(folder, `${file.name}: ${fault}`);
  }
  return manifest;
}

function assertNothingAt(databaseFile: string): void {
  // What is known of backups may be all that is left of a lost registry.
  const found = filesAt(databaseFile).filter((file) => file !== backupsFileOf(databaseFile));
  if (found.length === 0) return;
  throw new StorageError(
    'failed',
    `There are files of a registry already: ${found.join(', ')}. To move them aside, add --replace.`,
  );
}

/** SQLite keeps its files beside the one that a link points to; a restore would replace the link. */
function assertNoLinks(databaseFile: string): void {
  for (const path of DATABASE_FILES.map(({ pathAt }) => pathAt(databaseFile))) {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      throw new StorageError('unusable', `${path} is a symbolic link. Name the file that it points to.`);
  }
}

function assertRoom({ files }: Manifest, location: string): void {
  const needed = files.reduce((sum, { bytes }) => sum + bytes, RESERVED_BYTES);
  if (readFreeBytes(resolve(location)) >= needed) return;
  throw new StorageError(
    'failed',
    `The disk of ${location} has no room for the backup. Nothing was restored.`,
  );
}

/** What is checked is the copy itself, and before anything at the location changes. */
async function copy(folder: string, target: string, file: ManifestFile): Promise<void> {
  const path = join(target, file.name);
  const { bytes, sha256 } = await copyPrivately(join(folder, file.name), path);
  if (bytes !== file.bytes || sha256 !== file.sha256)
    throw notSound(folder, `${file.name}: its content has changed: the SHA-256 differs.`);
  // Nothing else will look into a file of an older schema before it is migrated.
  const fault = findWrongContent(path, file, file.schemaVersion < newestOf(file) ? 'full' : 'quick');
  if (fault !== undefined) throw notSound(folder, `${file.name}: ${fault}`);
  // As every process of this program would when it opens the file: in WAL mode.
  withDatabase(path, { waitMs: 0 }, renewEpoch);
  syncPath(path);
}
