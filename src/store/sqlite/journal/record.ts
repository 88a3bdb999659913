/** Records an import in its own transaction: the file, the ids of what it wrote, each changed value. */
import type { ImportRecord } from '../../ports/import-record.ts';
import type { ImportChanges, ImportKind } from '../../ports/import-session.ts';
import type { Connection } from '../engine/connection.ts';

/** Successive ids; `last` is one less than `first` when there are none. */
export interface IdRange {
  readonly first: number;
  readonly last: number;
}

export const NO_IDS: IdRange = { first: 1, last: 0 };

export interface AppliedFile {
  readonly kind: ImportKind;
  readonly changes: ImportChanges;
  readonly refusedRows: number;
  readonly rows: IdRange;
  /** Savings accounts that it opened. */
  readonly accounts: IdRange;
}

/** @returns the id of the import */
export function recordImport(
  db: Connection,
  applied: AppliedFile,
  record: ImportRecord,
  now: number,
): number {
  const { rows, accounts, refusedRows, kind } = applied;
  const lastChange = () =>
    db.raw.prepare('SELECT coalesce(max(id), 0) FROM main.changes').pluck().get() as number;
  const { lastInsertRowid } = db.raw
    .prepare(
      `INSERT INTO main.imports (file_name, sha256, kind, map, options, notes, system_user, imported_at,
         created, changed, unchanged, kept, refused_rows,
         first_row, last_row, first_account, last_account, first_change, last_change)
       VALUES (@fileName, @sha256, @kind, @map, @options, @notes, @systemUser, @now,
         @created, @changed, @unchanged, @kept, @refusedRows,
         @firstRow, @lastRow, @firstAccount, @lastAccount, @before + 1, @before)`,
    )
    .run({
      ...{ fileName: record.fileName, sha256: record.sha256, systemUser: record.systemUser },
      map: record.map === null ? null : JSON.stringify(record.map),
      ...{ options: JSON.stringify(record.options), notes: JSON.stringify(record.notes) },
      ...{ kind, now, ...applied.changes, refusedRows, before: lastChange() },
      ...{ firstRow: rows.first, lastRow: rows.last },
      ...{ firstAccount: accounts.first, lastAccount: accounts.last },
    });
  const id = Number(lastInsertRowid);
  const { changes } = db.raw
    .prepare(
      `INSERT INTO main.changes (entity, row_id, field, old, new, at, actor, line)
       SELECT ?, row_id, "column", old, new, ?, ?, line FROM staging.changes ORDER BY id`,
    )
    .run(kind, now, `import:${id}`);
  if (changes > 0) {
    db.raw
      .prepare('UPDATE main.imports SET first_change = ?, last_change = ? WHERE id = ?')
      .run(lastChange() - changes + 1, lastChange(), id);
  }
  return id;
}
