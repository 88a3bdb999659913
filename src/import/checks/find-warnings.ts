/** Finds, stages and lists the warnings about a checked file. */
import type { Connection } from '../../sqlite/connection.ts';
import { readPages } from '../../sqlite/list-pages.ts';
import { type ImportWarning, WARNINGS } from '../import-warnings.ts';
import type { FileScope } from '../staging/staging-tables.ts';
import { ROWS } from './check-statements.ts';
import { stageNames } from './ledger-of-another-cooperative.ts';
import { IDENTITY_COLUMNS, WARNING_STATEMENTS } from './warning-statements.ts';

const LINES_AT_ONCE = 1_000;

/** Stages the warnings about a file. Must be called after its rows are compared with stored rows. */
export function findWarnings(scope: FileScope): void {
  const { db, kind, columns } = scope;
  if (kind === 'members') findElsewhere(db);
  stageNames(scope);
  for (const { kind: warningKind, needs, sql } of WARNING_STATEMENTS[kind] ?? []) {
    const select = needs.every((column) => columns.has(column)) ? sql(scope) : undefined;
    if (select === undefined) continue;
    db.run(
      `INSERT INTO staging.warnings (kind, line, detail) SELECT DISTINCT ?, line, detail
       FROM (WITH found (line, detail) AS (${select}) SELECT line, detail FROM found) ORDER BY line`,
      [warningKind],
    );
  }
}

const STOPPING = Object.entries(WARNINGS)
  .flatMap(([kind, { stops }]) => (stops ? `'${kind}'` : []))
  .join(', ');

/** True if a warning after `lastId` stops the file, and no earlier warning has the same kind and line. */
export function hasNewStops(db: Connection, lastId: number): boolean {
  const row = db.row(
    `SELECT 1 FROM staging.warnings n WHERE n.id > @lastId AND n.kind IN (${STOPPING}) AND NOT EXISTS
       (SELECT 1 FROM staging.warnings w WHERE w.id <= @lastId AND w.kind = n.kind AND w.line = n.line)`,
    { lastId },
  );
  return row !== undefined;
}

export const lastWarning = (db: Connection): number =>
  db.value<number>('SELECT coalesce(max(id), 0) FROM staging.warnings');

/**
 * Stages the rows with the national ID of a member of another cooperative. Skips rows that change neither the
 * identity nor the code of a stored member.
 */
function findElsewhere(db: Connection): void {
  db.exec('DELETE FROM staging.elsewhere');
  if (!db.has('main.members')) return;
  db.exec(`INSERT INTO staging.elsewhere (line, member_id)
    SELECT p.line, m.id FROM ${ROWS}
    CROSS JOIN main.members m ON m.identity_card = r.identity_card
    WHERE m.cooperative_id <> p.cooperative_id AND (p.id IS NULL OR p.line IN
      (SELECT line FROM staging.changes WHERE "column" IN (${IDENTITY_COLUMNS}, 'member_code')))`);
}

export function listWarnings({ db, kind, assertCurrent }: FileScope): ImportWarning[] {
  const warnings = db.rows<{ kind: ImportWarning['kind']; detail: string; rows: number }>(
    'SELECT kind, detail, count(*) AS rows FROM staging.warnings GROUP BY 1, 2 ORDER BY min(id)',
  );
  return warnings.map(({ kind: warningKind, detail, rows }) => {
    const statement = WARNING_STATEMENTS[kind]?.find((each) => each.kind === warningKind);
    if (statement === undefined) throw new Error(`The warning ${warningKind} about ${kind} has no message.`);
    return {
      kind: warningKind,
      stops: WARNINGS[warningKind].stops,
      message: statement.message(rows, detail),
      count: rows,
      lines() {
        assertCurrent();
        return linesOf(db, warningKind, detail);
      },
    };
  });
}

function* linesOf(db: Connection, kind: string, detail: string): Generator<number> {
  const page = db.raw.prepare<[string, string, number], { id: number; line: number }>(
    `SELECT id, line FROM staging.warnings WHERE kind = ? AND detail = ? AND id > ? ORDER BY id
       LIMIT ${LINES_AT_ONCE}`,
  );
  const rows = readPages<{ id: number; line: number }>(LINES_AT_ONCE, (last) =>
    page.all(kind, detail, last?.id ?? 0),
  );
  for (const { line } of rows) yield line;
}
