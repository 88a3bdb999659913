/** Writes rows to Excel workbooks, and formats rows of CSV files. */

import type { ColumnDef } from 'hucre/xlsx';
import { DAY_SECONDS } from '../values/date-time.ts';
import { asTextCell } from './spreadsheet-cells-and-empty-words.ts';

/** Maximum number of rows with which people can still work in a spreadsheet. */
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

/** Day 0 of the dates in workbooks, in days since 1970. */
const DAY_ZERO = -25_569;
/** Serial number of 1 March 1900. Programs disagree about the serial numbers of earlier dates. */
const FIRST_DAY = 61;

/** Converts a date or date-time to its serial number in workbooks. Dates before `FIRST_DAY` stay text. */
function toSerial(text: string): Cell {
  const days =
    Date.parse(`${text.slice(0, 19)}Z`.replace(/^(.{10})Z$/, '$1')) / 1000 / DAY_SECONDS - DAY_ZERO;
  return days < FIRST_DAY ? text : days;
}

/** Escapes texts such as `_x0041_`, which programs read as A, and characters that XML cannot contain. */
const asWorkbookText = (text: string): string =>
  text
    .replace(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_')
    .replace(/[\ufffe\uffff]/g, (character) => (character === '\ufffe' ? '_xFFFE_' : '_xFFFF_'));

export function toCell(type: CellType, text: string | null): Cell {
  if (text === null) return null;
  if (type === 'number') return Number(text);
  return type === 'text' ? asWorkbookText(asTextCell(text)) : toSerial(text);
}

/** Returns a stream of a workbook with one sheet. The row of headings stays visible when people scroll. */
export async function writeSheet(name: string, columns: ColumnDef[], rows: Iterable<Cell[]>) {
  const { writeXlsxStream } = await import('hucre/xlsx');
  return writeXlsxStream(rows, { name, columns, freezePane: { rows: 1 } });
}

/** Writes a workbook of figures with translated headings. */
export function sheetOf(name: string, headings: readonly string[], rows: readonly (string | number)[][]) {
  const columns = headings.map((header) => ({ header: asWorkbookText(header), width: WIDTHS.text }));
  const toFigure = (value: string | number) => (typeof value === 'string' ? toCell('text', value) : value);
  return writeSheet(
    name,
    columns,
    rows.map((row) => row.map(toFigure)),
  );
}

export const formatCsvRow = (cells: readonly string[]): string => formatRow(cells, ',');

/** Formats a row with a line end. Quotes the cells that contain a separator, a quote or a line end. */
export function formatRow(cells: readonly string[], separator: string): string {
  const isQuoted = (cell: string) => /[",;\r\n]/.test(cell) || cell.includes(separator);
  const quoted = cells.map((cell) => (isQuoted(cell) ? `"${cell.replaceAll('"', '""')}"` : cell));
  return `${quoted.join(separator)}\n`;
}
