/** An import session: a connection to the registry with a staging file, for one file after another. */

import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { findSameImport } from '../../journal/operations.ts';
import type { ImportKind } from '../../registry/file-columns.ts';
import { wasReplacedSql } from '../../registry/stored/former-ids.ts';
import { numberEqualRows } from '../../registry/stores/entry-store.ts';
import { formatOf, type ReadModelFormat } from '../../registry/stores/read-model.ts';
import { type Connection, WAIT_MS } from '../../sqlite/connection.ts';
import {
  DELIVERY_COUNTS,
  ERASED_STATUS,
  LOAN_COUNTS,
  MEMBER_COUNTS,
  PAYMENT_COUNTS,
  SAVINGS_COUNTS,
  sizeSql,
} from '../../sqlite/counts.ts';
import type { Totals } from '../../sqlite/declared-totals.ts';
import { createPrivateFile } from '../../sqlite/durable-files.ts';
import { isLocked, isRunning } from '../../sqlite/file-use.ts';
import { openDatabase, openTemporary } from '../../sqlite/open-database.ts';
import { exists, STAGING_INFIX, sizeOf } from '../../sqlite/registry-files.ts';
import { REGISTRY_SCHEMA } from '../../sqlite/schemas.ts';
import type { Storage } from '../../sqlite/storage.ts';
import { renewTotalsUnlessBusy } from '../../sqlite/stored-totals.ts';
import type { StagedRow } from '../../values/declared-fields.ts';
import {
  addPaymentMessages,
  addSqlFunctions,
  otherTimeZone,
  readDataVersion,
  resolveAndCheck,
  runChecks,
  TRAILING_ZERO,
  useCurrentNumbers,
} from '../checks/run-checks.ts';
import type { ImportFault } from '../files/records.ts';
import { type CheckedFile, openCheckedFile } from './apply-checked-file.ts';
import {
  type CheckOptions,
  createFileTables,
  createSessionTables,
  inStaging,
  openFaultInsert,
  openRowInsert,
  type StagedFile,
  stagedColumns,
  UTC,
} from './staging-tables.ts';

// Staging files: private files next to the database. An import removes its file when it ends. The files of
// killed imports are removed at the start of an import or of the service, and by a restore.

const JOURNAL = '-journal';
/** Maximum age of an empty staging file that its import has perhaps not locked yet. */
const FRESH_MS = 10_000;

/** Creates a private file, because SQLite would create one that others can read. */
export function createStagingFile(databaseFile: string): string {
  const file = `${databaseFile}${STAGING_INFIX}${process.pid}-${randomBytes(4).toString('hex')}`;
  createPrivateFile(file);
  return file;
}

/** Attaches the file without durability, because a crash ends the import. */
export function attachStaging(db: Connection, file: string): void {
  db.run('ATTACH ? AS staging', [file]);
  for (const setting of [
    'journal_mode = TRUNCATE',
    'synchronous = OFF',
    'secure_delete = OFF',
    'cache_size = -16384',
    // The lock, from the first write to the end, shows other processes that the file is in use.
    'locking_mode = EXCLUSIVE',
  ]) {
    db.raw.pragma(`staging.${setting}`);
  }
}

function removeStagingFile(file: string): void {
  for (const suffix of ['', JOURNAL]) rmSync(file + suffix, { force: true });
}

/**
 * Removes the staging files of killed imports. Only the lock of a file shows that it is in use: in
 * containers, several imports may have the same process id.
 */
export function removeStaleStaging(databaseFile: string): number {
  const stale = listStaging(databaseFile).filter((file) => !isInUse(file));
  for (const file of stale) removeStagingFile(file);
  return stale.length;
}

export function readRunningImports(databaseFile: string) {
  const files = listStaging(databaseFile).filter(isInUse);
  const sizes = files.map(sizeOf);
  return { running: files.length, stagedBytes: sizes.reduce((sum, bytes) => sum + bytes, 0) };
}

function listStaging(databaseFile: string): string[] {
  const folder = dirname(databaseFile);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.startsWith(basename(databaseFile) + STAGING_INFIX) && !name.endsWith(JOURNAL))
    .map((name) => join(folder, name));
}

function isInUse(file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats?.size !== 0) return isLocked(file);
  const pid = Number(/-([0-9]+)-[0-9a-f]+$/.exec(file)?.[1] ?? 0);
  return Date.now() - stats.mtimeMs < FRESH_MS && pid !== 0 && isRunning(pid);
}

export type RegistrySize = ReturnType<typeof readSize>;

