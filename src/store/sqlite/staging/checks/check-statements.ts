/** The forms that the checks of a staged file have. */
import { SAME_AS_LINE } from '../../../ports/import/import-session.ts';

export interface Check {
  readonly column: string;
  /** SELECT of `line, message`; may use `r.cooperative_id` and `r.member_id` of `resolved_references`. */
  readonly sql: string;
  /** Column without which the file cannot have such a fault. */
  readonly onlyWith?: string;
}

/** A text as a value in SQL. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Sets of rows with the same values in these columns that are faulty together, each with its first line. */
const repeated = (columns: readonly string[], isFaulty: string, given = columns): string =>
  `(SELECT ${columns.join(', ')}, min(line) AS first FROM staging.rows
    WHERE ${given.map((name) => `${name} IS NOT NULL`).join(' AND ')}
    GROUP BY ${columns.join(', ')} HAVING ${isFaulty}) AS d`;
// The plus keeps SQLite from walking the lines after the first for each set instead of making an index.
const laterIn = (columns: readonly string[]): string =>
  `${columns.map((name) => `r.${name} = d.${name}`).join(' AND ')} AND +r.line > d.first`;

/** Later rows that have the same values in these columns as an earlier one. */
export const twice = (column: string, columns: readonly string[]): Check => ({
  column,
  sql: `SELECT r.line, ${quoted(SAME_AS_LINE)} || d.first || '.' FROM ${repeated(columns, 'count(*) > 1')}
        CROSS JOIN staging.rows r ON ${laterIn(columns)}`,
});

/** Rows that share `columns` with an earlier row but differ from it in `other`, which both have. */
export const shared = (
  column: string,
  columns: readonly string[],
  other: string,
  message: string,
): Check => ({
  column,
  sql: `SELECT r.line, ${quoted(message)} || d.first || '.'
        FROM ${repeated(columns, `min(${other}) <> max(${other})`, [...columns, other])}
        CROSS JOIN staging.rows f ON f.line = d.first
        CROSS JOIN staging.rows r ON ${laterIn(columns)} AND r.${other} <> f.${other}`,
});

/** Rows that meet a condition. @param from further tables, joined to `p` and `r` */
export const where = (column: string, message: string, condition: string, from = ''): Check => ({
  column,
  sql: `SELECT p.line, ${quoted(message)}
        FROM staging.resolved_references p CROSS JOIN staging.rows r ON r.line = p.line ${from}
        WHERE ${condition}`,
});

/**
 * Rows with a code or reference that nothing has.
 * @param what it is: `code`
 * @param before and after: the message around it
 */
export const unknown = (
  [column, what]: readonly [string, string],
  [before, after]: readonly [string, string],
  condition: string,
): Check => ({
  column,
  sql: `SELECT p.line, ${quoted(`${before} `)} || shown('${what}', r.${column}) || ${quoted(after)}
        FROM staging.resolved_references p CROSS JOIN staging.rows r ON r.line = p.line
        WHERE r.${column} IS NOT NULL AND ${condition}`,
});
