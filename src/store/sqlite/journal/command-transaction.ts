/** The transaction of a command: its connection, its lock, its dry run, and what follows its commit. */
import { createHash } from 'node:crypto';
import type { Connection } from '../engine/connection.ts';
import { isBusy, isDiskFull, toUnavailable } from '../engine/errors.ts';
import { openDatabase } from '../engine/open-database.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import type { ReadModelFormat } from '../read-model/format.ts';
import { letOthersWrite, refreshStale } from '../read-model/refresh.ts';
import { REGISTRY_SCHEMA } from '../schema/migrations/registry.ts';
import { indexNames } from '../search/index-names.ts';
import { lastChange } from './operations.ts';

const CACHE_KIB = 64 * 1024;

export interface OperationOptions {
  /** Of the read model, made when something was committed. */
  readonly format: ReadModelFormat;
  /** Of a clock that never steps back. */
  readonly monotonicMs: () => number;
  /** Milliseconds, for another process's lock. */
  readonly waitMs: number;
}

/** What the operations of one command share. */
export interface OperationScope extends OperationOptions {
  readonly db: Connection;
}

/** @throws StorageError `unusable` when there is no registry */
export function openOperationScope(databaseFile: string, options: OperationOptions): OperationScope {
  const db = openDatabase(databaseFile, {
    waitMs: options.waitMs,
    schema: REGISTRY_SCHEMA,
    tempStore: 'FILE',
    cacheKiB: CACHE_KIB,
  });
  // The log is copied back after the commit, when its lock is free.
  db.raw.pragma('wal_autocheckpoint = 0');
  return { ...options, db };
}

/** What work in a transaction gives, and whether the transaction is kept. */
export interface Outcome<Result> {
  readonly result: Result;
  readonly isKept: boolean;
  /** What somebody is shown before agreeing to it, beside the values that change. */
  readonly shown?: unknown;
}

export interface Performed<Result> {
  readonly result: Result;
  /** Of what was done and taken back, value by value; undefined when it is kept. */
  readonly fingerprint?: string;
  /** Milliseconds for which other writers were locked out. */
  readonly lockMs: number;
  /** What went wrong after the commit. */
  readonly errorAfterCommit?: unknown;
}

/** Ends a transaction of which nothing is to be kept. */
class TakenBack extends Error {}

/**
 * Runs work in one write transaction, and tidies up after its commit.
 * @param nothing what did not happen when it fails, such as `Nothing was undone`
 * @param nowSeconds epoch seconds
 * @param agreed fingerprint of what may be done: anything else is taken back
 * @throws RegistryError `unavailable` when other writers keep the lock or the disk is full
 */
export function perform<Result>(
  { db, format, monotonicMs, waitMs }: OperationScope,
  nothing: string,
  nowSeconds: number,
  work: () => Outcome<Result>,
  agreed?: string,
): Performed<Result> {
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
  if (fingerprint !== undefined) return { result, lockMs, fingerprint };
  const errorAfterCommit = tidyUp(db, format, nowSeconds);
  db.waitForLock(waitMs);
  return { result, lockMs, ...(errorAfterCommit === undefined ? {} : { errorAfterCommit }) };
}

/** Of the changes since one: the same only for the same values of the same rows. */
function fingerprintOf(db: Connection, lastBefore: number, shown: unknown): string {
  const hash = createHash('sha256').update(JSON.stringify(shown ?? null));
  const changes = db.raw
    .prepare('SELECT entity, row_id, field, old, new FROM main.changes WHERE id > ? ORDER BY id')
    .raw();
  for (const change of changes.iterate(lastBefore)) hash.update(`\n${JSON.stringify(change)}`);
  return hash.digest('base64url');
}

/**
 * Indexes new names, refreshes the read model and empties the log. All rows are committed; a busy lock or a
 * full disk from here on is not a failure.
 * @returns any other error: thrown, it would mean that nothing was written
 */
export function tidyUp(db: Connection, format: ReadModelFormat, nowSeconds: number): unknown {
  try {
    indexNames(db, { pause: letOthersWrite });
    refreshStale(db, format, { nowSeconds, pause: letOthersWrite });
    // Outside the lock: the log of a large import would stay as large as the import.
    db.emptyLog(WAIT_MS.command);
    return undefined;
  } catch (error) {
    // What is still stale is computed by lookups, searches wait for names, and the check counts both.
    return isBusy(error) || isDiskFull(error) ? undefined : error;
  }
}
