/** Rows → an Excel workbook, a part at a time. */
import { DAY_SECONDS, type TimeZone } from '../domain/values/date-time.ts';
import { asTextCell } from '../import/cells/blanks.ts';
import type { Language } from '../language/language.ts';
import type { ExportedRows } from '../store/contract/exports.ts';
import type { ImportKind } from '../store/contract/import/import-session.ts';
import { type ExportColumn, exportColumns } from './export-columns.ts';

/** What people can still work with; a workbook of a million rows opens nowhere. */
export const MOST_WORKBOOK_ROWS = 100_000;

/** Media type of a workbook. */
export const WORKBOOK_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

export type Cell = string | number | null;

/** What is used of the library, which only a workbook needs. */
interface WorkbookLibrary {
  writeXlsxStream(
    rows: Iterable<Cell[]>,
    options: {
      readonly name: string;
      readonly columns: readonly {
        readonly header: string;
        readonly numFmt?: string;
        readonly width: number;
      }[];
      readonly freezePane: { readonly rows: number };
    },
  ): AsyncIterable<Uint8Array>;
}
export const LIBRARY = 'hucre/xlsx';

export type CellType = ExportColumn<never>['type'];

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

/** Day 0 of workbooks, in days before 1970. The days before 1 March 1900 are counted in different ways. */
const DAY_ZERO = -25_569;
const FIRST_DAY = 61;

/** The number of a day, and of a time in the zone that the text shows; a text for one that has none. */
function toSerial(text: string): Cell {
  const days =
    Date.parse(`${text.slice(0, 19)}Z`.replace(/^(.{10})Z$/, '$1')) / 1000 / DAY_SECONDS - DAY_ZERO;
  return days < FIRST_DAY ? text : days;
}

/** In workbooks `_x0041_` is an A. So are characters written that XML cannot hold, and such texts. */
const asWorkbookText = (text: string): string =>
  text
    .replace(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_')
    .replace(/[\ufffe\uffff]/g, (character) => (character === '\ufffe' ? '_xFFFE_' : '_xFFFF_'));

export function toCell(type: CellType, text: string | null): Cell {
  if (text === null) return null;
  if (type === 'number') return Number(text);
  return type === 'text' ? asWorkbookText(asTextCell(text)) : toSerial(text);
}

/** A workbook of figures for people, with headings in their language. @param name of its sheet */
export async function sheetOf(
  name: string,
  headings: readonly string[],
  rows: Iterable<(string | number)[]>,
): Promise<AsyncIterable<Uint8Array>> {
  const { writeXlsxStream }: WorkbookLibrary = await import(LIBRARY);
  const columns = headings.map((header) => ({ header: asWorkbookText(header), width: WIDTHS.text }));
  const cells = (value: string | number) =>
    typeof value === 'string' ? asWorkbookText(asTextCell(value)) : value;
  function* all(): Generator<Cell[]> {
    for (const row of rows) yield row.map(cells);
  }
  return writeXlsxStream(all(), { name, columns, freezePane: { rows: 1 } });
}

export async function workbookOf<Kind extends ImportKind>(
  kind: Kind,
  rows: Iterable<ExportedRows[Kind]>,
  zone: TimeZone,
  labels: Language | undefined,
): Promise<AsyncIterable<Uint8Array>> {
  const { writeXlsxStream }: WorkbookLibrary = await import(LIBRARY);
  const columns = exportColumns(kind, labels);
  function* cells(): Generator<Cell[]> {
    for (const row of rows) yield columns.map(({ type, read }) => toCell(type, read(row, zone)));
  }
  return writeXlsxStream(cells(), {
    name: kind,
    columns: columns.map(({ name, type }) => {
      const numFmt = FORMATS[type];
      return { header: name, width: WIDTHS[type], ...(numFmt === undefined ? {} : { numFmt }) };
    }),
    freezePane: { rows: 1 },
  });
}
