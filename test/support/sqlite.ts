/** White-box access to the SQLite engine, for tests that look at its files or hold its locks. */
import { SqliteError } from 'better-sqlite3';
import { KIGALI } from '../../src/domain/values/date-time.ts';
import { Scheduler } from '../../src/runtime/scheduler.ts';
import type { RegistryStore } from '../../src/store/contract/registry.ts';
import type { Connection } from '../../src/store/sqlite/engine/connection.ts';
import { type OpenOptions, openDatabase } from '../../src/store/sqlite/engine/open-database.ts';
import { type ApiKeysOptions, openApiKeys } from '../../src/store/sqlite/entities/api-keys.ts';
import { createReadModelFormat } from '../../src/store/sqlite/read-model/format.ts';
import {
  openSqliteRegistry,
  type SqliteRegistry,
  type SqliteRegistryOptions,
} from '../../src/store/sqlite/registry.ts';
import { MEMBER_COUNTS, sizeSql } from '../../src/store/sqlite/schema/counts.ts';

export type { Connection } from '../../src/store/sqlite/engine/connection.ts';
export { isBusy } from '../../src/store/sqlite/engine/errors.ts';
export type { SqliteApiKeys } from '../../src/store/sqlite/entities/api-keys.ts';
export { keysFileOf } from '../../src/store/sqlite/files/registry-files.ts';
export { REGISTRY_SCHEMA } from '../../src/store/sqlite/schema/migrations/registry.ts';
export { openImportSession } from '../../src/store/sqlite/staging/session.ts';
export { openWebhooks } from '../../src/store/sqlite/webhooks/store.ts';
export { SqliteError };

/** How stores opened by hand show what they keep. */
export const FORMAT = createReadModelFormat(KIGALI);

/** A registry store with its connection. */
export const openStore = (file: string, more: Partial<SqliteRegistryOptions> = {}) =>
  openSqliteRegistry({ file, monotonicMs: () => 0, scheduler: new Scheduler(), format: FORMAT, ...more });

export const openKeyStore = (file: string, more: Partial<ApiKeysOptions> = {}) =>
  openApiKeys(file, { waitMs: 0, create: true, scheduler: new Scheduler(), ...more });

/** A second connection to a file, as another process would have. */
export const openFile = (file: string, more: Partial<OpenOptions> = {}): Connection =>
  openDatabase(file, { waitMs: 0, ...more });

/** How many members the counts of small blocks add up to. */
export const countedMembers = (db: Connection): number => db.value(sizeSql(MEMBER_COUNTS.small));

/** Makes every commit of a store fail, as on a disk that is full. @returns what ends that */
export function failCommits(store: RegistryStore): () => void {
  const { run } = (store as SqliteRegistry).connection.transaction as unknown as {
    run: { commit: () => void };
  };
  const { commit } = run;
  run.commit = () => {
    throw new SqliteError('database or disk is full', 'SQLITE_FULL');
  };
  return () => {
    run.commit = commit;
  };
}
