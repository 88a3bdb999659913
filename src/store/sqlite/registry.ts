/** The registry in a SQLite file: opens it and gives its entities one group commit and one read snapshot. */
import { statSync } from 'node:fs';
import type { Visible } from '../../domain/access/visible.ts';
import type { OwnedRows, RegistryStore } from '../contract/registry.ts';
import type { CommitMeasure, EndOfIteration } from '../contract/storage.ts';
import { StorageError } from '../contract/storage-error.ts';
import type { Connection } from './engine/connection.ts';
import { GroupCommit, MovedError } from './engine/group-commit.ts';
import { openDatabase } from './engine/open-database.ts';
import { WAIT_MS } from './engine/pragmas.ts';
import { ReadSnapshot } from './engine/read-snapshot.ts';
import { openCooperatives } from './entities/cooperatives.ts';
import { openEntries } from './entities/entries.ts';
import { openIdempotentResponses } from './entities/idempotent-responses.ts';
import { openLoans } from './entities/loans.ts';
import { openMembers } from './entities/members.ts';
import { openPayments } from './entities/payments.ts';
import { openEvents } from './events/store.ts';
import { RESERVED_BYTES, readFreeBytes } from './files/registry-files.ts';
import type { ReadModelFormat } from './read-model/format.ts';
import { openCooperativeSummaries } from './rows/cooperative-summaries.ts';
import { REGISTRY_SCHEMA } from './schema/migrations/registry.ts';
import { indexLeftNames } from './search/index-names.ts';
import { openSearching } from './search/search-in-thread.ts';
import { openStatistics } from './statistics/store.ts';
import { renewTotalsUnlessBusy } from './statistics/stored-totals.ts';

const ROOM_CHECK_MS = 1_000;

export interface SqliteRegistryOptions {
  readonly file: string;
  readonly monotonicMs: () => number;
  readonly scheduler: EndOfIteration;
  readonly format: ReadModelFormat;
  readonly measureCommit?: CommitMeasure | undefined;
  /** Free bytes of the disk; given by tests. */
  readonly freeBytes?: () => number;
}

export type SqliteRegistry = RegistryStore & { readonly connection: Connection };

/** @throws StorageError when the file cannot be used, with what to do about it */
export function openSqliteRegistry(options: SqliteRegistryOptions): SqliteRegistry {
  const { file, scheduler, format } = options;
  const db = openDatabase(file, { waitMs: WAIT_MS.serving, create: true, schema: REGISTRY_SCHEMA });
  try {
    indexLeftNames(db);
    renewTotalsUnlessBusy(db, format.zone);
    return createStore(db, { ...options, file, scheduler, format });
  } catch (error) {
    db.close();
    throw error;
  }
}

function createStore(db: Connection, options: SqliteRegistryOptions): SqliteRegistry {
  const { scheduler, monotonicMs } = options;
  const failure = Promise.withResolvers<StorageError>();
  const isInPlace = placeCheck(options.file);
  const snapshot = new ReadSnapshot(db, scheduler);
  const commits = new GroupCommit(db, {
    monotonicMs,
    scheduler,
    hasRoom: roomCheck(options),
    isInPlace,
    measure: options.measureCommit,
    endReads: () => snapshot.end(),
    onCommit: () => events.onCommit(),
    onFailure: (error) => failure.resolve(toFailure(options.file, error)),
  });
  const events = openEvents(db, snapshot);
  const cooperativeSummaries = openCooperativeSummaries(db, snapshot);
  const statistics = openStatistics(db, snapshot, {
    file: options.file,
    zone: options.format.zone,
  });
  const responses = openIdempotentResponses(db, { commits, snapshot });
  const dependencies = { commits, snapshot, cooperativeSummaries, responses };
  const searching = openSearching(options.file);
  const { format } = options;
  const members = openMembers(db, dependencies, format, searching);
  const narrowedTo = openNarrowing({
    cooperatives: openCooperatives(db, dependencies),
    members,
    entries: openEntries(db, { snapshot, responses, format, membersOf: members }),
    loans: openLoans(db, dependencies, format),
    payments: openPayments(db, dependencies, format),
    events: events.narrowedTo,
    statistics: statistics.narrowedTo,
  });
  const probe = db.prepare<[], { id: number }>('SELECT id FROM cooperatives LIMIT 1', 'one row');

  return {
    connection: db,
    ...narrowedTo(null),
    narrowedTo,
    responses,
    failed: failure.promise,
    searchesWaiting: () => searching.waiting(),
    isReady() {
      try {
        snapshot.read(() => probe.get());
        return commits.lookAtFile();
      } catch {
        return false;
      }
    },
    async close() {
      commits.close();
      await statistics.close();
      events.endWaits();
      snapshot.end();
      db.close();
      await searching.close();
    },
  };
}

/** @param stores each by what is seen */
function openNarrowing(
  stores: {
    readonly [name in keyof OwnedRows]: (visible: Visible) => OwnedRows[name];
  },
): (visible: Visible) => OwnedRows {
  const open = (visible: Visible): OwnedRows => ({
    cooperatives: stores.cooperatives(visible),
    members: stores.members(visible),
    entries: stores.entries(visible),
    loans: stores.loans(visible),
    payments: stores.payments(visible),
    events: stores.events(visible),
    statistics: stores.statistics(visible),
  });
  const all = open(null);
  // The array of a key stays the same until a change of keys is seen.
  const narrowed = new WeakMap<readonly number[], OwnedRows>();
  return (visible) => {
    if (visible === null) return all;
    let rows = narrowed.get(visible);
    if (rows === undefined) {
      rows = open(visible);
      narrowed.set(visible, rows);
    }
    return rows;
  };
}

const toFailure = (file: string, error: unknown): StorageError =>
  new StorageError(
    'failed',
    error instanceof MovedError
      ? `${file} was moved or replaced while it was served: nothing is written any more. ` +
          'Put it back or restore a backup, then start again.'
      : `Writing to ${file} failed: ${(error as Error).message}. Look at the disk, run check, ` +
          'then start again.',
    { cause: error },
  );

/** Whether the file is still the one that was opened: what is written to one that was moved is lost. */
function placeCheck(file: string): () => boolean {
  const inode = statSync(file).ino;
  return () => statSync(file, { throwIfNoEntry: false })?.ino === inode;
}

/** Asks the disk at most once a second. */
function roomCheck({ file, monotonicMs, freeBytes = () => readFreeBytes(file) }: SqliteRegistryOptions) {
  let checkedMs = Number.NEGATIVE_INFINITY;
  let hasRoom = true;
  return (): boolean => {
    const nowMs = monotonicMs();
    if (nowMs - checkedMs >= ROOM_CHECK_MS) {
      hasRoom = freeBytes() >= RESERVED_BYTES;
      checkedMs = nowMs;
    }
    return hasRoom;
  };
}
