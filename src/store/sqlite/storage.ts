/** The registry's storage in SQLite: opens the file, migrates it, and wires the entities to one group commit. */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { BlockTexts } from '../../domain/lookup.ts';
import type { RegistryStore } from '../ports.ts';
import { type Connection, openDatabase } from './connection/connection.ts';
import { GroupCommit } from './connection/group-commit.ts';
import { migrate, REGISTRY_SCHEMA } from './connection/migrations.ts';
import { ReadSnapshot } from './connection/read-snapshot.ts';
import { type CooperativeSummaries, openCooperativeSummaries } from './cooperative-summaries.ts';
import { openCooperatives } from './cooperatives.ts';
import { openMembers } from './members.ts';

/** With less than this free the disk counts as nearly full: the write-ahead log must be able to grow. */
const RESERVED_BYTES = 64 * 1024 * 1024;
const ROOM_CHECK_MS = 1_000;

export interface SqliteStoreOptions {
  readonly file: string;
  readonly monotonicMs: () => number;
  /** How loans and savings are shown. */
  readonly blocks: BlockTexts;
  /** Free bytes of the disk; given by tests. */
  readonly freeBytes?: () => number;
}

/** What the nouns of a store share. */
export interface StoreDependencies {
  readonly commits: GroupCommit;
  readonly snapshot: ReadSnapshot;
  readonly cooperativeSummaries: CooperativeSummaries;
}

/** @throws DatabaseFileError when the file cannot be used, with what to do about it */
export function openSqliteStore(
  options: SqliteStoreOptions,
): RegistryStore & { readonly connection: Connection } {
  const db = openDatabase(options.file, { busyTimeoutMs: 0, create: true });
  migrate(db, REGISTRY_SCHEMA);
  const snapshot = new ReadSnapshot(db);
  const commits = new GroupCommit(db, {
    monotonicMs: options.monotonicMs,
    hasRoom: roomCheck(options),
    endReads: () => snapshot.end(),
  });
  const cooperativeSummaries = openCooperativeSummaries(db, snapshot);
  const probe = db.prepare<[], { id: number }>('SELECT id FROM cooperatives LIMIT 1', 'one row');

  return {
    connection: db,
    cooperatives: openCooperatives(db, { commits, snapshot, cooperativeSummaries }),
    members: openMembers(db, { commits, snapshot, cooperativeSummaries }, options.blocks),
    isReady() {
      try {
        snapshot.begin();
        probe.get();
        return true;
      } catch {
        return false;
      }
    },
    async close() {
      commits.close();
      snapshot.end();
      db.close();
    },
  };
}

/** Asks the disk at most once a second. */
function roomCheck(options: SqliteStoreOptions): () => boolean {
  const freeBytes = options.freeBytes ?? (() => readFreeBytes(dirname(options.file)));
  let checkedMs = Number.NEGATIVE_INFINITY;
  let hasRoom = true;
  return () => {
    const nowMs = options.monotonicMs();
    if (nowMs - checkedMs >= ROOM_CHECK_MS) {
      checkedMs = nowMs;
      hasRoom = freeBytes() >= RESERVED_BYTES;
    }
    return hasRoom;
  };
}

function readFreeBytes(folder: string): number {
  const disk = statfsSync(folder);
  return disk.bavail * disk.bsize;
}
