/** What commands print: one JSON document for programs, tables and labelled lines for people. */

import { type Message, say } from '../../domain/values/message.ts';

/** One JSON document, indented, with a line feed at its end. */
export const formatJson = (document: unknown): string => `${JSON.stringify(document, undefined, 2)}\n`;

/** @param rows one array of cells each; columns are as wide as their widest cell */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const formatLine = (line: readonly string[]) =>
    `${line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()}\n`;
  return lines.map(formatLine).join('');
}

/** What a column shows of a row: one of its properties, or a text. */
type Column<Row> = keyof Row | ((row: Row) => string | null);

/**
 * A table of objects of a JSON document.
 * @param columns by their headings; one that has no value in any row is left out
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
  const isShown = (_: unknown, place: number) =>
    rows.length === 0 || lines.some((line) => line[place] !== '');
  return formatTable(
    Object.keys(columns).filter(isShown),
    lines.map((line) => line.filter(isShown)),
  );
}

/** A line for each label and its value, the values below each other. */
export function formatFields(fields: readonly (readonly [label: string, value: string])[]): string {
  const width = Math.max(...fields.map(([label]) => label.length)) + 2;
  return fields.map(([label, value]) => `${label.padEnd(width)}${value}\n`).join('');
}

/** For standard error, when a command has created a registry: the path may be mistyped. */
export const newRegistryNote = ({ location }: { readonly location: string }): Message =>
  say('Created a new, empty registry at {location}.', { location });

/** For standard error, when a dry run finds no registry. */
export const noRegistryNote = ({ location }: { readonly location: string }): Message =>
  say('There is no registry at {location} yet: this dry run compares with an empty one.', { location });
