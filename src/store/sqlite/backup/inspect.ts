/** Looks into one file of a backup, which no other process uses. */
import Database from 'better-sqlite3';
import type { GenerationPosition } from '../../ports/backup.ts';

export interface Inspection {
  readonly applicationId: number;
  readonly schemaVersion: number;
  /** Null when the database is intact. */
  readonly fault: string | null;
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
    const result = read(depth === 'full' ? 'integrity_check(1)' : 'quick_check(1)');
    return {
      applicationId: read('application_id') as number,
      schemaVersion: read('user_version') as number,
      fault: result === 'ok' ? null : toOneLine(String(result)),
    };
  } catch (error) {
    return { applicationId: 0, schemaVersion: 0, fault: (error as Error).message };
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

/** Rows of each of the tables that the file has: that of an older release may have fewer. */
export function countRows(file: string, tables: readonly string[]): { [table: string]: number } {
  return readFrom(file, (db) => {
    const isTable = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
    return Object.fromEntries(
      tables
        .filter((table) => isTable.get(table) !== undefined)
        .map((table) => [table, db.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number]),
    );
  });
}

/** Undefined for a registry that has lost its epoch. */
export function readSequencePosition(file: string): GenerationPosition | undefined {
  const hasGeneration = "SELECT 1 FROM pragma_table_info('feed') WHERE name = 'generation'";
  return readFrom(file, (db) => {
    // An older release has none.
    const generation = db.prepare(hasGeneration).get() === undefined ? '0' : 'generation';
    const sql = `SELECT epoch, (SELECT coalesce(max(sequence), 0) FROM events) AS lastSequence,
      ${generation} AS generation FROM feed WHERE id = 1`;
    return db.prepare(sql).get() as GenerationPosition | undefined;
  });
}

function readFrom<T>(file: string, read: (db: Database.Database) => T): T {
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    return read(db);
  } finally {
    db.close();
  }
}
