/** White-box access to the SQLite engine, for tests that look at its files or hold its locks. */
import { KIGALI } from '../../src/domain/date-time.ts';
import { createReadModelSerializer } from '../../src/http/resources/financials.ts';
import { Scheduler } from '../../src/scheduler.ts';
import { type ApiKeysOptions, openApiKeys } from '../../src/store/sqlite/api-keys.ts';
import type { Connection } from '../../src/store/sqlite/connection/connection.ts';
import { type OpenOptions, openDatabase } from '../../src/store/sqlite/connection/open-database.ts';
import { createReadModelFormat } from '../../src/store/sqlite/read-model/version.ts';
import { openSqliteRegistry, type SqliteRegistryOptions } from '../../src/store/sqlite/registry.ts';

export { SqliteError } from 'better-sqlite3';
export type { SqliteApiKeys } from '../../src/store/sqlite/api-keys.ts';
export type { Connection } from '../../src/store/sqlite/connection/connection.ts';
export { isBusy } from '../../src/store/sqlite/connection/errors.ts';
export { keysFileOf } from '../../src/store/sqlite/files.ts';
export { openImportSession } from '../../src/store/sqlite/import/session.ts';

/** How stores opened by hand show what they keep. */
export const FORMAT = createReadModelFormat(createReadModelSerializer(KIGALI));

/** A registry store with its connection. */
export const openStore = (file: string, more: Partial<SqliteRegistryOptions> = {}) =>
  openSqliteRegistry({ file, monotonicMs: () => 0, scheduler: new Scheduler(), format: FORMAT, ...more });

export const openKeyStore = (file: string, more: Partial<ApiKeysOptions> = {}) =>
  openApiKeys(file, { waitMs: 0, create: true, scheduler: new Scheduler(), ...more });

/** A second connection to a file, as another process would have. */
export const openFile = (file: string, more: Partial<OpenOptions> = {}): Connection =>
  openDatabase(file, { waitMs: 0, ...more });
