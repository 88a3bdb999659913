/** The part of a sheet → its rows, as they are read. */
import type { FileRecord } from '../source/records.ts';
import { LONG_TEXT, MAX_TEXT_CHARACTERS, UnreadableWorkbook } from './archive.ts';
import { cellText, type StoredCell } from './cell-text.ts';
import type { Workbook } from './parts.ts';
import { createXmlReader } from './xml.ts';

/** The last row that a sheet can have. */
const MAX_ROW = 1_048_576;
/** More is a mistake, and would be made of a few bytes for each row. */
const MAX_COLUMNS = 1_000;
/** Of all cells: a few megabytes may unpack to any number of cells with one shared text. */
const MAX_CHARACTERS = 1_000_000_000;
const TOO_MUCH_TEXT =
  'The sheet has more than 1,000,000,000 characters. Save it as "CSV UTF-8" and import that file.';

export interface SheetRows {
  /** Takes the part in chunks, and its end as undefined. @throws UnreadableWorkbook */
  write(chunk: Buffer | undefined): void;
  /** The rows since the last call, without empty ones. */
  take(): FileRecord[];
}

/** @param width cells that a row has at least: a sheet leaves out empty ones at its end */
export function createSheetRows(workbook: Workbook, width: number): SheetRows {
  let records: FileRecord[] = [];
  let row: RowInProgress | undefined;
  let cell: StoredCell | undefined;
  let collects: 'value' | 'inlineText' | undefined;
  let isPhonetic = false;
  let characters = 0;

  function endRow({ line, cells, numbers }: RowInProgress): void {
    if (cells.length === 0) return;
    const padded = Array.from({ length: Math.max(cells.length, width) }, (_, i) => cells[i] ?? '');
    records.push(numbers.size === 0 ? { line, cells: padded } : { line, cells: padded, numbers });
  }

  const write = createXmlReader({
    open(name, attributes) {
      if (name === 'row') row = startRow(attributes.r, row);
      else if (name === 'c' && row !== undefined) cell = startCell(attributes);
      else if (cell === undefined) return;
      else if (name === 'v') [collects, cell.hasValue] = ['value', true];
      else if (name === 'f') cell.hasFormula = true;
      else if (name === 'rPh') isPhonetic = true;
      else if (name === 't' && !isPhonetic) [collects, cell.hasValue] = ['inlineText', true];
    },
    text(part) {
      if (cell === undefined || collects === undefined) return;
      cell[collects] += part;
      if (cell[collects].length > MAX_TEXT_CHARACTERS) throw refuse(row?.line, LONG_TEXT, DELETE);
    },
    close(name) {
      if (name === 'v' || name === 't') collects = undefined;
      else if (name === 'rPh') isPhonetic = false;
      else if (name === 'c' && row !== undefined && cell !== undefined) {
        characters += addCell(row, cell, workbook);
        if (characters > MAX_CHARACTERS) throw new UnreadableWorkbook(TOO_MUCH_TEXT);
        cell = undefined;
      } else if (name === 'row' && row !== undefined) endRow(row);
    },
  });

  return {
    write,
    take() {
      const taken = records;
      records = [];
      return taken;
    },
  };
}

interface RowInProgress {
  readonly line: number;
  readonly cells: string[];
  readonly numbers: Set<number>;
  /** Index of the next cell that does not say where it is. */
  next: number;
}

/** Rows are in order; one that has no number follows the one before it. */
function startRow(number: string | undefined, before: RowInProgress | undefined): RowInProgress {
  const lastLine = before?.line ?? 0;
  const line = number === undefined ? lastLine + 1 : Number(number);
  if (!Number.isInteger(line) || line <= lastLine || line > MAX_ROW) throw new UnreadableWorkbook();
  return { line, cells: [], numbers: new Set(), next: 0 };
}

const startCell = ({ r: place, t: type = 'n', s: style }: Readonly<Record<string, string>>): StoredCell => ({
  place,
  type,
  style: style === undefined ? undefined : Number(style),
  value: '',
  inlineText: '',
  hasValue: false,
  hasFormula: false,
});

const refuse = (line = 0, what: string, cure: string): UnreadableWorkbook =>
  new UnreadableWorkbook(`Row ${line} has ${what}. ${cure} and import it again.`, { line });
const DELETE = 'Delete it, save the workbook';

/** @returns how many characters the cell has */
function addCell(row: RowInProgress, cell: StoredCell, workbook: Workbook): number {
  const index = cell.place === undefined ? row.next : columnOf(cell.place);
  row.next = index + 1;
  if (cell.hasFormula && !cell.hasValue && cell.type !== 'str')
    throw refuse(row.line, 'a formula without its value', 'Open the workbook in a spreadsheet, save it');
  const { text, isNumber } = cellText(cell, workbook);
  if (text === '') return 0;
  if (index >= MAX_COLUMNS) throw refuse(row.line, `a value beyond column ${MAX_COLUMNS}`, DELETE);
  while (row.cells.length < index) row.cells.push('');
  row.cells[index] = text;
  if (isNumber) row.numbers.add(index);
  return text.length;
}

/** `B7` → 1. */
function columnOf(place: string): number {
  let column = 0;
  for (let i = 0; i < place.length; i++) {
    const letter = place.charCodeAt(i) - 64;
    if (letter < 1 || letter > 26) break;
    column = column * 26 + letter;
  }
  if (column === 0 || column > 16_384) throw new UnreadableWorkbook();
  return column - 1;
}
