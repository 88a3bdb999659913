/** Looks into one file of a backup, which no other process uses. */
import Database from 'better-sqlite3';

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

/** Rows of each of the tables that the file has. */
export function countRows(file: string, tables: readonly string[]): { [table: string]: number } {
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    const hasTable = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
    const present = tables.filter((table) => hasTable.get(table) !== undefined);
    return Object.fromEntries(
      present.map((table) => [table, db.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number]),
    );
  } finally {
    db.close();
  }
}
