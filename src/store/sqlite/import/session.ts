/** An import's session: a staging file attached beside the registry, checked whole before the lock is taken. */

import { RegistryError } from '../../../domain/errors.ts';
import type { BlockTexts } from '../../../domain/lookup.ts';
import type { ImportFault, ImportKind, ImportResult, ImportSession, StagedValue } from '../../ports.ts';
import {
  type Connection,
  isBusy,
  isDiskFull,
  openDatabase,
  type Statement,
} from '../connection/connection.ts';
import { migrate, REGISTRY_SCHEMA } from '../connection/migrations.ts';
import { letOthersWrite, refreshSummaries } from '../read-model/refresh.ts';
import { applyStaged } from './apply.ts';
import { CHECKS, type Check, PLANS, TRAILING_ZERO } from './checks.ts';
import {
  attachStaging,
  checkpoint,
  createStagingFile,
  removeStagingFile,
  removeStaleStaging,
} from './staging.ts';
import { stagedColumns, TARGETS } from './targets.ts';

/** How long an apply waits for another writer. */
const BUSY_TIMEOUT_MS = 10_000;
const CACHE_KIB = 64 * 1024;
const ROWS_AT_ONCE = 16;

/**
 * Opens a session on a registry, creating the database when it is missing.
 * @param blocks how the summaries' texts are composed
 * @param monotonicMs of a clock that never steps back
 * @throws DatabaseFileError
 */
export function openImportSession(
  databaseFile: string,
  blocks: BlockTexts,
  monotonicMs: () => number,
): ImportSession {
  const db = openDatabase(databaseFile, {
    busyTimeoutMs: BUSY_TIMEOUT_MS,
    tempStore: 'FILE',
    cacheKiB: CACHE_KIB,
    create: true,
  });
  try {
    migrate(db, REGISTRY_SCHEMA);
    removeStaleStaging(databaseFile);
    // The log is copied back after the apply, when its lock is free.
    db.raw.pragma('wal_autocheckpoint = 0');
    const file = createStagingFile(databaseFile);
    attachStaging(db, file);
    createTables(db);
    return createSession(db, file, blocks, monotonicMs);
  } catch (error) {
    db.close();
    throw error;
  }
}

function createTables(db: Connection): void {
  db.exec(`
    CREATE TABLE staging.faults (line INTEGER, "column" TEXT, message TEXT, is_whole INTEGER);
    CREATE INDEX staging.faults_line ON faults (line);
    CREATE TABLE staging.status_changes (id INTEGER PRIMARY KEY, cooperative_id, old_status, new_status);
    CREATE TABLE staging.known_cooperatives (code TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE staging.known_members (cooperative_code TEXT, member_code TEXT, identity_card TEXT,
      PRIMARY KEY (cooperative_code, member_code)) WITHOUT ROWID;`);
}

