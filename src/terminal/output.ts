/** Formats the output of commands: JSON for programs, and tables and labelled lines for people. */

import { type Message, say } from '../values/message.ts';

/** Formats an indented document with a final line feed. */
export const formatJson = (document: unknown): string => `${JSON.stringify(document, undefined, 2)}\n`;

export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const pad = (cell: string, column: number) => cell.padEnd(widths[column] ?? 0);
  return lines.map((line) => `${line.map(pad).join('  ').trimEnd()}\n`).join('');
}

/** Name of a property of the row, or a function that returns the text of the cell. */
type Column<Row> = keyof Row | ((row: Row) => string | null);

/**
 * Formats objects of a JSON document as a table. Omits columns without values.
 * @param columns columns by heading
 */
export function formatRows<Row extends object>(
  rows: readonly Row[],
  columns: { readonly [heading: string]: Column<Row> },
): string {
  const cellOf = (row: Row, column: Column<Row>): string => {
    const value = typeof column === 'function' ? column(row) : row[column];
    return Array.isArray(value) ? value.join(' ') : String(value ?? '');
  };
  const lines = rows.map((row) => Object.values(columns).map((column) => cellOf(row, column)));
  const hasValues = (_: unknown, i: number) => rows.length === 0 || lines.some((line) => line[i] !== '');
  const filled = lines.map((line) => line.filter(hasValues));
  return formatTable(Object.keys(columns).filter(hasValues), filled);
}

/** Formats labelled values as lines, with the values aligned. */
export function formatFields(fields: readonly (readonly [label: string, value: string])[]): string {
  const width = Math.max(...fields.map(([label]) => label.length)) + 2;
  return fields.map(([label, value]) => `${label.padEnd(width)}${value}\n`).join('');
}

/** Returns the note of a command that created a registry. Its path may be mistyped. */
export const newRegistryNote = ({ location }: { readonly location: string }): Message =>
  say('Created a new, empty registry at {location}.', { location });

export const noRegistryNote = ({ location }: { readonly location: string }): Message =>
  say('There is no registry at {location} yet: this dry run compares with an empty one.', { location });

/** Maximum number of line numbers shown in a note or warning. */
export const SHOWN_LINES = 5;

/** @param first line numbers to show @param count number of all lines */
export function describeLines(first: readonly number[], count: number): Message {
  const rest = count - first.length;
  const lines = first.join(', ');
  return rest > 0
    ? say('lines {lines} and {rest} more', { lines, rest })
    : say('{count|line|lines} {lines}', { count, lines });
}

/** Formats bytes with at most three digits before the decimal point, such as `5.2 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let power = 0;
  // 999,960 bytes are 1.0 MB, not 1000.0 kB.
  while (power < units.length - 1 && Math.round((bytes / 1000 ** power) * 10) >= 10_000) power++;
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`;
}
