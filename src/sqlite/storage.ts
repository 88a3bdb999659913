/** Location of a registry, with the clock, scheduler and time zone for everything that is opened there. */

import type { Scheduler } from '../runtime/scheduler.ts';
import { KIGALI, type TimeZone } from '../values/date-time.ts';
import { type Connection, WAIT_MS } from './connection.ts';
import type { CommitMeasure } from './group-commit.ts';
import { withDatabase } from './open-database.ts';
import { assertTimeZone, timeZoneOf } from './registry-facts.ts';
import { assertNothingLeft, assertNotRestoring, exists } from './registry-files.ts';
import { REGISTRY_SCHEMA } from './schemas.ts';

interface StorageDependencies {
  readonly clock: { monotonicMs(): number };
  readonly scheduler: Scheduler;
  /** Configured time zone; undefined for the zone that is stored in the registry. */
  readonly zone: TimeZone | undefined;
  readonly measureCommit?: CommitMeasure | undefined;
}

/** `serve` waits for locks only while it opens a file. `issue` creates a missing file; `manage` needs it. */
export type StorageUse = 'serve' | 'command' | 'issue' | 'manage';

export class Storage {
  /** Path of the database file. */
  readonly location: string;
  readonly scheduler: Scheduler;
  readonly measureCommit: CommitMeasure | undefined;
  readonly monotonicMs: () => number;
  readonly configuredZone: TimeZone | undefined;
  private isInZone = false;
  private knownZone: TimeZone | undefined;

  constructor(location: string, { clock, scheduler, zone, measureCommit }: StorageDependencies) {
    this.location = location;
    this.scheduler = scheduler;
    this.monotonicMs = () => clock.monotonicMs();
    this.configuredZone = zone;
    this.measureCommit = measureCommit;
  }

  /** Zone for input and output. If none is configured, reads the registry on first use only. */
  get zone(): TimeZone {
    this.knownZone ??= this.configuredZone ?? timeZoneOf(this.location) ?? KIGALI;
    return this.knownZone;
  }

  /** @throws StorageError during a restore, or if other files of a registry exist without their database */
  checkedPath(): string {
    assertNotRestoring(this.location);
    assertNothingLeft(this.location);
    return this.location;
  }

  /** @throws StorageError as `checkedPath` does, and if the registry is in another time zone */
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
}

export const waitMsFor = (use: StorageUse | undefined): number =>
  use === 'serve' ? WAIT_MS.serving : WAIT_MS.command;

// Position in the sequence of events. Every export and copy of all rows reports this position
// (docs/api.md#events).

export interface SequencePosition {
  /** Changes with each restore. */
  readonly epoch: string;
  /** 0 before the first change. */
  readonly lastSequence: number;
}

/** @returns undefined for a registry without an epoch, a fault that `check` reports */
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