function createSession(
  db: Connection,
  file: string,
  blocks: BlockTexts,
  monotonicMs: () => number,
): ImportSession {
  let kind: ImportKind = 'cooperatives';
  let columns: ReadonlySet<string> = new Set();
  let insertRow: Statement<[StagedValue[]], unknown>;
  let insertRows: Statement<[StagedValue[]], unknown>;
  let rowLength = 0;
  /** Values of rows that are not staged yet, one after the other: a call for each row would cost as much as the row. */
  let unstaged: StagedValue[] = [];
  let checkedVersion = -1;
  const insertFault = db.prepare<[number, string, string, number]>(
    'INSERT INTO staging.faults VALUES (?, ?, ?, ?)',
  );
  const version = () => db.raw.pragma('main.data_version', { simple: true }) as number;
  const number = (sql: string): number => db.raw.prepare(sql).pluck().get() as number;

  function plan(): void {
    db.exec(
      `DELETE FROM staging.plan; INSERT INTO staging.plan (line, id, cooperative_id, member_id, account_id) ${PLANS[kind]}`,
    );
  }

  function runChecks(checks: readonly Check[], isWhole: number): void {
    for (const { column, sql } of checks) {
      db.raw
        .prepare(
          `INSERT INTO staging.faults SELECT found.*, ? FROM (SELECT line, ?, message FROM (${named(sql)})) AS found`,
        )
        .run(isWhole, column);
    }
  }

  function checkAgainstRegistry(): void {
    db.exec('BEGIN');
    checkedVersion = version();
    plan();
    runChecks(CHECKS[kind], 0);
    db.exec('COMMIT');
  }

  /** What was checked outside the lock holds unless somebody has written since: then it is checked again. */
  function repeatChecks(): void {
    if (version() === checkedVersion) return;
    const before = number('SELECT coalesce(max(rowid), 0) FROM staging.faults');
    plan();
    runChecks(CHECKS[kind], 0);
    db.exec('DELETE FROM staging.plan WHERE line NOT IN (SELECT line FROM staging.rows)');
    const isNew = number(
      `SELECT count(*) FROM staging.faults WHERE rowid > ${before} AND line IN (SELECT line FROM staging.rows)`,
    );
    if (isNew > 0) {
      throw new RegistryError(
        'unavailable',
        'The registry was changed while the file was checked and no longer agrees with it. Import it again.',
      );
    }
  }

  function applyInTransaction(nowSeconds: number): ImportResult {
    // What the rows refer to was resolved from the rows themselves, in the snapshot that the transaction goes on from,
    // and nothing is deleted: looking each one up again would take longer than writing it.
    db.raw.pragma('foreign_keys = OFF');
    db.exec('BEGIN IMMEDIATE');
    const lockedMs = monotonicMs();
    repeatChecks();
    const rows = number('SELECT count(*) FROM staging.rows');
    const { created, changed } = applyStaged(db, kind, columns, nowSeconds);
    db.exec('COMMIT');
    return { created, changed, unchanged: rows - created - changed, lockMs: monotonicMs() - lockedMs };
  }

  /** What follows an apply. The file is in: that another process writes or the disk is full is no fault of it any more. */
  function tidyUp(nowSeconds: number): void {
    try {
      if (TARGETS[kind].summaryPart !== undefined) refreshSummaries(db, blocks, nowSeconds, letOthersWrite);
      // Outside the lock: the log of a large import would stay as large as the import.
      checkpoint(db, BUSY_TIMEOUT_MS);
    } catch (error) {
      // What is left marked is computed by lookups, and counted by the check.
      if (!isBusy(error) && !isDiskFull(error)) throw error;
    }
  }

  return {
    isRegistryEmpty: () => number('SELECT count(*) FROM (SELECT 1 FROM main.cooperatives LIMIT 1)') === 0,
    start(nextKind, present) {
      kind = nextKind;
      columns = present;
      const staged = stagedColumns(kind);
      db.exec(`DROP TABLE IF EXISTS staging.rows; DROP TABLE IF EXISTS staging.plan; DELETE FROM staging.faults;
        CREATE TABLE staging.rows (line INTEGER PRIMARY KEY, ${staged.map(({ name, type }) => `${name} ${type}`).join(', ')});
        CREATE TABLE staging.plan (line INTEGER PRIMARY KEY, id INTEGER, cooperative_id INTEGER, member_id INTEGER,
          account_id INTEGER);
        BEGIN`);
      unstaged = [];
      rowLength = staged.length + 1;
      const row = `(?${', ?'.repeat(staged.length)})`;
      insertRow = db.raw.prepare(`INSERT INTO staging.rows VALUES ${row}`) as never;
      insertRows = db.raw.prepare(
        `INSERT INTO staging.rows VALUES ${row}${`, ${row}`.repeat(ROWS_AT_ONCE - 1)}`,
      ) as never;
    },
    stage(line, values) {
      unstaged.push(line, ...values);
      if (unstaged.length < rowLength * ROWS_AT_ONCE) return;
      insertRows.run(unstaged);
      unstaged = [];
    },
    addFault: ({ line, column, message }, isWhole = false) =>
      void insertFault.run(line, column, message, isWhole ? 1 : 0),
    check({ acceptTrailingZero }) {
      for (let i = 0; i < unstaged.length; i += rowLength) insertRow.run(unstaged.slice(i, i + rowLength));
      unstaged = [];
      db.exec('COMMIT');
      if (kind === 'members' && !acceptTrailingZero) runChecks([TRAILING_ZERO], 1);
      checkAgainstRegistry();
    },
    counts: () => ({
      rows: number('SELECT count(*) FROM staging.rows'),
      refusedRows: number('SELECT count(DISTINCT line) FROM staging.faults'),
      faults: number('SELECT count(*) FROM staging.faults'),
      isWholeRefused: number('SELECT count(*) FROM staging.faults WHERE is_whole = 1') > 0,
    }),
    faults: () =>
      db.raw
        .prepare('SELECT line, "column", message FROM staging.faults ORDER BY line, rowid')
        .iterate() as Iterable<ImportFault>,
    faultsOf: (line) =>
      db.raw
        .prepare('SELECT line, "column", message FROM staging.faults WHERE line = ? ORDER BY rowid')
        .all(line) as ImportFault[],
    dropRefused() {
      db.exec(`DELETE FROM staging.rows WHERE line IN (SELECT line FROM staging.faults);
        DELETE FROM staging.plan WHERE line IN (SELECT line FROM staging.faults)`);
    },
    addToReferences() {
      if (kind === 'cooperatives')
        db.exec('INSERT OR IGNORE INTO staging.known_cooperatives SELECT code FROM staging.rows');
      if (kind === 'members') {
        db.exec(
          'INSERT OR IGNORE INTO staging.known_members SELECT cooperative_code, member_code, identity_card FROM staging.rows',
        );
      }
    },
    apply(nowSeconds) {
      try {
        const result = applyInTransaction(nowSeconds);
        db.raw.pragma('foreign_keys = ON');
        tidyUp(nowSeconds);
        return result;
      } catch (error) {
        if (db.raw.inTransaction) db.exec('ROLLBACK');
        db.raw.pragma('foreign_keys = ON');
        if (isBusy(error))
          throw new RegistryError(
            'unavailable',
            'Another process is writing to the registry. Nothing was imported; try again.',
          );
        if (isDiskFull(error))
          throw new RegistryError('unavailable', 'The disk is full. Nothing was imported.');
        throw error;
      }
    },
    close() {
      db.close();
      removeStagingFile(file);
    },
  };
}

/** Names the two columns of a check's SELECT, whatever it calls them. */
const named = (sql: string): string =>
  `WITH found (line, message) AS (${sql}) SELECT line, message FROM found`;
