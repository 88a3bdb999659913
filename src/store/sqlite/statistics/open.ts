/** The connection of statistics: it only reads. */
import type { Connection } from '../engine/connection.ts';
import { openDatabase } from '../engine/open-database.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import { REGISTRY_SCHEMA } from '../schema/migrations/registry.ts';

/** @throws StorageError `unusable` when there is no registry of this release */
export const openForStatistics = (file: string): Connection =>
  openDatabase(file, { readOnly: true, schema: REGISTRY_SCHEMA, waitMs: WAIT_MS.command });
