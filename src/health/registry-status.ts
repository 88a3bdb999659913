/**
 * Reads the facts about a registry that `status`, the desk and metrics show, in a few milliseconds whatever
 * its size.
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
  /** Size of the registry's databases with their write-ahead logs. */
  readonly bytes: number;
  /** Size of the registry's write-ahead log. */
  readonly logBytes: number;
  /** Free space on the registry's disk. */
  readonly freeBytes: number;
  /** Free space below which writes are refused. */
  readonly reservedBytes: number;
  readonly rows: RegistrySize;
  readonly readModel: ReadModelStatus;
  /** Undefined for a registry that has lost its epoch, which `check` reports. */
  readonly sequence: SequencePosition | undefined;
  readonly imports: ReturnType<typeof readRunningImports>;
  /** Includes undone imports; excludes corrections. */
  readonly lastImport: Operation | undefined;
  /** Last complete backup made on this machine; null if none is known. */
  readonly lastBackup: LastBackup | null;
  readonly added: readonly AddedStatus[];
}

interface ReadModelStatus {
  /** Number of stale members, whose lookups compute their read model each time; at most `STALE_COUNTED`. */
  readonly stale: number;
  /**
   * True if a sample of the members includes one stored by a release with other rules. The sample may miss a
   * few such members, but not one percent of all in one stretch.
   */
  readonly hasOtherRules: boolean;
  /** Members that name searches do not find yet. */
  readonly unindexed: number;
}

/** Maximum of counted members: counting more would take too long for a metrics scrape. */
export const STALE_COUNTED = 10_000;

// Status of modules, each of which reads its own

export interface Issue {
  readonly about: 'clock' | 'disk' | 'events' | 'ledger' | 'backup' | 'webhooks' | 'read model' | 'keys';
  readonly text: Message;
  readonly command: string;
}

/** Facts that issues of a module depend on. */
export interface FactsForIssues {
  readonly keys: readonly ApiKey[];
  readonly isServed: boolean;
  /** Epoch seconds. */
  readonly now: number;
  /** Formats a command of this program for the same registry. */
  readonly command: (text: string) => string;
}

export interface AddedStatus {
  /** A line of `status`. */
  readonly line: readonly [label: string, value: string];
  /** The module's part of the document of `--json`. */
  readonly document: object;
  /** @returns the issues, worst first */
  readonly issues: (facts: FactsForIssues) => readonly Issue[];
  /** A section of the desk's page. */
  readonly section: (visit: Visit) => Html | false;
  /** @returns values by the names of metrics */
  readonly metrics: (nowSeconds: number) => object;
}

/** Reads the module's own file; the returned function completes the status from the registry. */
export type ReadAdded = (
  databaseFile: string,
  waitMs: number,
) => (db: Connection, sequence: SequencePosition | undefined, zone: TimeZone) => AddedStatus;

/** Number of members sampled at each end of the table. */
const SAMPLED_AT_END = 500;
/** Number of members sampled in between, evenly spaced by id; each costs a page of the file. */
const SAMPLED_BETWEEN = 200;

/** @throws StorageError (as a rejection) `unusable` when there is no registry of this release */
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

/** Returns null for a backup of another epoch: of another registry, or of this one before a restore. */
function readLastBackup(databaseFile: string, sequence: RegistryStatus['sequence']): LastBackup | null {
  const last = findLastBackup(databaseFile);
  return last?.epoch === (sequence?.epoch ?? null) ? last : null;
}

function readReadModel(db: Connection, { version }: ReadModelFormat): ReadModelStatus {
  const stale = `(SELECT 1 FROM members INDEXED BY members_unsummarized WHERE ${IS_STALE} LIMIT @most)`;
  // A refresh ascends by id and new members are at the end, so an interrupted one leaves the middle stale.
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

// Facts for `status`, the desk's health page and their issues

/** Facts that `status` and the desk show. */
export interface StatusFacts extends FactsForIssues {
  readonly location: string;
  readonly condition: RegistryStatus;
  readonly ledgerFolder: string;
  readonly isLedgerOn: boolean;
  /** Undefined if there is no ledger yet. */
  readonly ledger: LedgerStatus | undefined;
  /** The keys' file if keys that were in use are missing. */
  readonly lostKeysFile: string | undefined;
  readonly uses: readonly KeyUse[];
  readonly zone: TimeZone;
}

/**
 * @param command formats a command for the same registry
 * @throws StorageError (as a rejection) when there is no registry of this release
 */
export async function readStatusFacts(
  storage: Storage,
  config: Pick<Config, 'zone' | 'accessLedger' | 'accessLedgerDays'>,
  clock: Clock,
  command: StatusFacts['command'],
  added: readonly ReadAdded[],
): Promise<StatusFacts> {
  const now = nowSeconds(clock);
  // Checked before this process opens any file itself.
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
