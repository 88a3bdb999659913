/** Builders of the SQL statements that check a staged file. */
import { SAME_AS_LINE } from '../files/records.ts';

export interface Check {
  readonly column: string;
  /** SELECT of `line, message` for faulty rows `r`; may use the ids of `resolved_references`. */
  readonly sql: string;
  /** Column that the file must have for this check to run. */
  readonly onlyWith?: string;
}

/** Returns a text as an SQL literal. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Returns SQL that builds a message in the format of `pack`. @param values SQL for the placeholders */
export const saying = (template: string, values: { readonly [place: string]: string }): string => {
  const places = Object.entries(values).map(([place, value]) => `${quoted(place)}, ${value}`);
  return `${quoted(template)} || char(10) || json_object(${places.join(', ')})`;
};

/**
 * Subquery of faulty groups: rows with equal values in `columns`, each group with its first line.
 * @param isFaulty SQL condition on a group
 */
const repeated = (columns: readonly string[], isFaulty: string, required = columns): string =>
  `(SELECT ${columns.join(', ')}, min(line) AS first FROM staging.rows
    WHERE ${required.map((name) => `${name} IS NOT NULL`).join(' AND ')}
    GROUP BY ${columns.join(', ')} HAVING ${isFaulty}) AS d`;
// The plus makes SQLite build an index on the columns instead of scanning the later lines for each group.
const laterIn = (columns: readonly string[]): string =>
  `${columns.map((name) => `r.${name} = d.${name}`).join(' AND ')} AND +r.line > d.first`;

const FIRST = { line: 'd.first' };

/** Refuses rows that have the same values in these columns as an earlier row. */
export const twice = (column: string, columns: readonly string[]): Check => ({
  column,
  sql: `SELECT r.line, ${saying(SAME_AS_LINE, FIRST)} FROM ${repeated(columns, 'count(*) > 1')}
        CROSS JOIN staging.rows r ON ${laterIn(columns)}`,
});

/**
 * Refuses rows that have the same values in `columns` as an earlier row but another value in `other`. Rows
 * without a value in `other` are not compared.
 */
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

/** Refuses rows that meet a condition. @param from further tables, joined to `p` and `r` */
export const where = (column: string, message: string, condition: string, from = ''): Check => ({
  column,
  sql: `SELECT p.line, ${quoted(message)}
        FROM staging.resolved_references p CROSS JOIN staging.rows r ON r.line = p.line ${from}
        WHERE ${condition}`,
});

/**
 * Refuses rows with a code or reference that does not exist.
 * @param message has the placeholder `code` for the code or reference
 * @param hidden message if the code must not be shown
 */
export const unknown = (column: string, message: string, hidden: string, condition: string): Check => ({
  column,
  sql: `SELECT p.line,
          iif(may_show(r.${column}), ${saying(message, { code: `r.${column}` })}, ${quoted(hidden)})
        FROM staging.resolved_references p CROSS JOIN staging.rows r ON r.line = p.line
        WHERE r.${column} IS NOT NULL AND ${condition}`,
});
