/**
 * Reads the facts about a registry for `status`, the desk and metrics, in a few milliseconds even for large
 * registries.
 */
import { hasKeys, type KeyUse, openKeys } from '../access/api-key-store.ts';
import type { ApiKey } from '../access/api-keys.ts';
import { isServed } from '../backup/in-use.ts';
import { findLastBackup, type LastBackup } from '../backup/numbered-backups.ts';
import type { Visit } from '../desk/screen.ts';
import { type RegistrySize, readRunningImports, readSize } from '../import/staging/import-session.ts';
import { findOperation, type Operation } from '../journal/operations.ts';
import { findLostKeys, type LedgerStatus, readLedgerStatus } from '../ledger/open-ledger.ts';
import { IS_STALE } from '../registry/changes/tables.ts';
import { formatOf, type ReadModelFormat } from '../registry/stores/read-model.ts';
import { IS_OUT_OF_DATE } from '../registry/stores/refresh-read-model.ts';
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

export interface RegistryStatus {
  /** Bytes of all databases of the registry, with their write-ahead logs. */
  readonly bytes: number;
  /** Bytes of the write-ahead log of the registry's main database. */
  readonly logBytes: number;
  /** Free bytes of the disk. */
  readonly freeBytes: number;
  /** Free bytes below which writes are refused. */
  readonly reservedBytes: number;
  readonly rows: RegistrySize;
  readonly readModel: ReadModelStatus;
  /** Undefined if the epoch of the registry is missing, an error that `check` reports. */
  readonly sequence: SequencePosition | undefined;
  readonly imports: ReturnType<typeof readRunningImports>;
  /** Last import, even if undone. */
  readonly lastImport: Operation | undefined;
  /** Last complete backup made on this machine, or null. */
  readonly lastBackup: LastBackup | null;
  readonly added: readonly AddedStatus[];
}

interface ReadModelStatus {
  /** Number of members whose read model is stale and computed by each lookup; at most `STALE_COUNTED`. */
  readonly stale: number;
  /**
   * True if a sample of members contains a read model of a release with other rules. The sample may miss
   * single members, but detects any contiguous percent of the members.
   */
  readonly hasOtherRules: boolean;
  /** Number of members that are not in the name index yet. */
  readonly unindexed: number;
}

/** Limit of the count of stale members: counting more would take too long for a metrics scrape. */
export const STALE_COUNTED = 10_000;

// Issues, and the status of modules

export interface Issue {
  readonly about: 'clock' | 'disk' | 'events' | 'ledger' | 'backup' | 'webhooks' | 'read model' | 'keys';
  readonly text: Message;
  readonly command: string;
}

/** Facts for the issues of modules. */
export interface FactsForIssues {
  readonly keys: readonly ApiKey[];
  readonly isServed: boolean;
  /** Epoch seconds. */
  readonly now: number;
  /** Returns a command of this program with its name and, if necessary, the option `--db`. */
  readonly command: (text: string) => string;
}

export interface AddedStatus {
  /** Line of the command `status`. */
  readonly line: readonly [label: string, value: string];
  /** Properties to add to the JSON document of `status`. */
  readonly document: object;
  /** Returns the issues, worst first. */
  readonly issues: (facts: FactsForIssues) => readonly Issue[];
  /** Returns a section for the desk's health page. */
  readonly section: (visit: Visit) => Html | false;
  /** Returns values by names of metrics. */
  readonly metrics: (nowSeconds: number) => object;
}

/** Reads the file of a module, and returns a function that adds facts from the registry to the status. */
export type ReadAdded = (
  databaseFile: string,
  waitMs: number,
) => (db: Connection, sequence: SequencePosition | undefined, zone: TimeZone) => AddedStatus;

/** Number of sampled members with the lowest ids, and of those with the highest ids. */
const SAMPLED_AT_END = 500;
/** Number of other sampled members, evenly spaced by id. Each member costs a read of a database page. */
const SAMPLED_BETWEEN = 200;

