/** One sheet as each program writes it: Excel, LibreOffice, and as CSV. */
import { escapeXml, workbookOf, type ZipPart, zipOf } from './workbook.ts';

export type MadeCell =
  | string
  | number
  /** A day `YYYY-MM-DD`. */
  | { readonly day: string }
  /** A formula that was never calculated. */
  | { readonly formula: string }
  | { readonly error: string }
  /** A number with as many decimals shown; in per cent, it is a share. */
  | { readonly number: number; readonly decimals: number; readonly isPercent?: boolean };

export interface MadeGrid {
  /** From line 1 on; an empty text is an empty cell, and a row of no cells an empty line. */
  readonly rows: readonly (readonly MadeCell[])[];
  /** References such as `A2:A4`. */
  readonly merges?: readonly string[];
  readonly hiddenRows?: readonly number[];
  /** Rows that a filter hides. */
  readonly filteredRows?: readonly number[];
  /** Letters. */
  readonly hiddenColumns?: readonly string[];
}

const letterOf = (place: number): string => String.fromCharCode(65 + place);
const serialOf = (day: string): number => Date.parse(day) / 86_400_000 + 25_569;

/** Formats of the styles by index: a day, and numbers of no to four decimals, then per cent. */
const FORMATS = ['dd/mm/yyyy', '0', '0.0', '#,##0.00', '0.000', '0%', '0.0%'];

/** Excel shares its texts, leaves out empty cells and styles dates. */
export function excelFile(grid: MadeGrid): Buffer {
  const texts: string[] = [];
  const textCell = (place: string, text: string) =>
    `<c r="${place}" t="s"><v>${texts.push(`<t>${escapeXml(text)}</t>`) - 1}</v></c>`;
  const rows = xmlRows(grid, textCell, (place, formula) => `<c r="${place}"><f>${formula}</f></c>`);
  return workbookOf({ sheets: [{ name: 'Sheet1', rows, ...aroundRows(grid) }], texts, formats: FORMATS });
}

/** openpyxl and LibreOffice write texts into their cells, and an empty value for a formula without one. */
export function inlineFile(grid: MadeGrid): Buffer {
  const textCell = (place: string, text: string) =>
    `<c r="${place}" t="inlineStr"><is><t>${escapeXml(text)}</t></is></c>`;
  const rows = xmlRows(grid, textCell, (place, formula) => `<c r="${place}"><f>${formula}</f><v></v></c>`);
  return workbookOf({ sheets: [{ name: 'Sheet1', rows, ...aroundRows(grid) }], formats: FORMATS });
}

function xmlRows(
  { rows, hiddenRows = [], filteredRows = [] }: MadeGrid,
  textCell: (place: string, text: string) => string,
  formulaCell: (place: string, formula: string) => string,
): string {
  function cellXml(cell: MadeCell, place: string): string {
    if (cell === '') return '';
    if (typeof cell === 'string') return textCell(place, cell);
    if (typeof cell === 'number') return `<c r="${place}"><v>${cell}</v></c>`;
    if ('day' in cell) return `<c r="${place}" s="0"><v>${serialOf(cell.day)}</v></c>`;
    if ('formula' in cell) return formulaCell(place, cell.formula);
    if ('error' in cell) return `<c r="${place}" t="e"><f>A1/0</f><v>${cell.error}</v></c>`;
    return `<c r="${place}" s="${cell.decimals + (cell.isPercent ? 5 : 1)}"><v>${cell.number}</v></c>`;
  }
  return rows
    .map((cells, i) => {
      if (cells.length === 0) return '';
      const isHidden = [...hiddenRows, ...filteredRows].includes(i + 1);
      const xml = cells.map((cell, place) => cellXml(cell, `${letterOf(place)}${i + 1}`)).join('');
      return `<row r="${i + 1}"${isHidden ? ' hidden="1"' : ''}>${xml}</row>`;
    })
    .join('');
}

function aroundRows({ merges = [], hiddenColumns = [], filteredRows = [], rows }: MadeGrid) {
  const columns = hiddenColumns.map((letter) => {
    const number = letter.charCodeAt(0) - 64;
    return `<col min="${number}" max="${number}" width="9" hidden="1"/>`;
  });
  const filter = filteredRows.length === 0 ? '' : `<autoFilter ref="A1:E${rows.length}"/>`;
  const merged = merges.map((reference) => `<mergeCell ref="${reference}"/>`).join('');
  return {
    before: columns.length === 0 ? '' : `<cols>${columns.join('')}</cols>`,
    after: `${filter}${merges.length === 0 ? '' : `<mergeCells>${merged}</mergeCells>`}`,
  };
}

