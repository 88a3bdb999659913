/**
 * An import session: a staging file attached beside the registry, and one file after the other staged in it.
 */
import type { ImportSession } from '../../ports/import-session.ts';
import { openDatabase } from '../connection/open-database.ts';
import { WAIT_MS } from '../connection/pragmas.ts';
import { REGISTRY_SCHEMA } from '../migrations/registry.ts';
import type { ReadModelFormat } from '../read-model/columns.ts';
import type { FileScope } from './file-scope.ts';
import { stageFile } from './file-staging.ts';
import { addSqlFunctions } from './sql-functions.ts';
import { attachStaging, createStagingFile, removeStagingFile, removeStaleStaging } from './staging.ts';
import { createSessionTables } from './tables.ts';

const CACHE_KIB = 64 * 1024;

/**
 * Opens a session on a registry, creating the database when it is missing.
 * @param format of the read model
 * @param monotonicMs of a clock that never steps back
 * @param use `dryRun` refuses a database of an older release, which an import would migrate
 * @throws StorageError
 */
export function openImportSession(
  databaseFile: string,
  format: ReadModelFormat,
  monotonicMs: () => number,
  use: 'import' | 'dryRun' = 'import',
): ImportSession {
  const db = openDatabase(databaseFile, {
    waitMs: WAIT_MS.command,
    schema: REGISTRY_SCHEMA,
    tempStore: 'FILE',
    cacheKiB: CACHE_KIB,
    create: true,
    keepsSchema: use === 'dryRun',
  });
  let file: string | undefined;
  const close = () => {
    db.close();
    if (file !== undefined) removeStagingFile(file);
  };
  try {
    removeStaleStaging(databaseFile);
    // The log is copied back after the apply, when its lock is free.
    db.raw.pragma('wal_autocheckpoint = 0');
    file = createStagingFile(databaseFile);
    attachStaging(db, file);
    addSqlFunctions(db);
    createSessionTables(db);
  } catch (error) {
    close();
    throw error;
  }

  let current: symbol | undefined;
  return {
    isRegistryEmpty: () =>
      db.raw.prepare('SELECT count(*) FROM (SELECT 1 FROM main.cooperatives LIMIT 1)').pluck().get() === 0,
    stage(kind, columns) {
      const own = Symbol(kind);
      current = own;
      const scope: FileScope = {
        ...{ db, kind, columns, format, monotonicMs },
        assertCurrent() {
          if (current !== own) throw new Error('This file was applied or kept, or another one was staged.');
        },
        end() {
          current = undefined;
        },
      };
      return stageFile(scope);
    },
    close() {
      current = undefined;
      close();
    },
  };
}
