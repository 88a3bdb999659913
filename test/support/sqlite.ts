/** White-box access to the SQLite engine, for tests that look at its files or hold its locks. */
import { SqliteError } from 'better-sqlite3';
import { type ApiKeysOptions, openApiKeys } from '../../src/access/api-key-store.ts';
import { openRegistry, type RegistryStore, type SqliteRegistry } from '../../src/open-registry.ts';
import type { Search } from '../../src/registry/name-search.ts';
import { createReadModelFormat } from '../../src/registry/stores/read-model.ts';
import { Scheduler } from '../../src/runtime/scheduler.ts';
import type { Connection } from '../../src/sqlite/connection.ts';
import { MEMBER_COUNTS, sizeSql } from '../../src/sqlite/counts.ts';
import { type OpenOptions, openDatabase } from '../../src/sqlite/open-database.ts';
import { Storage } from '../../src/sqlite/storage.ts';
import { KIGALI } from '../../src/values/date-time.ts';

export type { ApiKeyStore } from '../../src/access/api-key-store.ts';
export type { Connection } from '../../src/sqlite/connection.ts';
export { keysFileOf } from '../../src/sqlite/registry-files.ts';
export { REGISTRY_SCHEMA } from '../../src/sqlite/schemas.ts';
export { isBusy } from '../../src/sqlite/sqlite-errors.ts';
export { WebhookStore } from '../../src/webhooks/open-webhook-store.ts';
export { SqliteError };

/** How stores opened by hand show what they keep. */
export const FORMAT = createReadModelFormat(KIGALI);

interface StoreOptions {
  readonly monotonicMs?: () => number;
  readonly search?: Search;
  readonly freeBytes?: () => number;
}

/** A registry store with its connection. */
export function openStore(file: string, { monotonicMs = () => 0, search, freeBytes }: StoreOptions = {}) {
  const clock = { monotonicMs };
  return openRegistry(
    new Storage(file, { clock, scheduler: new Scheduler(), zone: KIGALI }),
    search,
    freeBytes,
  );
}

export const openKeyStore = (file: string, more: Partial<ApiKeysOptions> = {}) =>
  openApiKeys(file, { waitMs: 0, create: true, scheduler: new Scheduler(), ...more });

/** A second connection to a file, as another process would have. */
export const openFile = (file: string, more: Partial<OpenOptions> = {}): Connection =>
  openDatabase(file, { waitMs: 0, ...more });

/** How many members the counts of small blocks add up to. */
export const countedMembers = (db: Connection): number => db.value(sizeSql(MEMBER_COUNTS.small));

/** Makes a statement of a connection's transactions fail. @returns what ends that */
export function failStatement(db: Connection, sql: string, fail: () => never): () => void {
  const transaction = db.transaction as unknown as { run(sql: string): void };
  const { run } = transaction;
  transaction.run = function (this: unknown, text) {
    if (text === sql) fail();
    run.call(this, text);
  };
  return () => {
    transaction.run = run;
  };
}

/** Makes every commit of a store fail, by default as on a disk that is full. @returns what ends that */
export const failCommits = (
  store: RegistryStore,
  error: Error = new SqliteError('database or disk is full', 'SQLITE_FULL'),
): (() => void) =>
  failStatement((store as SqliteRegistry).connection, 'COMMIT', () => {
    throw error;
  });
