/** Replaces the registry at a location with a backup (docs/backup.md#restore). */
import { randomInt } from 'node:crypto';
import { existsSync, lstatSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { COUNTED } from '../check/check.ts';
import { removeStaleStaging } from '../import/staging/import-session.ts';
import { keepRemovedId } from '../journal/change-sets.ts';
import { copyReadable, restoreLedger } from '../ledger/ledger-copy.ts';
import { createLedgerFolder, isLedgerFileOfBackup, LEDGER_FOLDER } from '../ledger/ledger-files.ts';
import { adoptOldLedger } from '../ledger/ledger-writer.ts';
import { addMonthKeys } from '../ledger/month-keys.ts';
import { addToErasuresFile, isOfRegistry, readErasuresFile } from '../registry/stored/erasures.ts';
import { createPrivateFolder } from '../runtime/process.ts';
import type { Connection } from '../sqlite/connection.ts';
import { copyPrivately, syncPath } from '../sqlite/durable-files.ts';
import { withDatabase } from '../sqlite/open-database.ts';
import { readRegistryId, timeZoneOf } from '../sqlite/registry-facts.ts';
import {
  backupsFileOf,
  DATABASE_FILES,
  type DatabaseFile,
  erasuresFileOf,
  findDatabase,
  keysFileOf,
  RESERVED_BYTES,
  readFreeBytes,
  webhooksFileOf,
  withSideFiles,
} from '../sqlite/registry-files.ts';
import { KEYS_SCHEMA } from '../sqlite/schemas.ts';
import { StorageError } from '../sqlite/sqlite-errors.ts';
import type { Storage } from '../sqlite/storage.ts';
import type { TimeZone } from '../values/date-time.ts';
import { eraseAgain, findErasures } from './erase-again.ts';
import { assertUnused } from './in-use.ts';
import { isUnknownFile, type Manifest, ManifestError, type ManifestFile, readManifest } from './manifest.ts';
import { filesAt, RestoringFolder, wasInterrupted } from './restoring-folder.ts';
import { findWrongContent, findWrongFile, inspectDatabase } from './verify-backup.ts';

// Each restore increases all counters of ids by a random number. Ids that were assigned after the backup,
// here or by a copy of the registry, are then never assigned again (docs/decisions/0035-registry-identity.md)

/** Range of the increase. Ids have at most 12 digits. */
const LEAP = { from: 1_000_000, to: 1_000_000_000, max: 999_999_999_999 };

/** For cooperatives: the index of names stores an id as two CJK characters, which limits ids to `max`. */
const COOPERATIVES = { from: 1_000_000, to: 2_000_000, max: 418_000_000 };

/**
 * @param registry copy of the main database, next to copies of the other files; no other process has it open
 * @param leap returns a random number in the range; replaced in tests
 * @throws StorageError `failed` when an id would exceed its maximum
 */
export function leapIds(registry: string, leap: (from: number, to: number) => number = randomInt): void {
  const next = (table: string, last: number): number => {
    const { from, to, max } = table === 'cooperatives' ? COOPERATIVES : LEAP;
    const id = last + leap(from, to);
    if (id <= max) return id;
    throw new StorageError(
      'failed',
      `The ids of ${table} would be higher than ${max}. Nothing was restored.`,
    );
  };
  withDatabase(registry, { waitMs: 0 }, (db) =>
    db.transaction.immediate(() => {
      for (const table of COUNTED) keepRemovedId(db, table, next(table, lastId(db, table)));
      leapSequences(db, next);
    }),
  );
  const keys = keysFileOf(registry);
  if (existsSync(keys))
    withDatabase(keys, { waitMs: 0, schema: KEYS_SCHEMA }, (db) => {
      const last = db.value<number>(
        'SELECT max((SELECT coalesce(max(id), 0) FROM api_keys), (SELECT last_id FROM last_key_id))',
      );
      db.run('UPDATE last_key_id SET last_id = ?', [next('api_keys', last)]);
    });
  const webhooks = webhooksFileOf(registry);
  if (existsSync(webhooks))
    withDatabase(webhooks, { waitMs: 0 }, (db) => db.transaction.immediate(() => leapSequences(db, next)));
}

const lastId = (db: Connection, table: string): number =>
  db.value<number>(
    `SELECT max(coalesce((SELECT max(id) FROM ${table}), 0),
       coalesce((SELECT last_id FROM removed_ids WHERE table_name = '${table}'), 0))`,
  );

/** Includes tables that never had a row, which are not in `sqlite_sequence` yet. */
function leapSequences(db: Connection, next: (table: string, last: number) => number): void {
  const tables = db.values<string>(
    `SELECT name FROM sqlite_schema
     WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%' AND name NOT LIKE 'sqlite_%'`,
  );
  for (const table of tables) {
    const last = db.value<number | undefined>('SELECT seq FROM sqlite_sequence WHERE name = ?', [table]);
    const seq = next(table, last ?? 0);
    if (last === undefined) db.run('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)', [table, seq]);
    else db.run('UPDATE sqlite_sequence SET seq = ? WHERE name = ?', [seq, table]);
  }
}

/** Maximum wait for other processes, enough for a short command such as `keys list` to end. */
const MAX_WAIT_MS = 1_000;

interface RestoreOptions {
  /** True to move existing files into a folder; if false, the location must be empty. */
  readonly replace: boolean;
  /** File of erasures from elsewhere, newer than the backup. */
  readonly erasuresFile?: string | undefined;
  /** Returns epoch milliseconds. */
  readonly now: () => number;
  readonly systemUser: string;
  /** Called after each change on disk. Tests kill the process in this function. */
  readonly onStep?: (step: string) => void;
}

export type Restored = Awaited<ReturnType<typeof restore>>;

/**
 * Replaces the files at a location with a backup. If the process is killed, the location has either the
 * complete old registry, or files that only another restore can use.
 * @throws StorageError when the backup is not sound, the location is in use, or the location has files and
 * `replace` is false; CommandError when the file of erasures is missing. The location is then unchanged.
 */
export async function restore(
  storage: Storage,
  folder: string,
  { onStep = () => undefined, ...options }: RestoreOptions,
) {
  const { location } = storage;
  const databaseFile = resolve(location);
  const manifest = readSound(folder);
  if (!options.replace && !wasInterrupted(databaseFile)) assertNothingAt(databaseFile);
  assertNoLinks(databaseFile);
  const restoring = new RestoringFolder(databaseFile);
  try {
    const prepared = await prepare(folder, manifest, restoring, storage, { ...options, onStep });
    const { all, report, isMigrated, ledgerFaults } = prepared;
    removeStaleStaging(databaseFile);
    restoring.moveOldFiles(onStep, foreignErasures(restoring));
    onStep('moved');
    restoring.placeCopies(onStep);
    onStep('placed');
    if (addToErasuresFile(erasuresFileOf(databaseFile), all)) onStep('erasures kept');
    const addition = await restoreLedger(databaseFile, restoring.copies);
    if (addition.added > 0) onStep('ledger added');
    const ledger = { ...addition, faults: [...ledgerFaults, ...addition.faults] };
    const replacedFolder = restoring.finish(options.now());
    const isOlder = databasesOf(manifest).some(
      (file) =>
        file.name !== keysFileOf('registry.db') &&
        file.schema_version < newestOf(file) &&
        !(isMigrated && file === registryOf(manifest)),
    );
    return {
      backup: manifest,
      /** Folder of the files that were at the location; undefined if there were no files. */
      replacedFolder,
      /** True if a restored file has the schema of an older release, which the next opening migrates. */
      isOlder,
      erasures: report,
      ledger,
    };
  } catch (error) {
    throw toRestoreError(error, location);
  } finally {
    restoring.close();
  }
}

function assertZoneOfBackup(registry: string, { suffix }: TimeZone): void {
  const stored = timeZoneOf(registry)?.suffix;
  if (stored === undefined || stored === suffix) return;
  throw new StorageError(
    'unusable',
    `The backup is in the time zone ${stored}, and TIME_ZONE_OFFSET is ${suffix}. ` +
      'Restore it without this setting.',
  );
}

/** Prepares the copies. A failure leaves the location unchanged, but may leave a ledger of 1.0.0 moved. */
async function prepare(
  folder: string,
  manifest: Manifest,
  restoring: RestoringFolder,
  { location, configuredZone, monotonicMs }: Storage,
  options: RestoreOptions & { readonly onStep: (step: string) => void },
) {
  const { onStep } = options;
  const { copies } = restoring;
  try {
    onStep('announced');
    await assertUnused(
      restoring.databaseFile,
      MAX_WAIT_MS,
      (file) =>
        `A process has ${file} open. Stop the service and every command on ${location}, then restore.`,
    );
    assertRoom(manifest, location);
    // A ledger of 1.0.0 at the location belongs to the replaced registry, and gets the id of that registry.
    adoptOldLedger(restoring.databaseFile, readRegistryId(restoring.oldDatabase) ?? '', MAX_WAIT_MS);
    restoring.prepareCopies();
    createPrivateFolder(join(copies, LEDGER_FOLDER));
    onStep('prepared');
    const ledgerFaults: string[] = [];
    for (const file of manifest.files) {
      if (isUnknownFile(file.name)) continue;
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
    const erasures = await findErasures(restoring, options.erasuresFile, manifest.sequence);
    const registry = join(copies, 'registry.db');
    if (configuredZone !== undefined) assertZoneOfBackup(registry, configuredZone);
    if (manifest.files.some(({ name }) => isLedgerFileOfBackup(name)))
      createLedgerFolder(restoring.databaseFile);
    leapIds(registry);
    const erasing = { ...options, configuredZone, monotonicMs };
    return { ...eraseAgain(registry, erasures, manifest.instantMs, erasing), ledgerFaults };
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

const databasesOf = ({ files }: Manifest): readonly ManifestFile[] =>
  files.filter(({ name }) => findDatabase(name) !== undefined);

const registryOf = ({ files }: Manifest): ManifestFile =>
  files.find(({ name }) => name === 'registry.db') as ManifestFile;

const newestOf = ({ name }: ManifestFile): number =>
  (findDatabase(name) as DatabaseFile).schema.migrations.length;

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
  // After the loss of a registry, its record of backups may be the only file left.
  const files = filesAt(databaseFile).filter((file) => file !== backupsFileOf(databaseFile));
  if (files.length === 0) return;
  throw new StorageError(
    'failed',
    `There are files of a registry already: ${files.join(', ')}. To move them aside, add --replace.`,
  );
}

/** Refuses links: a restore would replace the link, but SQLite's side files are beside the link's target. */
function assertNoLinks(databaseFile: string): void {
  for (const path of DATABASE_FILES.map(({ pathAt }) => pathAt(databaseFile))) {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      throw new StorageError('unusable', `${path} is a symbolic link. Name the file that it points to.`);
  }
}

/** Requires `RESERVED_BYTES`, room for all copies, and room for erasures to rewrite the registry. */
function assertRoom(manifest: Manifest, location: string): void {
  const copied = manifest.files
    .filter(({ name }) => !isUnknownFile(name))
    .reduce((sum, { bytes }) => sum + bytes, RESERVED_BYTES);
  const needed = copied + registryOf(manifest).bytes;
  if (readFreeBytes(resolve(location)) >= needed) return;
  throw new StorageError(
    'failed',
    `The disk of ${location} has no room for the backup. Nothing was restored.`,
  );
}

/** Copies a file and checks the copy. @returns the fault of the copy; undefined for a sound copy */
async function copy(folder: string, target: string, file: ManifestFile): Promise<string | undefined> {
  const path = join(target, file.name);
  const isOfLedger = isLedgerFileOfBackup(file.name);
  const copied = await (isOfLedger ? copyReadable : copyPrivately)(join(folder, file.name), path);
  if (typeof copied === 'string') return `${file.name}: ${copied}`;
  const { bytes, sha256 } = copied;
  if (bytes !== file.bytes || sha256 !== file.sha256)
    return `${file.name}: its content has changed: the SHA-256 differs.`;
  if (isOfLedger) return undefined;
  // A file of an older schema is checked in full, because later checks need the migrated schema.
  const inspection = inspectDatabase(path, file.schema_version < newestOf(file) ? 'full' : 'quick');
  const fault = findWrongContent(inspection, file);
  if (fault !== undefined) return `${file.name}: ${fault}`;
  // Opening the file also switches the file to WAL mode.
  withDatabase(path, { waitMs: 0 }, renewEpoch);
  syncPath(path);
  return undefined;
}

/** If the file of erasures at the location is of another registry, lists the file and its side files. */
function foreignErasures({ copies, databaseFile }: RestoringFolder): string[] {
  const file = erasuresFileOf(databaseFile);
  const erasures = existsSync(file) ? readErasuresFile(file) : undefined;
  const isOwn = erasures === undefined || isOfRegistry(erasures, join(copies, 'registry.db'));
  return isOwn ? [] : withSideFiles(file).filter((path) => existsSync(path));
}

/** Adds the month keys of the location to the copied keys, for the location's ledger. @returns faults */
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

/**
 * Makes followers of a restored copy start again. The copy lacks the last events of the original, and will
 * give the same numbers to other events. Does nothing to a file without the table `feed`.
 */
function renewEpoch(db: Connection): void {
  if (!db.has("sqlite_schema WHERE name = 'feed'")) return;
  db.exec('UPDATE feed SET epoch = lower(hex(randomblob(8)))');
}
