/** Formats rows as CSV, and encodes texts. */

import type { Encoding } from './records.ts';

/** One line with its line end, in a form that every spreadsheet reads, whatever its separator. */
export const formatCsvRow = (cells: readonly string[]): string => formatRow(cells, ',');

/** One line with its line end. Cells with a separator, a quote or a line end are quoted. */
export const formatRow = (cells: readonly string[], separator: string): string =>
  `${cells.map((cell) => formatCell(cell, separator)).join(separator)}\n`;

const formatCell = (cell: string, separator: string): string =>
  /[",;\r\n]/.test(cell) || cell.includes(separator) ? `"${cell.replaceAll('"', '""')}"` : cell;

/** Encodes a text, without a byte order mark. */
export function encodeText(text: string, encoding: Encoding): Buffer {
  if (encoding === 'utf-8') return Buffer.from(text);
  if (encoding === 'windows-1252')
    return Buffer.from(text.replace(/[^\0-\x7f\xa0-\xff]/gu, inWindows), 'latin1');
  const bytes = Buffer.from(text, 'utf16le');
  return encoding === 'utf-16le' ? bytes : bytes.swap16();
}

const WINDOWS_1252 = new TextDecoder('windows-1252');

/** Bytes from 0x80 to 0x9f in Windows-1252, by character. */
const BYTES = new Map(
  Array.from({ length: 0x20 }, (_, i) => [WINDOWS_1252.decode(Buffer.from([0x80 + i])), 0x80 + i]),
);

/** A character that the encoding lacks was not in a file of it. */
const inWindows = (character: string): string => String.fromCharCode(BYTES.get(character) ?? 0x3f);
