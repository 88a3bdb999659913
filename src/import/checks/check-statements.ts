/** Builders of the SQL statements that check a staged file. */
import { SAME_AS_LINE } from '../files/records.ts';

export interface Check {
  readonly column: string;
  /** SELECT of `line, message`; may use `r.cooperative_id` and `r.member_id` of `resolved_references`. */
  readonly sql: string;
  /** Column without which a file cannot have the fault. */
  readonly onlyWith?: string;
}

/** SQL literal of a text. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** SQL expression for a message in the format of `pack`. @param values expressions for its places */
export const saying = (template: string, values: { readonly [place: string]: string }): string => {
  const places = Object.entries(values).map(([place, value]) => `${quoted(place)}, ${value}`);
  return `${quoted(template)} || char(10) || json_object(${places.join(', ')})`;
};

/** Sets of rows with the same values in these columns that are faulty together, each with its first line. */
const repeated = (columns: readonly string[], isFaulty: string, required = columns): string =>
  `(SELECT ${columns.join(', ')}, min(line) AS first FROM staging.rows
    WHERE ${required.map((name) => `${name} IS NOT NULL`).join(' AND ')}
    GROUP BY ${columns.join(', ')} HAVING ${isFaulty}) AS d`;
// The plus keeps SQLite from scanning the lines after the first for each set instead of building an index.
const laterIn = (columns: readonly string[]): string =>
  `${columns.map((name) => `r.${name} = d.${name}`).join(' AND ')} AND +r.line > d.first`;

const FIRST = { line: 'd.first' };

/** Rows that have the same values in these columns as an earlier one. */
export const twice = (column: string, columns: readonly string[]): Check => ({
  column,
  sql: `SELECT r.line, ${saying(SAME_AS_LINE, FIRST)} FROM ${repeated(columns, 'count(*) > 1')}
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
  sql: `SELECT r.line, ${saying(message, FIRST)}
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
 * Rows with a code or reference that does not exist.
 * @param message with the place `code` for the code or reference
 * @param hidden message if the code must not be shown
 */
export const unknown = (column: string, message: string, hidden: string, condition: string): Check => ({
  column,
  sql: `SELECT p.line,
          iif(may_show(r.${column}), ${saying(message, { code: `r.${column}` })}, ${quoted(hidden)})
        FROM staging.resolved_references p CROSS JOIN staging.rows r ON r.line = p.line
        WHERE r.${column} IS NOT NULL AND ${condition}`,
});
