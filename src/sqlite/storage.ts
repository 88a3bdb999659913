/**
 * Storage location: the path of the database, and what everything opened there depends on. Files are opened
 * only when needed, by functions of capabilities that take a storage.
 */

import { existsSync, readdirSync, statSync } from 'node:fs';
import { typedCommand } from '../runtime/typed-command.ts';
import { KIGALI, type TimeZone } from '../values/date-time.ts';
import { type Connection, WAIT_MS } from './connection.ts';
import type { CommitMeasure, EndOfIteration } from './group-commit.ts';
import { withDatabase } from './open-database.ts';
import { assertTimeZone, timeZoneOf } from './registry-facts.ts';
import {
  DATABASE_FILES,
  exists,
  ledgerFolderOf,
  oldLedgerFileOf,
  ownsFile,
  restoringFolderOf,
  SIDE_SUFFIXES,
  sizeOf,
} from './registry-files.ts';
import { REGISTRY_SCHEMA } from './schemas.ts';
import { StorageError } from './storage-error.ts';

// Protects against creating a registry by accident: a missing database is not created if other files of the
// registry exist (docs/trouble.md#when-a-file-cannot-be-used).

/**
 * Refuses the location during a restore, because registry and keys do not match.
 * @throws StorageError
 */
function assertNotRestoring(databaseFile: string): void {
  if (!existsSync(restoringFolderOf(databaseFile))) return;
  throw new StorageError(
    'unusable',
    `A restore into ${databaseFile} is running or was interrupted. Wait for it, or run it again: ` +
      typedCommand('restore DIR --replace', databaseFile),
  );
}

/**
 * Refuses to create a database if other files of the registry exist. A write-ahead log without its database
 * contains acknowledged writes, and SQLite would delete the log as soon as the database is created.
 * @throws StorageError `unusable` if the database is missing or empty but other files exist
 */
function assertNothingLeft(databaseFile: string): void {
  if (sizeOf(databaseFile) > 0) return;
  const paths = DATABASE_FILES.map(({ pathAt }) => pathAt(databaseFile));
  const remains = [
    ...paths,
    ...paths.flatMap((path) => SIDE_SUFFIXES.map((end) => path + end)),
    oldLedgerFileOf(databaseFile),
  ].filter((path) => !path.endsWith('-shm') && sizeOf(path) > 0);
  const folder = ledgerFolderOf(databaseFile);
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder && readdirSync(folder).some((name) => name.endsWith('.db'))) remains.push(folder);
  if (remains.length === 0) return;
  const state = existsSync(databaseFile) ? 'is empty' : 'is missing';
  const restore = typedCommand('restore DIR --replace', databaseFile);
  throw new StorageError(
    'unusable',
    `${databaseFile} ${state}, and other files of a registry are there: ${remains.join(', ')}. ` +
      `Restore a backup (${restore}), or move these files away.`,
  );
}

interface StorageDependencies {
  readonly clock: { monotonicMs(): number };
  readonly scheduler: EndOfIteration;
  /** Time zone of date-times in stored parts of lookups; undefined for the registry's own zone. */
  readonly zone: TimeZone | undefined;
  /** Called after each transaction of a service's writes. */
  readonly measureCommit?: CommitMeasure | undefined;
}

/**
 * Intended use. `serve`: a service, whose event loop must not stop while another process has the lock.
 * `command`: a command, which may wait. `issue`: a command that creates missing files. `manage`: a command
 * that does not.
 */
export type StorageUse = 'serve' | 'command' | 'issue' | 'manage';

export class Storage {
  /** Path of the database. */
  readonly location: string;
  readonly scheduler: EndOfIteration;
  readonly measureCommit: CommitMeasure | undefined;
  private readonly clock: StorageDependencies['clock'];
  /** Configured time zone; undefined for the registry's own zone. */
  readonly configuredZone: TimeZone | undefined;
  private isInZone = false;

  constructor(location: string, { clock, scheduler, zone, measureCommit }: StorageDependencies) {
    this.location = location;
    this.clock = clock;
    this.scheduler = scheduler;
    this.configuredZone = zone;
    this.measureCommit = measureCommit;
  }

  readonly monotonicMs = (): number => this.clock.monotonicMs();

  /** Returns the configured time zone, or otherwise the registry's. */
  get zone(): TimeZone {
    return this.configuredZone ?? timeZoneOf(this.location) ?? KIGALI;
  }

  /**
   * Returns the path.
   * @throws StorageError during a restore, or if other files of a registry exist without their database
   */
  checkedPath(): string {
    assertNotRestoring(this.location);
    assertNothingLeft(this.location);
    return this.location;
  }

  /** Returns the path for opening. @throws StorageError also if the registry is in another time zone */
  pathForOpening(): string {
    this.checkedPath();
    if (!this.isInZone)
      this.isInZone = this.configuredZone === undefined || assertTimeZone(this.location, this.configuredZone);
    return this.location;
  }

  /** True if a registry was created at the location. @throws StorageError as `checkedPath` does */
  exists(): boolean {
    return exists(this.checkedPath());
  }

  /**
   * True if a path names a file that belongs or may belong to the registry, in any spelling and through
   * symbolic links. No other code may write to such a file.
   */
  ownsFile(path: string): boolean {
    return ownsFile(this.location, path);
  }

  /** Returns the registry's time zone; undefined if there is no registry, or if it is unreadable. */
  timeZone(): TimeZone | undefined {
    return timeZoneOf(this.checkedPath());
  }
}

/** Returns the milliseconds to wait for the lock of another process. */
export const waitMsFor = (use: StorageUse | undefined): number =>
  use === 'serve' ? WAIT_MS.serving : WAIT_MS.command;

// Position in the event sequence, which every read of all rows reports (docs/api.md#events)

export interface SequencePosition {
  /** Changes with each restore. */
  readonly epoch: string;
  /** 0 before the first change. */
  readonly lastSequence: number;
}

/** @returns undefined before the first write */
export const readSequence = (db: Connection): SequencePosition | undefined =>
  db.row<SequencePosition>(
    `SELECT epoch, (SELECT coalesce(max(sequence), 0) FROM events) AS lastSequence FROM feed WHERE id = 1`,
  );

/** @throws StorageError `unusable` if there is no registry of this release */
export const sequenceOf = (storage: Storage): SequencePosition | undefined =>
  withDatabase(
    storage.pathForOpening(),
    { readOnly: true, schema: REGISTRY_SCHEMA, waitMs: WAIT_MS.command },
    readSequence,
  );
