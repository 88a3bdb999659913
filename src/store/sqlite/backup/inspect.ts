/** Looks into one file of a backup, which no other process uses. Of a damaged one nothing else is read. */
import Database from 'better-sqlite3';
import type { SequencePosition } from '../../contract/backup.ts';
import { COUNTED } from '../check/check.ts';

export interface Inspection {
  readonly applicationId: number;
  readonly schemaVersion: number;
  /** Null when the database is intact. */
  readonly fault: string | null;
  /** Of each counted table that the file has: that of an older release may have fewer. */
  readonly rows: { readonly [table: string]: number };
  /** Undefined for a registry that has lost its epoch, and for another file. */
  readonly sequence: SequencePosition | undefined;
}

/**
 * @param depth `quick`: the structure of every table and index; `full`: also that indexes and tables agree,
 * which takes several times as long
 * @returns a fault also for what is not a database
 */
export function inspectDatabase(file: string, depth: 'quick' | 'full'): Inspection {
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { readonly: true, fileMustExist: true });
    const read = (pragma: string) => db?.pragma(pragma, { simple: true });
    // With SQLite's own 16 MiB, a check of 3.4 GB reads 84 GB.
    read('cache_size = -262144');
    const result = read(depth === 'full' ? 'integrity_check(1)' : 'quick_check(1)');
    const isIntact = result === 'ok';
    return {
      applicationId: read('application_id') as number,
      schemaVersion: read('user_version') as number,
      fault: isIntact ? null : toOneLine(String(result)),
      rows: isIntact ? countRows(db) : {},
      sequence: isIntact ? readSequencePosition(db) : undefined,
    };
  } catch (error) {
    const fault = (error as Error).message;
    return { applicationId: 0, schemaVersion: 0, fault, rows: {}, sequence: undefined };
  } finally {
    db?.close();
  }
}

/** SQLite begins some results with a line that names the database. */
const toOneLine = (result: string): string =>
  result
    .replace(/^\*\*\* .* \*\*\*\n/, '')
    .replaceAll('\n', ' ')
    .replace(/\.$/, '');

function countRows(db: Database.Database): Inspection['rows'] {
  const tables = COUNTED.filter((table) => hasTable(db, table));
  const count = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
  return Object.fromEntries(tables.map((table) => [table, count(table)]));
}

function readSequencePosition(db: Database.Database): SequencePosition | undefined {
  if (!hasTable(db, 'feed')) return undefined;
  return db
    .prepare(
      'SELECT epoch, (SELECT coalesce(max(sequence), 0) FROM events) AS lastSequence FROM feed WHERE id = 1',
    )
    .get() as SequencePosition | undefined;
}

const hasTable = (db: Database.Database, name: string): boolean =>
  db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined;
