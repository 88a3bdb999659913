/** The transaction of a command: connection, lock, dry run, and the steps after the commit. */
import { createHash } from 'node:crypto';
import { indexNames } from '../registry/stores/name-index.ts';
import {
  formatOf,
  letOthersWrite,
  type ReadModelFormat,
  refreshStale,
} from '../registry/stores/read-model.ts';
import { type Connection, WAIT_MS } from '../sqlite/connection.ts';
import { openDatabase } from '../sqlite/open-database.ts';
import { REGISTRY_SCHEMA } from '../sqlite/schemas.ts';
import { isBusy, isDiskFull, toUnavailable } from '../sqlite/sqlite-errors.ts';
import type { Storage } from '../sqlite/storage.ts';
import { emptyLog } from '../sqlite/write-ahead-log.ts';
import { lastChange } from './operations.ts';

const CACHE_KIB = 64 * 1024;

export interface OperationScope {
  readonly db: Connection;
  readonly format: ReadModelFormat;
  readonly monotonicMs: () => number;
  /** Maximum wait for the lock of another process. */
  readonly waitMs: number;
}

/** @throws StorageError `unusable` if there is no registry */
export function openOperations(
  { configuredZone, monotonicMs }: Pick<Storage, 'configuredZone' | 'monotonicMs'>,
  databaseFile: string,
  waitMs: number = WAIT_MS.command,
): OperationScope {
  const db = openDatabase(databaseFile, {
    waitMs,
    schema: REGISTRY_SCHEMA,
    tempStore: 'FILE',
    cacheKiB: CACHE_KIB,
  });
  // `tidyUp` checkpoints the write-ahead log after the commit, when the lock is free.
  db.raw.pragma('wal_autocheckpoint = 0');
  return { db, format: formatOf(db, configuredZone), monotonicMs, waitMs };
}

export interface Outcome<Result> {
  readonly result: Result;
  /** True to commit, false to roll back. */
  readonly isKept: boolean;
  /** Values, besides the changes, that the operator confirms. The fingerprint includes them. */
  readonly shown?: unknown;
}

/** Thrown to roll back a transaction without an error. */
class TakenBack extends Error {}

/**
 * Runs work in one write transaction, and tidies up after the commit.
 * @param nothing the sentence that reports a failure, such as `Nothing was undone`
 * @param agreed fingerprint of the confirmed changes. Work that makes different changes is rolled back.
 * @throws RegistryError `unavailable` if other writers keep the lock or the disk is full
 */
export function perform<Result>(
  { db, format, monotonicMs, waitMs }: OperationScope,
  nothing: string,
  nowSeconds: number,
  work: () => Outcome<Result>,
  agreed?: string,
): {
  readonly result: Result;
  /** Time during which other writers were locked out. */
  readonly lockMs: number;
  /** Fingerprint of all changed values if the work was rolled back; undefined after a commit. */
  readonly fingerprint: string | undefined;
  readonly errorAfterCommit: unknown;
} {
  let lockedAtMs = 0;
  let fingerprint: string | undefined;
  let outcome: Outcome<Result> | undefined;
  try {
    db.transaction.immediate(() => {
      lockedAtMs = monotonicMs();
      const before = lastChange(db);
      outcome = work();
      if (outcome.isKept && agreed === undefined) return;
      const made = fingerprintOf(db, before, outcome.shown);
      if (outcome.isKept && made === agreed) return;
      fingerprint = made;
      throw new TakenBack('Nothing of it is kept.');
    });
  } catch (error) {
    if (!(error instanceof TakenBack)) throw toUnavailable(error, nothing);
  }
  const { result } = outcome as Outcome<Result>;
  const lockMs = monotonicMs() - lockedAtMs;
  let errorAfterCommit: unknown;
  if (fingerprint === undefined) {
    errorAfterCommit = tidyUp(db, format, nowSeconds);
    db.setLockTimeout(waitMs);
  }
  return { result, lockMs, fingerprint, errorAfterCommit };
}

function fingerprintOf(db: Connection, lastBefore: number, shown: unknown): string {
  const hash = createHash('sha256').update(JSON.stringify(shown ?? null));
  const changes = db.raw
    .prepare('SELECT entity, row_id, field, old, new FROM main.changes WHERE id > ? ORDER BY id')
    .raw();
  for (const change of changes.iterate(lastBefore)) hash.update(`\n${JSON.stringify(change)}`);
  return hash.digest('base64url');
}

/**
 * Indexes the names that a large import left unindexed, refreshes the read model and truncates the
 * write-ahead log. All rows are already committed, so a busy lock or a full disk is not an error.
 * @returns any other error, because a thrown error would suggest that nothing was written
 */
export function tidyUp(db: Connection, format: ReadModelFormat, nowSeconds: number): unknown {
  try {
    indexNames(db, { pause: letOthersWrite });
    refreshStale(db, format, { nowSeconds, pause: letOthersWrite });
    // Without this, the write-ahead log would stay as large as a large import has made it.
    emptyLog(db);
    return undefined;
  } catch (error) {
    // Until the next refresh, lookups compute stale columns. Searches first index the missing names. `check`
    // reports the stale columns and the missing names.
    return isBusy(error) || isDiskFull(error) ? undefined : error;
  }
}
