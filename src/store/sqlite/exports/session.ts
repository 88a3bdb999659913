/** A connection that reads entire tables for exports. */
import type { ExportSession } from '../../contract/exports.ts';
import { openDatabase } from '../engine/open-database.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import { openFeed } from '../events/feed.ts';
import { RESERVED_BYTES, readFreeBytes } from '../files/registry-files.ts';
import { REGISTRY_SCHEMA } from '../schema/migrations/registry.ts';
import { exportedRows, readRows } from './exported-rows.ts';

/** Each page is read once. */
const CACHE_KIB = 2 * 1024;

/** @throws StorageError `unusable` when there is no registry of this release */
export function openExportSession(file: string): ExportSession {
  const options = { readOnly: true, cacheKiB: CACHE_KIB, schema: REGISTRY_SCHEMA };
  const db = openDatabase(file, { ...options, waitMs: WAIT_MS.command });
  const feed = openFeed(db);
  return {
    begin() {
      db.transaction.beginRead();
      const { epoch, lastSequence } = feed.read({
        after: undefined,
        limit: 1,
        epoch: undefined,
        visible: null,
      });
      return {
        epoch,
        sequence: lastSequence,
        count(kind, filter) {
          const { sql, parameters } = exportedRows(kind, filter);
          return db.count(sql, parameters);
        },
        rows(kind, filter) {
          return readRows(db, kind, filter);
        },
      };
    },
    end: () => db.transaction.endRead(),
    findCooperative: (code) =>
      db.value<number | undefined>('SELECT id FROM cooperatives WHERE code = ?', [code]),
    hasRoom: () => readFreeBytes(file) >= RESERVED_BYTES,
    close: () => db.close(),
  };
}
