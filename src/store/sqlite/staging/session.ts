/**
 * An import session: a staging file attached beside the registry, and one file after the other staged in it.
 */
import type { ImportSession } from '../../contract/import/import-session.ts';
import type { Connection } from '../engine/connection.ts';
import { openDatabase, openTemporary } from '../engine/open-database.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import { exists } from '../files/registry-files.ts';
import { findSameImport } from '../journal/operations.ts';
import type { ReadModelFormat } from '../read-model/format.ts';
import { REGISTRY_SCHEMA } from '../schema/migrations/registry.ts';
import { renewTotalsUnlessBusy } from '../statistics/stored-totals.ts';
import { addSqlFunctions } from './checks/sql-functions.ts';
import { openStaging } from './open-staging.ts';
import { readSize } from './registry-size.ts';
import type { FileScope } from './staged/file-scope.ts';
import {
  attachStaging,
  createStagingFile,
  removeStagingFile,
  removeStaleStaging,
} from './staged/staging-database.ts';
import { createSessionTables } from './staged/tables.ts';

const SETTINGS = { tempStore: 'FILE', cacheKiB: 64 * 1024 } as const;

/**
 * Opens a session on a registry, creating the database when it is missing; a dry run then compares with an
 * empty one and creates nothing.
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
  const isTemporary = use === 'dryRun' && !exists(databaseFile);
  const db = isTemporary ? openTemporary(REGISTRY_SCHEMA, SETTINGS) : openRegistryFile(databaseFile, use);
  // Empty: a staging file without a name, as the folder of the database may be missing too.
  let file = '';
  const close = () => {
    db.close();
    if (file !== '') removeStagingFile(file);
  };
  try {
    if (!isTemporary) {
      if (use === 'import') {
        if (!db.has('main.cooperatives')) renewTotalsUnlessBusy(db, format.zone);
      }
      removeStaleStaging(databaseFile);
      // The log is copied back after the apply, when its lock is free.
      db.raw.pragma('wal_autocheckpoint = 0');
      file = createStagingFile(databaseFile);
    }
    attachStaging(db, file);
    addSqlFunctions(db);
    createSessionTables(db);
  } catch (error) {
    close();
    throw error;
  }

  let current: symbol | undefined;
  return {
    readSize: () => readSize(db),
    findSameImport: (kind, sha256) => findSameImport(db, kind, sha256),
    isRegistryEmpty: () => !db.has('main.cooperatives'),
    stage(kind, columns) {
      const own = Symbol(kind);
      current = own;
      const scope: FileScope = {
        db,
        kind,
        columns,
        format,
        monotonicMs,
        assertCurrent() {
          if (current !== own) throw new Error('This file was applied or kept, or another one was staged.');
        },
        end() {
          current = undefined;
        },
      };
      return openStaging(scope);
    },
    close() {
      current = undefined;
      close();
    },
  };
}

const openRegistryFile = (databaseFile: string, use: 'import' | 'dryRun'): Connection =>
  openDatabase(databaseFile, {
    ...SETTINGS,
    waitMs: WAIT_MS.command,
    schema: REGISTRY_SCHEMA,
    create: use === 'import',
    keepsSchema: use === 'dryRun',
  });