/** Counts the rows of each kind. Cooperatives are counted row by row; the other numbers are stored counts. */
export function readSize(db: Connection) {
  const countRows = (counts: Totals) => db.value<number>(sizeSql(counts));
  return db.transaction.deferred(() => ({
    cooperatives: db.count('main.cooperatives'),
    members: countRows(MEMBER_COUNTS.large),
    deliveries: countRows(DELIVERY_COUNTS),
    loans: countRows(LOAN_COUNTS.large),
    payments: countRows(PAYMENT_COUNTS.large),
    transactions: countRows(SAVINGS_COUNTS),
  }));
}

// Rows with the code or national ID of a member who was merged into another member
// (docs/correcting.md#registered-twice). These rows belong to the remaining member. `useCurrentNumbers`
// finds most of these rows, but not those of a person who still has the former ID in another cooperative.

/** Returns SQL for the last value of a removed member's field. */
const lastOf = (field: string): string => `(SELECT h.old FROM main.changes h
  WHERE h.entity = 'members' AND h.row_id = g.id AND h.field = '${field}' ORDER BY h.id DESC LIMIT 1)`;

const HAS_FORMER_CODE = `f.member_code = r.member_code
  AND NOT EXISTS (SELECT 1 FROM main.members o
    WHERE o.cooperative_id = m.cooperative_id AND o.member_code = r.member_code)
  AND NOT EXISTS (SELECT 1 FROM staging.known_members k
    WHERE k.cooperative_code = r.cooperative_code AND k.member_code = r.member_code)
  AND NOT EXISTS (SELECT 1 FROM staging.former_members x WHERE x.cooperative_code = f.cooperative_code
    AND x.member_code = f.member_code AND x.into_id <> f.into_id)`;

/**
 * SQL condition: the row has the national ID of the merged member. False for an ID that a correction
 * replaced, even if the ID was later released.
 */
const HAS_FORMER_NUMBER = `f.identity_card = r.identity_card
  AND NOT EXISTS (SELECT 1 FROM main.members o
    WHERE o.cooperative_id = m.cooperative_id AND o.identity_card = r.identity_card)
  AND NOT ${wasReplacedSql('r.identity_card')}`;

/** SQL after FROM with the former member `f` and the remaining member `m`. */
const FOUND = `staging.former_members f CROSS JOIN main.members m ON m.id = f.into_id
  WHERE f.cooperative_code = r.cooperative_code`;

/** Makes the rows refer to the remaining members. If members change later, repeated checks report faults. */
function useRemainingMembers({ db, kind }: StagedFile): void {
  if (!stagedColumns(kind).some(({ name }) => name === 'member_code')) return;
  if (!db.has('main.former_members')) return;
  // Uses the cooperative of the remaining member, because that of the former member may have been merged.
  db.exec(`DELETE FROM staging.former_members;
    INSERT INTO staging.former_members (cooperative_code, member_code, identity_card, into_id)
    SELECT c.code, ${lastOf('member_code')}, ${lastOf('identity_card')}, g.into_id
    FROM main.former_members g CROSS JOIN main.members m ON m.id = g.into_id
    CROSS JOIN main.cooperatives c ON c.id = m.cooperative_id
    WHERE m.status <> '${ERASED_STATUS}'`);
  if (kind === 'members') {
    // The code must match too. A row with the former national ID but another code may be a person whom
    // another cooperative registered with this national ID, and who now joins this cooperative.
    const isFormer = `${HAS_FORMER_NUMBER} AND f.member_code = r.member_code`;
    db.exec(`INSERT OR IGNORE INTO staging.replaced_numbers (line, number)
        SELECT r.line, r.identity_card FROM staging.rows r CROSS JOIN ${FOUND} AND ${isFormer};
      UPDATE staging.rows AS r SET identity_card = m.identity_card FROM ${FOUND} AND ${isFormer}`);
    return;
  }
  db.exec(`UPDATE staging.rows AS r SET member_code = m.member_code,
      identity_card = iif(r.identity_card = f.identity_card, m.identity_card, r.identity_card)
    FROM ${FOUND} AND ${HAS_FORMER_CODE}`);
  db.exec(`UPDATE staging.rows AS r SET member_code = m.member_code, identity_card = m.identity_card
    FROM ${FOUND} AND ${HAS_FORMER_NUMBER} AND r.member_code IS NULL`);
}