/** @throws StorageError (as a rejection) `unusable` if there is no registry of this release */
export async function readStatus(
  storage: Storage,
  added: readonly ReadAdded[] = [],
  use?: StorageUse,
): Promise<RegistryStatus> {
  const databaseFile = storage.pathForOpening();
  const format = formatOf(storage);
  const waitMs = waitMsFor(use);
  const begun = added.map((read) => read(databaseFile, waitMs));
  const settings = { readOnly: true, schema: REGISTRY_SCHEMA, waitMs, cacheKiB: 1024 };
  return withDatabase(databaseFile, settings, (db) => {
    const sequence = readSequence(db);
    const lastImport = db.value<number | null>('SELECT max(operation_id) FROM imported_files');
    return {
      bytes: DATABASE_FILES.map(({ pathAt }) => pathAt(databaseFile))
        .flatMap((file) => [file, `${file}-wal`])
        .reduce((sum, file) => sum + sizeOf(file), 0),
      logBytes: sizeOf(`${databaseFile}-wal`),
      freeBytes: readFreeBytes(databaseFile),
      reservedBytes: RESERVED_BYTES,
      rows: readSize(db),
      readModel: readReadModel(db, format),
      imports: readRunningImports(databaseFile),
      sequence,
      lastImport: lastImport === null ? undefined : findOperation(db, lastImport),
      lastBackup: readLastBackup(databaseFile, sequence),
      added: begun.map((complete) => complete(db, sequence, format.zone)),
    };
  });
}

/** Returns the last backup; null if its epoch differs: it is of another registry or older than a restore. */
function readLastBackup(databaseFile: string, sequence: RegistryStatus['sequence']): LastBackup | null {
  const last = findLastBackup(databaseFile);
  return last?.epoch === (sequence?.epoch ?? null) ? last : null;
}

function readReadModel(db: Connection, { version }: ReadModelFormat): ReadModelStatus {
  const stale = `(SELECT 1 FROM members INDEXED BY members_unsummarized WHERE ${IS_STALE} LIMIT @most)`;
  // A refresh ascends by id, and new members have high ids: an interrupted refresh leaves the middle stale.
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

// Facts

/** Facts for the command `status` and the desk. */
export interface StatusFacts extends FactsForIssues {
  readonly location: string;
  readonly condition: RegistryStatus;
  readonly ledgerFolder: string;
  readonly isLedgerOn: boolean;
  /** Undefined if there is no ledger yet. */
  readonly ledger: LedgerStatus | undefined;
  /** Path of the file of API keys if keys were lost; undefined otherwise. */
  readonly lostKeysFile: string | undefined;
  readonly uses: readonly KeyUse[];
  readonly zone: TimeZone;
}

/**
 * @param command returns a command for the same registry, as the user has to type it
 * @throws StorageError (as a rejection) if there is no registry of this release
 */
export async function readStatusFacts(
  storage: Storage,
  config: Pick<Config, 'zone' | 'accessLedger' | 'accessLedgerDays'>,
  clock: Clock,
  command: StatusFacts['command'],
  added: readonly ReadAdded[],
): Promise<StatusFacts> {
  const now = nowSeconds(clock);
  // Checked first: afterwards this process has files of the registry open.
  const isOpen = isServed(storage.location);
  const condition = await readStatus(storage, added);
  const store = hasKeys(storage) ? openKeys(storage, 'manage') : undefined;
  try {
    return {
      location: storage.location,
      condition,
      isLedgerOn: config.accessLedger,
      ledgerFolder: ledgerFolderOf(storage.location),
      ledger: readLedgerStatus(storage.location, { nowMs: now * 1000, days: config.accessLedgerDays }),
      lostKeysFile: findLostKeys(storage.checkedPath()),
      keys: store?.list(now) ?? [],
      uses: store?.uses(now) ?? [],
      isServed: isOpen,
      now,
      zone: config.zone,
      command,
    };
  } finally {
    store?.close();
  }
}
