/** Rows → an Excel workbook, in parts. */

import type { ColumnDef } from 'hucre/xlsx';
import { DAY_SECONDS } from '../values/date-time.ts';
import { asTextCell } from './blanks.ts';

/** Limit that people can still work with; a workbook of a million rows cannot be opened. */
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
 * Day 0 of workbooks, in days since 1970. Dates before 1 March 1900 (day 61) are excluded because programs
 * count them differently.
 */
const DAY_ZERO = -25_569;
const FIRST_DAY = 61;

/** Serial number of a date, or of a time in the zone of the text; dates without one stay text. */
function toSerial(text: string): Cell {
  const days =
    Date.parse(`${text.slice(0, 19)}Z`.replace(/^(.{10})Z$/, '$1')) / 1000 / DAY_SECONDS - DAY_ZERO;
  return days < FIRST_DAY ? text : days;
}

/** Workbooks read `_x0041_` as A. Escapes text of this form, and characters that XML cannot contain. */
const asWorkbookText = (text: string): string =>
  text
    .replace(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_')
    .replace(/[\ufffe\uffff]/g, (character) => (character === '\ufffe' ? '_xFFFE_' : '_xFFFF_'));

export function toCell(type: CellType, text: string | null): Cell {
  if (text === null) return null;
  if (type === 'number') return Number(text);
  return type === 'text' ? asWorkbookText(asTextCell(text)) : toSerial(text);
}

/** A workbook of one sheet, whose headings stay in view. */
export async function writeSheet(name: string, columns: ColumnDef[], rows: Iterable<Cell[]>) {
  const { writeXlsxStream } = await import('hucre/xlsx');
  return writeXlsxStream(rows, { name, columns, freezePane: { rows: 1 } });
}

/**
 * A workbook of figures for people, with headings in their language.
 * @param name name of the sheet
 */
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