/** Begins a file. Its rows are added in batches, so that memory does not grow with the file. */
export function openStaging(file: StagedFile) {
  const { db, kind, assertCurrent } = file;
  createFileTables(db, kind);
  const insertRows = openRowInsert(db, kind, file.columns);
  const insertFaults = openFaultInsert(db);
  let hasDerived = false;
  let isChecked = false;
  const assertUnchecked = () => {
    assertCurrent();
    if (isChecked) throw new Error('This file was checked already.');
  };

  return {
    /** @param rows in order of line. Faulty rows are included, so that the checks see all rows */
    addRows(rows: readonly StagedRow[]): void {
      assertUnchecked();
      if (inStaging(db, () => insertRows(rows))) hasDerived = true;
    },
    /** @param faults may precede or follow the rows of their lines */
    addFaults(faults: readonly ImportFault[]): void {
      assertUnchecked();
      inStaging(db, () => insertFaults(faults));
    },
    /** Checks the rows against the registry, and against earlier files of a dry run. Blocks no writers. */
    check(options: CheckOptions): CheckedFile {
      assertUnchecked();
      isChecked = true;
      // One transaction, so that the version, the checks and the changes see the same state of the registry.
      return inStaging(db, () => {
        const checkedVersion = readDataVersion(db);
        const zone = options.zone ?? UTC;
        if (kind === 'payments') addPaymentMessages(db, zone);
        if (kind === 'members' && options.acceptTrailingZero !== true) runChecks(db, [TRAILING_ZERO], 'file');
        if (hasDerived) {
          numberEqualRows(db);
          runChecks(db, [otherTimeZone(kind, zone)], 'file');
        }
        useCurrentNumbers(file);
        useRemainingMembers(file);
        addMemberCodes(file);
        const scope = { ...file, ...options, zone, hasDerived };
        resolveAndCheck(scope);
        return openCheckedFile(scope, checkedVersion);
      });
    },
  };
}

/** Adds the member code to rows with only a national ID. If a code changes later, a repeated check fails. */
function addMemberCodes({ db, kind, columns }: StagedFile): void {
  if (kind === 'members' || !columns.has('identity_card')) return;
  db.exec(`UPDATE staging.rows AS r SET member_code = coalesce(
      (SELECT m.member_code FROM main.cooperatives c
       CROSS JOIN main.members m ON m.identity_card = r.identity_card AND m.cooperative_id = c.id
       WHERE c.code = r.cooperative_code),
      (SELECT k.member_code FROM staging.known_members k
       WHERE k.cooperative_code = r.cooperative_code AND k.identity_card = r.identity_card))
    WHERE member_code IS NULL AND identity_card IS NOT NULL`);
}

const SETTINGS = { tempStore: 'FILE', cacheKiB: 64 * 1024 } as const;

export type ImportSession = ReturnType<typeof openImportSession>;

/**
 * Opens a session in which files are imported one after another: for each file `stage`, then `check`, then
 * `apply`, the only step that writes to the registry.
 * @param use `import` creates or migrates the database if necessary. `dryRun` compares files with an empty
 *   registry if there is none, and refuses a database of an older release.
 * @throws StorageError
 */
export function openImportSession(storage: Storage, use: 'import' | 'dryRun' = 'import') {
  const databaseFile = storage.pathForOpening();
  const { monotonicMs } = storage;
  const isTemporary = use === 'dryRun' && !exists(databaseFile);
  const db = isTemporary
    ? openTemporary(REGISTRY_SCHEMA, SETTINGS)
    : openDatabase(databaseFile, {
        ...SETTINGS,
        waitMs: WAIT_MS.command,
        schema: REGISTRY_SCHEMA,
        create: use === 'import',
        keepsSchema: use === 'dryRun',
      });
  // Path of the staging file; empty for an unnamed file, in a dry run without a database.
  let file = '';
  const close = () => {
    db.close();
    if (file !== '') removeStagingFile(file);
  };
  let format: ReadModelFormat;
  try {
    format = formatOf(db, storage.configuredZone);
    if (!isTemporary) {
      if (use === 'import' && !db.has('main.cooperatives')) renewTotalsUnlessBusy(db, format.zone);
      removeStaleStaging(databaseFile);
      // `tidyUp` checkpoints the write-ahead log after the commit, when the write lock is free.
      db.raw.pragma('wal_autocheckpoint = 0');
      file = createStagingFile(databaseFile);
    }
    attachStaging(db, file);
    addSqlFunctions(db);
    createSessionTables(db);
  } catch (error) {
    close();
    throw error;
  }

  let current: symbol | undefined;
  return {
    databaseFile,
    readSize: () => readSize(db),
    findSameImport: (kind: ImportKind, sha256: string) => findSameImport(db, kind, sha256),
    isRegistryEmpty: () => !db.has('main.cooperatives'),
    /**
     * Begins a file, and discards the previous file.
     * @param columns a missing column keeps the stored values, but an empty cell may clear a value
     */
    stage(kind: ImportKind, columns: ReadonlySet<string>) {
      const file = Symbol(kind);
      current = file;
      return openStaging({
        ...{ db, kind, columns, format, monotonicMs },
        assertCurrent() {
          if (current !== file) throw new Error('This file was applied or kept, or another one was staged.');
        },
        end() {
          current = undefined;
        },
      });
    },
    /** Discards staged data. May be called at any time, even after an error. */
    close(): void {
      current = undefined;
      close();
    },
  };
}
