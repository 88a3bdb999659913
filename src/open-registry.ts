/** Opens the registry. All its stores share a group commit and a read snapshot. */
import { statSync } from 'node:fs';
import type { Visible } from './access/api-keys.ts';
import { type EventStore, openEvents } from './events/event-store.ts';
import type { Search } from './registry/name-search.ts';
import { type NarrowableStore, type OwnedRows, openOwnedRows } from './registry/registry-store.ts';
import { indexLeftNames } from './registry/stores/name-index.ts';
import { formatOf, type ReadModelFormat } from './registry/stores/read-model.ts';
import { type Connection, WAIT_MS } from './sqlite/connection.ts';
import { GroupCommit, ReadSnapshot } from './sqlite/group-commit.ts';
import { type IdempotentWrites, openIdempotentWrites } from './sqlite/idempotent-writes.ts';
import { openDatabase } from './sqlite/open-database.ts';
import { RESERVED_BYTES, readFreeBytes } from './sqlite/registry-files.ts';
import { REGISTRY_SCHEMA } from './sqlite/schemas.ts';
import { type StorageError, toWriteFailure } from './sqlite/sqlite-errors.ts';
import type { Storage } from './sqlite/storage.ts';
import { renewTotalsUnlessBusy } from './sqlite/stored-totals.ts';

export interface ServedRows extends OwnedRows {
  readonly events: EventStore;
}

export interface RegistryStore extends ServedRows, NarrowableStore<ServedRows> {
  readonly responses: IdempotentWrites;
  /** True if reads and writes are possible. */
  isReady(): boolean;
  /** Number of searches by name that run or wait. */
  searchesWaiting(): number;
  /**
   * Resolves with an error if a failed commit leaves the state of the disk unknown. All later writes are
   * refused. An operator has to check and restart the registry.
   */
  readonly failed: Promise<StorageError>;
  close(): Promise<void>;
}

const ROOM_CHECK_MS = 1_000;

export type SqliteRegistry = RegistryStore & { readonly connection: Connection };

/**
 * Opens the registry, and creates missing files.
 * @param search if undefined, requests with a name are refused
 * @param freeBytes replaced in tests
 * @throws StorageError with advice if the file cannot be used
 */
export function openRegistry(
  storage: Storage,
  search?: Search,
  freeBytes = () => readFreeBytes(storage.location),
): SqliteRegistry {
  const file = storage.pathForOpening();
  const db = openDatabase(file, { waitMs: WAIT_MS.serving, create: true, schema: REGISTRY_SCHEMA });
  try {
    const format = formatOf(db, storage.configuredZone);
    indexLeftNames(db);
    renewTotalsUnlessBusy(db, format.zone);
    return createStore(db, storage, format, freeBytes, search);
  } catch (error) {
    db.close();
    throw error;
  }
}

function createStore(
  db: Connection,
  { location: file, scheduler, monotonicMs, measureCommit }: Storage,
  format: ReadModelFormat,
  freeBytes: () => number,
  search: Search | undefined,
): SqliteRegistry {
  const failure = Promise.withResolvers<StorageError>();
  const inode = statSync(file).ino;
  const snapshot = new ReadSnapshot(db, scheduler);
  const commits = new GroupCommit(db, {
    monotonicMs,
    scheduler,
    hasRoom: roomCheck(monotonicMs, freeBytes),
    // False for a moved or replaced file, in which writes would be lost
    isInPlace: () => statSync(file, { throwIfNoEntry: false })?.ino === inode,
    measure: measureCommit,
    endReads: () => snapshot.end(),
    onCommit: () => events.onCommit(),
    onFailure: (error) => failure.resolve(toWriteFailure(file, error)),
  });
  const events = openEvents(db, snapshot);
  const writes = openIdempotentWrites(db, { commits, snapshot });
  const searching = search?.openSearching(file);
  const rowsOf = openOwnedRows(db, { snapshot, writes, format }, searching);
  const narrowedTo = cachedByKey((visible) => ({
    ...rowsOf(visible),
    events: events.narrowedTo(visible),
  }));
  const probe = db.prepare<[], { id: number }>('SELECT id FROM cooperatives LIMIT 1', 'one row');

  return {
    connection: db,
    ...narrowedTo(null),
    narrowedTo,
    responses: writes,
    failed: failure.promise,
    searchesWaiting: () => searching?.waiting() ?? 0,
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
      events.endWaits();
      snapshot.end();
      db.close();
      await searching?.close();
    },
  };
}

/** Caches stores by the array of an API key's cooperatives. A change of the API key makes a new array. */
function cachedByKey(open: (visible: Visible) => ServedRows): (visible: Visible) => ServedRows {
  const all = open(null);
  const narrowed = new WeakMap<readonly number[], ServedRows>();
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

/** Returns a function that checks the free space of the disk, at most once a second. */
function roomCheck(monotonicMs: () => number, freeBytes: () => number) {
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
