/** Output of commands: JSON, written in pieces because lists may be long; tables; labelled lines. */

import type { Awaitable } from '../values/errors.ts';
import { type Message, say } from '../values/message.ts';

/** Text is written once it has more characters than this, because a write for each item would be slow. */
const WRITE_CHARACTERS = 64 * 1024;

type Items = Iterable<unknown> | AsyncIterable<unknown>;

const isList = (value: unknown): value is Items =>
  typeof value === 'object' && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);

export function createJsonWriter(out: (text: string) => Awaitable<void>) {
  let pending = '';

  function flush(): Awaitable<void> {
    const text = pending;
    pending = '';
    return out(text);
  }

  /** @returns a promise if the reader is slower than the writer */
  function write(text: string): Awaitable<void> {
    pending += text;
    return pending.length > WRITE_CHARACTERS ? flush() : undefined;
  }

  /**
   * Iterates items and inner lists while it writes them. If an item throws, the JSON is still completed.
   * @param indent indent of the items; by default, all items are on one line
   * @throws errors of the items
   */
  async function list(items: Items, indent?: string): Promise<void> {
    let start = '[';
    const writeItem = (item: unknown): Awaitable<void> => {
      const before = indent === undefined ? start : `${start}\n${indent}`;
      start = ',';
      const hasLists = typeof item === 'object' && item !== null && Object.values(item).some(isList);
      if (!hasLists) return write(before + JSON.stringify(item));
      write(before);
      return members(item);
    };
    try {
      // A list may have millions of items, so the loop waits only if the reader is slower.
      if (Symbol.iterator in items)
        for (const item of items) {
          const waiting = writeItem(item);
          if (waiting !== undefined) await waiting;
        }
      else for await (const item of items) await writeItem(item);
    } finally {
      const isEmpty = start === '[';
      write(isEmpty ? '[]' : indent === undefined ? ']' : `\n${indent.slice(2)}]`);
    }
  }

  async function members(item: object): Promise<void> {
    let start = '{';
    try {
      for (const [name, value] of Object.entries(item)) {
        write(`${start}${JSON.stringify(name)}:`);
        start = ',';
        await (isList(value) ? list(value) : write(JSON.stringify(value)));
      }
    } finally {
      write('}');
    }
  }

  return { write, list, flush };
}

export const formatJson = (document: unknown): string => `${JSON.stringify(document, undefined, 2)}\n`;

export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const pad = (cell: string, column: number) => cell.padEnd(widths[column] ?? 0);
  return lines.map((line) => `${line.map(pad).join('  ').trimEnd()}\n`).join('');
}

type Column<Row> = keyof Row | ((row: Row) => string | null);

/** Omits columns without values. @param columns columns by heading */
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

export function formatFields(fields: readonly (readonly [label: string, value: string])[]): string {
  const width = Math.max(...fields.map(([label]) => label.length)) + 2;
  return fields.map(([label, value]) => `${label.padEnd(width)}${value}\n`).join('');
}

/** The note has the path, because the user may have mistyped the path. */
export const newRegistryNote = ({ location }: { readonly location: string }): Message =>
  say('Created a new, empty registry at {location}.', { location });

export const noRegistryNote = ({ location }: { readonly location: string }): Message =>
  say('There is no registry at {location} yet: this dry run compares with an empty one.', { location });

/** Maximum number of line numbers in a note or warning. */
export const SHOWN_LINES = 5;

/** @param first the line numbers to show @param count number of all lines */
export function describeLines(first: readonly number[], count: number): Message {
  const rest = count - first.length;
  const lines = first.join(', ');
  return rest > 0
    ? say('lines {lines} and {rest} more', { lines, rest })
    : say('{count|line|lines} {lines}', { count, lines });
}

/** Returns at most three digits before the decimal point, such as `5.2 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let power = 0;
  // 999,960 bytes are 1.0 MB, not 1000.0 kB.
  while (power < units.length - 1 && Math.round((bytes / 1000 ** power) * 10) >= 10_000) power++;
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`;
}
