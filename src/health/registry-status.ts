/** Reads the status of a registry for `status`, the desk and metrics, within milliseconds for any size. */
import { hasKeys, openKeys } from '../access/api-key-store.ts';
import type { ApiKey } from '../access/api-keys.ts';
import { isServed } from '../backup/in-use.ts';
import { findLastBackup, type LastBackup } from '../backup/numbered-backups.ts';
import type { Visit } from '../desk/screen.ts';
import { readRunningImports, readSize } from '../import/staging/import-session.ts';
import { findOperation } from '../journal/operations.ts';
import { findLostKeys, readLedgerStatus } from '../ledger/open-ledger.ts';
import { IS_STALE } from '../registry/changes/tables.ts';
import { formatOf, IS_OUT_OF_DATE, type ReadModelFormat } from '../registry/stores/read-model.ts';
import type { Config } from '../runtime/config.ts';
import { type Clock, nowSeconds } from '../runtime/scheduler.ts';
import type { Connection } from '../sqlite/connection.ts';
import { withDatabase } from '../sqlite/open-database.ts';
import {
  DATABASE_FILES,
  ledgerFolderOf,
  RESERVED_BYTES,
  readFreeBytes,
  sizeOf,
} from '../sqlite/registry-files.ts';
import { REGISTRY_SCHEMA } from '../sqlite/schemas.ts';
import {
  readSequence,
  type SequencePosition,
  type Storage,
  type StorageUse,
  waitMsFor,
} from '../sqlite/storage.ts';
import type { TimeZone } from '../values/date-time.ts';
import type { Html } from '../values/html.ts';
import type { Message } from '../values/message.ts';

/** Maximum of the count of stale members. Counting more would take too long for metrics. */
export const STALE_COUNTED = 10_000;

export interface Issue {
  readonly about: 'clock' | 'disk' | 'events' | 'ledger' | 'backup' | 'webhooks' | 'read model' | 'keys';
  readonly text: Message;
  readonly command: string;
}

export interface FactsForIssues {
  readonly keys: readonly ApiKey[];
  readonly isServed: boolean;
  /** Epoch seconds. */
  readonly now: number;
  /** Returns the text that a user types to run a command of this program on this registry. */
  readonly command: (text: string) => string;
}

export interface AddedStatus {
  /** Line of the command `status`. */
  readonly line: readonly [label: string, value: string];
  /** Properties to add to the JSON document of `status`. */
  readonly document: object;
  /** Returns the issues; the worst is first. */
  readonly issues: (facts: FactsForIssues) => readonly Issue[];
  /** Returns a section of the health page of the desk. */
  readonly section: (visit: Visit) => Html | false;
  /** Returns the values of the module's metrics by name. */
  readonly metrics: (nowSeconds: number) => object;
}

/** Reads the file of a module. Returns a function that reads the registry and completes the status. */
export type ReadAdded = (
  databaseFile: string,
  waitMs: number,
) => (db: Connection, sequence: SequencePosition | undefined, zone: TimeZone) => AddedStatus;

/** The sample of read models has this number of members with the lowest ids, and as many with the highest. */
const SAMPLED_AT_END = 500;
/** Number of further members in the sample, evenly spaced by id. Each costs a read of a database page. */
const SAMPLED_BETWEEN = 200;

export type RegistryStatus = Awaited<ReturnType<typeof readStatus>>;

/** @throws StorageError (as a rejection) `unusable` if there is no registry of this release */
export async function readStatus(storage: Storage, added: readonly ReadAdded[] = [], use?: StorageUse) {
  const databaseFile = storage.pathForOpening();
  const waitMs = waitMsFor(use);
  const begun = added.map((read) => read(databaseFile, waitMs));
  const settings = { readOnly: true, schema: REGISTRY_SCHEMA, waitMs, cacheKiB: 1024 };
  return withDatabase(databaseFile, settings, (db) => {
    const format = formatOf(db, storage.configuredZone);
    const sequence = readSequence(db);
    const lastImport = db.value<number | null>('SELECT max(operation_id) FROM imported_files');
    return {
      /** Bytes of all databases of the registry, with their write-ahead logs. */
      bytes: DATABASE_FILES.map(({ pathAt }) => pathAt(databaseFile))
        .flatMap((file) => [file, `${file}-wal`])
        .reduce((sum, file) => sum + sizeOf(file), 0),
      /** Bytes of the write-ahead log of the main database. */
      logBytes: sizeOf(`${databaseFile}-wal`),
      freeBytes: readFreeBytes(databaseFile),
      /** Free bytes below which writes are refused. */
      reservedBytes: RESERVED_BYTES,
      rows: readSize(db),
      readModel: readReadModel(db, format),
      imports: readRunningImports(databaseFile),
      /** Undefined for a registry without an epoch, a fault that `check` reports. */
      sequence,
      /** Last import, even if undone. */
      lastImport: lastImport === null ? undefined : findOperation(db, lastImport),
      /** Last complete backup made here since the registry was created or restored. */
      lastBackup: readLastBackup(databaseFile, sequence),
      added: begun.map((complete) => complete(db, sequence, format.zone)),
    };
  });
}

/** Ignores a backup with another epoch: of another registry, or from before the last restore. */
function readLastBackup(databaseFile: string, sequence: SequencePosition | undefined): LastBackup | null {
  const last = findLastBackup(databaseFile);
  return last?.epoch === (sequence?.epoch ?? null) ? last : null;
}

function readReadModel(db: Connection, { version }: ReadModelFormat) {
  const stale = `(SELECT 1 FROM members INDEXED BY members_unsummarized WHERE ${IS_STALE} LIMIT @most)`;
  // A refresh begins at the lowest id, and new members have high ids. So an interrupted refresh may leave
  // only the middle out of date.
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
    /** Number of members whose read model is stale; at most `STALE_COUNTED`. */
    stale: db.count(stale, { most: STALE_COUNTED }),
    /**
     * True if a read model in a sample is from a release with other rules. The sample can miss single
     * members and, if the ids have a large gap, as after a restore, also many.
     */
    hasOtherRules: [atEnd('ASC'), atEnd('DESC'), between].some(isFound),
    /** Number of members that the index of names does not have yet. */
    unindexed: db.value<number>(
      `SELECT coalesce((SELECT max(id) FROM members) - min(first_id) + 1, 0) FROM unindexed_names`,
    ),
  };
}

export type StatusFacts = Awaited<ReturnType<typeof readStatusFacts>>;

/** @throws StorageError (as a rejection) if there is no registry of this release */
export async function readStatusFacts(
  storage: Storage,
  config: Pick<Config, 'accessLedger' | 'accessLedgerDays'>,
  clock: Clock,
  command: FactsForIssues['command'],
  added: readonly ReadAdded[],
) {
  const now = nowSeconds(clock);
  // Checked first, because this process is about to open the file of keys itself.
  const isOpen = isServed(storage.location);
  const condition = await readStatus(storage, added);
  const store = hasKeys(storage) ? openKeys(storage, 'manage') : undefined;
  try {
    return {
      location: storage.location,
      condition,
      isLedgerOn: config.accessLedger,
      ledgerFolder: ledgerFolderOf(storage.location),
      /** Undefined if there is no ledger yet. */
      ledger: readLedgerStatus(storage.location, { nowMs: now * 1000, days: config.accessLedgerDays }),
      lostKeysFile: findLostKeys(storage.checkedPath()),
      keys: store?.list(now) ?? [],
      uses: store?.uses(now) ?? [],
      isServed: isOpen,
      now,
      zone: storage.zone,
      command,
    };
  } finally {
    store?.close();
  }
}