/** What a spreadsheet saves as CSV: merged and hidden cells are as all others. */
export function csvFile({ rows }: MadeGrid): string {
  const width = Math.max(...rows.map(({ length }) => length));
  const text = (cell: MadeCell = ''): string => {
    if (typeof cell !== 'object') return String(cell);
    if ('day' in cell) return cell.day;
    if ('error' in cell) return cell.error;
    if ('formula' in cell) return '';
    return cell.isPercent
      ? `${(cell.number * 100).toFixed(cell.decimals)}%`
      : cell.number.toFixed(cell.decimals);
  };
  const quoted = (cell: string) => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const lines = rows.map((cells) =>
    Array.from({ length: width }, (_, i) => quoted(text(cells[i]))).join(','),
  );
  return `${lines.join('\n')}\n`;
}

const NAMES = ['office', 'table', 'text', 'calcext']
  .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(' ');

/** The parts of an OpenDocument spreadsheet with this XML of its sheets. */
export const documentParts = (sheets: string): ZipPart[] => [
  { name: 'mimetype', content: 'application/vnd.oasis.opendocument.spreadsheet' },
  {
    name: 'content.xml',
    content:
      `<?xml version="1.0" encoding="UTF-8"?><office:document-content ${NAMES}><office:body>` +
      `<office:spreadsheet>${sheets}</office:spreadsheet></office:body></office:document-content>`,
  },
];

/** LibreOffice repeats equal cells, and fills its sheets to the last row and column. */
export function documentFile(grid: MadeGrid): Buffer {
  const { rows, merges = [], hiddenRows = [], filteredRows = [], hiddenColumns = [] } = grid;
  const ranges = merges.map((reference) => {
    const [, left = 'A', top, right = left, bottom = top] =
      /^(\w)(\d+)(?::(\w)(\d+))?$/.exec(reference) ?? [];
    return {
      left: left.charCodeAt(0) - 65,
      right: right.charCodeAt(0) - 65,
      top: Number(top),
      bottom: Number(bottom),
    };
  });
  const columns = [...'ABCDEFGHIJ'].map((letter) => {
    const hidden = hiddenColumns.includes(letter) ? ' table:visibility="collapse"' : '';
    return `<table:table-column table:style-name="co1"${hidden}/>`;
  });
  const lines = rows.map((cells, i) => {
    const line = i + 1;
    const width = Math.max(
      cells.length,
      ...ranges.filter(({ top, bottom }) => top <= line && line <= bottom).map(({ right }) => right + 1),
    );
    const xml = Array.from({ length: width }, (_, place) => {
      const range = ranges.find(
        ({ left, right, top, bottom }) => left <= place && place <= right && top <= line && line <= bottom,
      );
      if (range === undefined) return documentCell(cells[place] ?? '', '');
      if (range.top !== line || range.left !== place) return '<table:covered-table-cell/>';
      const spans =
        ` table:number-columns-spanned="${range.right - range.left + 1}"` +
        ` table:number-rows-spanned="${range.bottom - range.top + 1}"`;
      return documentCell(cells[place] ?? '', spans);
    });
    const visibility = hiddenRows.includes(line)
      ? 'collapse'
      : filteredRows.includes(line)
        ? 'filter'
        : undefined;
    const attribute = visibility === undefined ? '' : ` table:visibility="${visibility}"`;
    const end = `<table:table-cell table:number-columns-repeated="${16_384 - width}"/>`;
    return `<table:table-row${attribute}>${xml.join('')}${end}</table:table-row>`;
  });
  const last =
    `<table:table-row table:number-rows-repeated="${1_048_576 - rows.length}">` +
    '<table:table-cell table:number-columns-repeated="16384"/></table:table-row>';
  return zipOf(
    documentParts(
      `<table:table table:name="Sheet1">${columns.join('')}${lines.join('')}${last}</table:table>`,
    ),
  );
}

function documentCell(cell: MadeCell, spans: string): string {
  const made = (attributes: string, text: string) =>
    `<table:table-cell${attributes}${spans}><text:p>${escapeXml(text)}</text:p></table:table-cell>`;
  if (cell === '') return `<table:table-cell${spans}/>`;
  if (typeof cell === 'string') return made(' office:value-type="string" calcext:value-type="string"', cell);
  if (typeof cell === 'number') return made(` office:value-type="float" office:value="${cell}"`, `${cell}`);
  if ('day' in cell) {
    const shown = cell.day.split('-').reverse().join('/');
    return made(` office:value-type="date" office:date-value="${cell.day}"`, shown);
  }
  if ('formula' in cell) return `<table:table-cell table:formula="of:=${cell.formula}"${spans}/>`;
  if ('error' in cell) {
    const type = 'office:value-type="string" office:string-value="" calcext:value-type="error"';
    return made(` table:formula="of:=[.A1]/0" ${type}`, cell.error);
  }
  const [type, shown] = cell.isPercent
    ? ['percentage', `${(cell.number * 100).toFixed(cell.decimals)}%`]
    : ['float', cell.number.toFixed(cell.decimals)];
  return made(` office:value-type="${type}" office:value="${cell.number}"`, shown);
}

/** The programs by name. */
export const WORKBOOKS = { Excel: excelFile, openpyxl: inlineFile, LibreOffice: documentFile };
export const FILES = { ...WORKBOOKS, CSV: csvFile };
