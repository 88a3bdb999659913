/** Restores a backup to a location (docs/backup.md#restore). */
import { existsSync, lstatSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { KIGALI, type TimeZone } from '../../../domain/values/date-time.ts';
import { createPrivateFolder } from '../../../runtime/new-files.ts';
import type { Restored, RestoreOptions } from '../../contract/backup.ts';
import { StorageError } from '../../contract/storage-error.ts';
import { withDatabase } from '../engine/open-database.ts';
import { renewEpoch } from '../events/append.ts';
import { copyPrivately, syncPath } from '../files/durable-files.ts';
import {
  backupsFileOf,
  DATABASE_FILES,
  type DatabaseFile,
  erasuresFileOf,
  keysFileOf,
  RESERVED_BYTES,
  readFreeBytes,
  webhooksFileOf,
  withSideFiles,
} from '../files/registry-files.ts';
import { addToErasuresFile, isOfRegistry, readErasuresFile } from '../identity/erasures.ts';
import { readRegistryId } from '../identity/registry-id.ts';
import { adoptOldLedger } from '../ledger/adopt-old-ledger.ts';
import { isLedgerFileOfBackup, LEDGER_FOLDER } from '../ledger/ledger-files.ts';
import { addMonthKeys } from '../ledger/month-keys.ts';
import { createReadModelFormat } from '../read-model/format.ts';
import { removeStaleStaging } from '../staging/staged/staging-database.ts';
import { assertTimeZone, timeZoneOf } from '../statistics/registry-time-zone.ts';
import { type ErasedAgain, eraseAgain, findErasures } from './erase-again.ts';
import { assertUnused } from './in-use.ts';
import { inspectDatabase } from './inspect.ts';
import { leapIds } from './leap-ids.ts';
import { copyReadable, restoreLedger } from './ledger-copy.ts';
import { type Manifest, ManifestError, type ManifestFile, readManifest } from './manifest.ts';
import { filesAt, RestoringFolder, wasInterrupted } from './restoring-folder.ts';
import { findWrongContent, findWrongFile } from './verify-backup.ts';

/** For a command that is about to end, such as `keys list`. */
const MAX_WAIT_MS = 1_000;

/** The zone of this process, where one is set, and a clock that never steps back. */
export interface RestoreScope {
  readonly zone: TimeZone | undefined;
  readonly monotonicMs: () => number;
}

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
    const { all, report, isMigrated, ledgerFaults } = await prepare(folder, manifest, restoring, {
      ...options,
      location,
      scope,
      onStep,
    });
    removeStaleStaging(databaseFile);
    restoring.moveOldFiles(onStep, foreignErasures(restoring));
    onStep('moved');
    restoring.placeCopies(onStep);
    onStep('placed');
    if (addToErasuresFile(erasuresFileOf(databaseFile), all)) onStep('erasures kept');
    const added = restoreLedger(databaseFile, restoring.copies);
    if (added.added > 0) onStep('ledger added');
    const ledger = { ...added, faults: [...ledgerFaults, ...added.faults] };
    const replacedFolder = restoring.finish(options.now());
    const isOlder = databasesOf(manifest).some(
      (file) =>
        file.name !== keysFileOf('registry.db') &&
        file.schemaVersion < newestOf(file) &&
        !(isMigrated && file === registryOf(manifest)),
    );
    return { backup: manifest, replacedFolder, isOlder, erasures: report, ledger };
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

/** Changes nothing at the location but for the name of a ledger of 1.0.0: if it fails, all is as it was. */
async function prepare(
  folder: string,
  manifest: Manifest,
  restoring: RestoringFolder,
  { location, scope, onStep, ...options }: Preparation,
): Promise<ErasedAgain & { readonly ledgerFaults: readonly string[] }> {
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
    // Of what is replaced, whose readings they are.
    adoptOldLedger(restoring.databaseFile, readRegistryId(restoring.oldDatabase) ?? '', MAX_WAIT_MS);
    restoring.prepareCopies();
    createPrivateFolder(join(copies, LEDGER_FOLDER));
    onStep('prepared');
    const ledgerFaults: string[] = [];
    for (const file of manifest.files) {
      if (isLedgerFileOfBackup(file.name) && !existsSync(join(folder, file.name))) {
        ledgerFaults.push(`${file.name}: it is missing.`);
        continue;
      }
      const fault = await copy(folder, copies, file);
      if (fault !== undefined && !isLedgerFileOfBackup(file.name)) throw notSound(folder, fault);
      if (fault !== undefined) ledgerFaults.push(fault);
      onStep(`copied ${file.name}`);
    }
    ledgerFaults.push(...keepMonthKeys(restoring));
    const found = await findErasures(restoring, options.erasuresFile, manifest.sequence);
    const registry = join(copies, registryOf(manifest).name);
    if (scope.zone !== undefined) assertTimeZone(registry, scope.zone);
    leapIds({
      registry,
      keys: join(copies, keysFileOf('registry.db')),
      webhooks: join(copies, webhooksFileOf('registry.db')),
    });
    const format = createReadModelFormat(scope.zone ?? timeZoneOf(registry) ?? KIGALI);
    const erasing = { ...options, onStep, instantMs: manifest.instantMs };
    const erased = eraseAgain(registry, found, { format, monotonicMs: scope.monotonicMs }, erasing);
    return { ...erased, ledgerFaults };
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

const databasesOf = ({ files }: Manifest): readonly ManifestFile[] =>
  files.filter(({ name }) => !isLedgerFileOfBackup(name));

const registryOf = (manifest: Manifest): ManifestFile =>
  databasesOf(manifest).find((file) => !kindOf(file).isOptional) as ManifestFile;

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
  for (const file of databasesOf(manifest)) {
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

/** The copies, and the registry once more where persons are erased from it again. */
function assertRoom(manifest: Manifest, location: string): void {
  const copied = manifest.files.reduce((sum, { bytes }) => sum + bytes, RESERVED_BYTES);
  const needed = copied + registryOf(manifest).bytes;
  if (readFreeBytes(resolve(location)) >= needed) return;
  throw new StorageError(
    'failed',
    `The disk of ${location} has no room for the backup. Nothing was restored.`,
  );
}

/**
 * What is checked is the copy itself, and before anything at the location changes.
 * @returns what is wrong with it
 */
async function copy(folder: string, target: string, file: ManifestFile): Promise<string | undefined> {
  const path = join(target, file.name);
  const isOfLedger = isLedgerFileOfBackup(file.name);
  const copied = await (isOfLedger ? copyReadable : copyPrivately)(join(folder, file.name), path);
  if (typeof copied === 'string') return `${file.name}: ${copied}`;
  const { bytes, sha256 } = copied;
  if (bytes !== file.bytes || sha256 !== file.sha256)
    return `${file.name}: its content has changed: the SHA-256 differs.`;
  if (isOfLedger) return undefined;
  // Nothing else will look into a file of an older schema before it is migrated.
  const found = inspectDatabase(path, file.schemaVersion < newestOf(file) ? 'full' : 'quick');
  const fault = findWrongContent(found, file);
  if (fault !== undefined) return `${file.name}: ${fault}`;
  // As every process of this program would when it opens the file: in WAL mode.
  withDatabase(path, { waitMs: 0 }, renewEpoch);
  syncPath(path);
  return undefined;
}

/** Erasures of another registry, which was at the location, are not those of this one. */
function foreignErasures({ copies, databaseFile }: RestoringFolder): string[] {
  const file = erasuresFileOf(databaseFile);
  const erasures = existsSync(file) ? readErasuresFile(file) : undefined;
  const isOwn = erasures === undefined || isOfRegistry(erasures, join(copies, 'registry.db'));
  return isOwn ? [] : withSideFiles(file).filter((path) => existsSync(path));
}

/** What has hashed the readings at the location: the keys that are there are replaced. @returns faults */
function keepMonthKeys({ copies, databaseFile, oldFolder }: RestoringFolder): string[] {
  const keys = keysFileOf(databaseFile);
  try {
    for (const old of [keys, join(oldFolder, basename(keys))])
      addMonthKeys(join(copies, keysFileOf('registry.db')), old);
    return [];
  } catch (error) {
    return [`The keys of the ledger's hashes could not be taken over: ${(error as Error).message}`];
  }
}
