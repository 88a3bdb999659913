/** Builders of the SQL statements that check a staged file. */
import { SAME_AS_LINE } from '../files/records.ts';

export interface Check {
  readonly column: string;
  /** SELECT of the line and message of each faulty row. */
  readonly sql: string;
  /** Column without which the check is skipped. */
  readonly onlyWith?: string;
}

export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

export const listed = (texts: readonly string[]): string => texts.map(quoted).join(', ');

/** Returns SQL for a message in the format of `pack`. @param values SQL expressions for the placeholders */
export const saying = (template: string, values: { readonly [place: string]: string }): string => {
  const places = Object.entries(values).map(([place, value]) => `${quoted(place)}, ${value}`);
  return `${quoted(template)} || char(10) || json_object(${places.join(', ')})`;
};

/**
 * Returns a subquery of faulty groups, with the first line of each. Rows of a group are equal in `columns`.
 * @param isFaulty SQL condition on a group
 * @param required columns that must have a value
 */
const repeated = (columns: readonly string[], isFaulty: string, required = columns): string =>
  `(SELECT ${columns.join(', ')}, min(line) AS first FROM staging.rows
    WHERE ${required.map((name) => `${name} IS NOT NULL`).join(' AND ')}
    GROUP BY ${columns.join(', ')} HAVING ${isFaulty}) AS d`;
// Because of the plus, SQLite builds an index on the columns, instead of scanning all lines for each group.
const laterIn = (columns: readonly string[]): string =>
  `${columns.map((name) => `r.${name} = d.${name}`).join(' AND ')} AND +r.line > d.first`;

const FIRST = { line: 'd.first' };

/** Refuses a row with the same values in `columns` as an earlier row. */
export const twice = (column: string, columns: readonly string[]): Check => ({
  column,
  sql: `SELECT r.line, ${saying(SAME_AS_LINE, FIRST)} FROM ${repeated(columns, 'count(*) > 1')}
        CROSS JOIN staging.rows r ON ${laterIn(columns)}`,
});

/** Refuses a row with the same values in `columns` as an earlier row, but a different value in `other`. */
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

/** Each staged row `r` with the ids `p` of the stored rows to which it refers. */
export const ROWS = 'staging.resolved_references p CROSS JOIN staging.rows r ON r.line = p.line';

/** @param message SQL expression for the message @param from JOINs of further tables */
export const refusedWhere = (column: string, message: string, condition: string, from = ''): Check => ({
  column,
  sql: `SELECT p.line, ${message} FROM ${ROWS} ${from} WHERE ${condition}`,
});

/** Like `refusedWhere`, with a message without placeholders. */
export const where = (column: string, message: string, condition: string, from?: string): Check =>
  refusedWhere(column, quoted(message), condition, from);

/**
 * Refuses the rows with a code or reference that does not exist.
 * @param message message with the placeholder `code` for the code or reference
 * @param hidden message if the code or reference must not be shown
 */
export const unknown = (column: string, message: string, hidden: string, condition: string): Check =>
  refusedWhere(
    column,
    `iif(may_show(r.${column}), ${saying(message, { code: `r.${column}` })}, ${quoted(hidden)})`,
    `r.${column} IS NOT NULL AND ${condition}`,
  );
