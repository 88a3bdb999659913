/** Whether the records of imports agree with the rows, of which some may be gone: for `check`. */
import { IMPORT_KINDS } from '../../ports/import-session.ts';
import { TARGETS } from '../schema/targets.ts';

interface ImportCheck {
  readonly name: string;
  /** Finds an import that is wrong. */
  readonly sql: string;
}

const inRange = (table: string, range: 'row' | 'account'): string =>
  `SELECT count(*) FROM ${table} WHERE id BETWEEN i.first_${range} AND i.last_${range}`;
const ROWS = IMPORT_KINDS.map((kind) => `WHEN '${kind}' THEN (${inRange(TARGETS[kind].table, 'row')})`);

export const IMPORT_CHECKS: readonly ImportCheck[] = [
  {
    name: 'rows of imports',
    sql: `SELECT id, created, rows FROM (
        SELECT i.id, iif(i.undone_at IS NULL, i.created, 0) AS created,
          CASE i.kind ${ROWS.join(' ')} END AS rows
        FROM imports i)
      WHERE rows > created LIMIT 1`,
  },
  {
    name: 'accounts of imports',
    sql: `SELECT i.id FROM imports i WHERE (${inRange('savings_accounts', 'account')})
        > iif(i.undone_at IS NULL, i.last_account - i.first_account + 1, 0) LIMIT 1`,
  },
  {
    name: 'changes of imports',
    sql: `SELECT id, changed, rows FROM (
        SELECT i.id, i.changed, (SELECT count(DISTINCT c.entity || c.row_id) FROM changes c
          WHERE c.id BETWEEN i.first_change AND i.last_change 
            AND c.actor IN ('import:' || i.id, 'correction:' || i.id)) AS rows
        FROM imports i)
      WHERE rows <> changed LIMIT 1`,
  },
];
