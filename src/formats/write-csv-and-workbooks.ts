/** Writes rows to an Excel workbook, as a stream of chunks, and formats rows of CSV files. */

import type { ColumnDef } from 'hucre/xlsx';
import { DAY_SECONDS } from '../values/date-time.ts';
import { asTextCell } from './spreadsheet-cells.ts';

/** Maximum number of rows, so that people can still work with the workbook. */
export const MOST_WORKBOOK_ROWS = 100_000;

export const WORKBOOK_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

export type Cell = string | number | null;

export type CellType = 'text' | 'number' | 'date' | 'instant';

export const FORMATS: { readonly [type in CellType]?: string } = {
  text: '@',
  date: 'yyyy-mm-dd',
  instant: 'yyyy-mm-dd hh:mm:ss',
};
export const WIDTHS: { readonly [type in CellType]: number } = {
  text: 20,
  number: 14,
  date: 12,
  instant: 20,
};

/**
 * Day 0 of workbook dates, in days since 1970. Dates before 1 March 1900 (day 61) stay text, because programs
 * disagree about their serial numbers.
 */
const DAY_ZERO = -25_569;
const FIRST_DAY = 61;

/**
 * Converts a date or date-time to a workbook's serial number, without a change of time zone. Dates that have
 * no reliable serial number stay text.
 */
function toSerial(text: string): Cell {
  const days =
    Date.parse(`${text.slice(0, 19)}Z`.replace(/^(.{10})Z$/, '$1')) / 1000 / DAY_SECONDS - DAY_ZERO;
  return days < FIRST_DAY ? text : days;
}

/** Escapes texts such as `_x0041_`, which workbooks read as A, and characters that XML cannot contain. */
const asWorkbookText = (text: string): string =>
  text
    .replace(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_')
    .replace(/[\ufffe\uffff]/g, (character) => (character === '\ufffe' ? '_xFFFE_' : '_xFFFF_'));

export function toCell(type: CellType, text: string | null): Cell {
  if (text === null) return null;
  if (type === 'number') return Number(text);
  return type === 'text' ? asWorkbookText(asTextCell(text)) : toSerial(text);
}

/** Writes a workbook with one sheet, whose heading row stays visible. */
export async function writeSheet(name: string, columns: ColumnDef[], rows: Iterable<Cell[]>) {
  const { writeXlsxStream } = await import('hucre/xlsx');
  return writeXlsxStream(rows, { name, columns, freezePane: { rows: 1 } });
}

/** Writes a workbook of figures with translated headings. @param name name of the sheet */
export function sheetOf(name: string, headings: readonly string[], rows: readonly (string | number)[][]) {
  const columns = headings.map((header) => ({ header: asWorkbookText(header), width: WIDTHS.text }));
  const toFigure = (value: string | number) =>
    typeof value === 'string' ? asWorkbookText(asTextCell(value)) : value;
  return writeSheet(
    name,
    columns,
    rows.map((row) => row.map(toFigure)),
  );
}

// Rows of CSV files

/** Formats a row with commas and a line end. */
export const formatCsvRow = (cells: readonly string[]): string => formatRow(cells, ',');

/** Formats a row with a line end. Quotes cells that contain a separator, a quote or a line end. */
export const formatRow = (cells: readonly string[], separator: string): string =>
  `${cells.map((cell) => formatCell(cell, separator)).join(separator)}\n`;

const formatCell = (cell: string, separator: string): string =>
  /[",;\r\n]/.test(cell) || cell.includes(separator) ? `"${cell.replaceAll('"', '""')}"` : cell;
