/** Reads how a registry is doing, in a few milliseconds whatever its size. */
import {
  type Condition,
  type EndpointCondition,
  type LastBackup,
  type ReadModelCondition,
  STALE_COUNTED,
} from '../../contract/condition.ts';
import type { WebhookEndpoint } from '../../contract/webhooks.ts';
import { locate } from '../backup/backup-place.ts';
import { readRemembered } from '../backup/remembered-backups.ts';
import type { Connection } from '../engine/connection.ts';
import { withDatabase } from '../engine/open-database.ts';
import { DATABASE_FILES, RESERVED_BYTES, readFreeBytes, sizeOf } from '../files/registry-files.ts';
import { findOperation } from '../journal/operations.ts';
import type { ReadModelFormat } from '../read-model/format.ts';
import { IS_OUT_OF_DATE } from '../read-model/refresh.ts';
import { REGISTRY_SCHEMA } from '../schema/migrations/registry.ts';
import { IS_STALE } from '../schema/stale-flag.ts';
import { readSize } from '../staging/registry-size.ts';
import { readRunningImports } from '../staging/staged/staging-database.ts';
import { hasWebhooks, openWebhooks } from '../webhooks/store.ts';

/** Members at each end of the table whose read model is looked at. */
const SAMPLED_AT_END = 500;
/** As many between them, at equal distances of their ids: a page of the file each. */
const SAMPLED_BETWEEN = 200;

/** @throws StorageError (as rejection) `unusable` when there is no registry of this release */
export function readCondition(databaseFile: string, format: ReadModelFormat, waitMs: number): Condition {
  const endpoints = listEndpoints(databaseFile, waitMs);
  const settings = { readOnly: true, schema: REGISTRY_SCHEMA, waitMs, cacheKiB: 1024 };
  return withDatabase(databaseFile, settings, (db) => {
    const sequence = db.row<{ readonly epoch: string; readonly lastSequence: number }>(
      `SELECT epoch, (SELECT coalesce(max(sequence), 0) FROM events) AS lastSequence
         FROM feed WHERE id = 1`,
    );
    const lastImport = db.value<number | null>('SELECT max(operation_id) FROM imported_files');
    return {
      bytes: DATABASE_FILES.map((each) => each.pathAt(databaseFile))
        .flatMap((file) => [file, `${file}-wal`])
        .map(sizeOf)
        .reduce((sum, bytes) => sum + bytes, 0),
      logBytes: sizeOf(`${databaseFile}-wal`),
      freeBytes: readFreeBytes(databaseFile),
      reservedBytes: RESERVED_BYTES,
      rows: readSize(db),
      readModel: readReadModel(db, format),
      imports: readRunningImports(databaseFile),
      sequence,
      lastImport: lastImport === null ? undefined : findOperation(db, lastImport)?.recorded,
      lastBackup: readLastBackup(databaseFile, sequence),
      endpoints: endpoints.map((endpoint) => conditionOf(db, endpoint, sequence)),
    };
  });
}

/** A backup of another epoch is one of another registry, or of what this one was before a restore. */
function readLastBackup(databaseFile: string, sequence: Condition['sequence']): LastBackup | null {
  const last = readRemembered(databaseFile);
  return last?.epoch === (sequence?.epoch ?? null) ? locate(databaseFile, last) : null;
}

function listEndpoints(databaseFile: string, waitMs: number): readonly WebhookEndpoint[] {
  if (!hasWebhooks(databaseFile)) return [];
  const store = openWebhooks(databaseFile, { waitMs, create: false });
  try {
    return store.list();
  } finally {
    store.close();
  }
}

function readReadModel(db: Connection, { version }: ReadModelFormat): ReadModelCondition {
  const stale = `(SELECT 1 FROM members INDEXED BY members_unsummarized WHERE ${IS_STALE} LIMIT @most)`;
  // Refreshing goes up by id, and new members are at the end: one that was interrupted leaves the middle.
  const atEnd = (order: string) => `SELECT id FROM members ORDER BY id ${order} LIMIT ${SAMPLED_AT_END}`;
  const between = `
    WITH RECURSIVE
      ends AS (SELECT (SELECT min(id) FROM members) AS low, (SELECT max(id) FROM members) AS high),
      steps(step) AS (SELECT 1 UNION ALL SELECT step + 1 FROM steps WHERE step < ${SAMPLED_BETWEEN})
    SELECT (SELECT id FROM members WHERE id >= low + (high - low) * step / ${SAMPLED_BETWEEN}
            ORDER BY id LIMIT 1)
      FROM ends, steps`;
  const hasOtherRules = `((${IS_OUT_OF_DATE}) AND (${IS_STALE}) IS NOT TRUE)`;
  const isFound = (ids: string) =>
    db.count(`members WHERE id IN (${ids}) AND ${hasOtherRules}`, { version }) > 0;
  return {
    stale: db.count(stale, { most: STALE_COUNTED }),
    hasOtherRules: [atEnd('ASC'), atEnd('DESC'), between].some(isFound),
    unindexed: db.value<number>(
      `SELECT coalesce((SELECT max(id) FROM members) - min(first_id) + 1, 0) FROM unindexed_names`,
    ),
  };
}

function conditionOf(
  db: Connection,
  endpoint: WebhookEndpoint,
  sequence: Condition['sequence'],
): EndpointCondition {
  const { position } = endpoint;
  if (position.epoch !== sequence?.epoch) return { endpoint, behind: null, oldestAt: null };
  const oldest = 'SELECT at FROM events WHERE sequence > ? ORDER BY sequence LIMIT 1';
  return {
    endpoint,
    behind: sequence.lastSequence - position.sequence,
    oldestAt: db.value<number | undefined>(oldest, [position.sequence]) ?? null,
  };
}
