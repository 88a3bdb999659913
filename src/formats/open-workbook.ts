/** Opens an Excel workbook, and reads the records of one of its sheets. */
import type { FileHandle } from 'node:fs/promises';
import { mayEcho } from '../values/errors.ts';
import {
  type Archive,
  createXmlReader,
  LONG_TEXT,
  MAX_TEXT_CHARACTERS,
  openArchive,
  UnreadableWorkbook,
} from './archive.ts';
import type { FileContent } from './file-content.ts';
import { type FileRecord, fileFault, HEADER_ROWS, type RecordBatch, type RecordSource } from './records.ts';
import type { ScoreHeader } from './separator.ts';
import { dateText, numberText, percentText, roundedDate } from './workbook-numbers.ts';
import { readWorkbook, type Sheet, unescapeText, type Workbook } from './workbook-parts.ts';

// The cells and rows in the part of a sheet

interface StoredCell {
  /** Reference such as `B7`. */
  readonly place: string | undefined;
  /** ECMA-376 part 1, 18.18.11: `n` number, `s` shared text, `str` text of a formula, and others. */
  readonly type: string;
  /** Index of its style. */
  readonly style: number | undefined;
  value: string;
  inlineText: string;
  hasValue: boolean;
  hasFormula: boolean;
}

/**
 * @returns also `isNumber`, true for a cell stored as a number, except for a date
 * @throws UnreadableWorkbook for a missing shared text
 */
function cellText(cell: StoredCell, workbook: Workbook): { text: string; isNumber: boolean } {
  if (cell.type === 'n') return numericText(cell, workbook);
  return { text: typedText(cell, workbook), isNumber: false };
}

function typedText({ type, value, inlineText }: StoredCell, { texts }: Workbook): string {
  switch (type) {
    case 's': {
      const text = value === '' ? '' : texts[Number(value)];
      if (text === undefined) throw new UnreadableWorkbook();
      return text;
    }
    case 'inlineStr':
      return unescapeText(inlineText);
    case 'b':
      return value === '' ? '' : ['1', 'true'].includes(value) ? 'TRUE' : 'FALSE';
    case 'd':
      return roundedDate(value);
    default:
      return unescapeText(value);
  }
}

function numericText({ value, style }: StoredCell, { styles, is1904 }: Workbook) {
  const stored = value.trim();
  if (stored === '') return { text: '', isNumber: false };
  const number = Number(stored);
  const shownAs = style === undefined ? 'number' : (styles[style] ?? 'number');
  const date = shownAs === 'date' ? dateText(number, is1904) : undefined;
  if (date !== undefined) return { text: date, isNumber: false };
  const text = shownAs === 'percent' ? percentText(number) : numberText(number);
  return { text: text ?? stored, isNumber: text !== undefined };
}

/** The last row that a sheet can have. */
const MAX_ROW = 1_048_576;
/** More columns are a mistake, and a few bytes for each row would be enough to make them. */
const MAX_COLUMNS = 1_000;
/** Limit for all cells: a few megabytes may unpack to any number of cells with one shared text. */
const MAX_CHARACTERS = 1_000_000_000;
const TOO_MUCH_TEXT =
  'The sheet has more than 1,000,000,000 characters. Save it as "CSV UTF-8" and import that file.';

interface SheetRows {
  /** Takes the part in chunks, and its end as undefined. @throws UnreadableWorkbook */
  write(chunk: Buffer | undefined): void;
  /** Returns the rows since the last call, without empty ones. */
  take(): FileRecord[];
}

/** @param width least number of cells in a row: a sheet leaves out empty ones at its end */
function createSheetRows(workbook: Workbook, width: number): SheetRows {
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
  /** Index of the next cell without a reference. */
  next: number;
}

/** Rows are in order; a row without a number follows the previous one. */
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

/** @returns the number of characters in the cell */
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

/** Index of the column in a reference: 1 for `B7`. */
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

interface WorkbookOptions {
  /** Name of the sheet; by default, the one whose header has most headings. */
  readonly sheet?: string | undefined;
  readonly scoreHeader: ScoreHeader;
}

/** Thrown if the requested sheet does not exist. */
export class UnknownSheetError extends Error {
  constructor(sheets: readonly Sheet[]) {
    super(`The workbook has no such sheet. Its sheets: ${namesOf(sheets)}.`);
    this.name = 'UnknownSheetError';
  }
}

/** Thrown if several sheets are equally likely to be meant. */
export class SeveralSheets extends UnreadableWorkbook {
  readonly sheets: readonly string[];

  constructor(sheets: readonly Sheet[]) {
    super(`Several sheets may be meant: ${namesOf(sheets)}. Name one with --sheet.`);
    this.sheets = sheets.map(({ name }) => name);
  }
}

/**
 * Opens a workbook. Only its texts are kept in memory; its rows are read as they are needed
 * (docs/import-reference.md#workbooks).
 * @throws UnreadableWorkbook; UnknownSheetError; the system's error
 */
export async function openWorkbook(
  handle: FileHandle,
  content: FileContent,
  options: WorkbookOptions,
): Promise<RecordSource> {
  const archive = await openArchive(handle);
  refuseOthers(archive);
  const workbook = await readWorkbook(archive);
  const { sheet, width } = await chooseSheet(archive, workbook, options);
  return {
    bytes: content.bytes,
    sha256: content.sha256,
    format: { type: 'workbook', sheet: sheet.name },
    sheets: workbook.sheets.map(({ name }) => name),
    read: () => readSheet(archive, workbook, sheet, width, content.bytes),
    close: () => handle.close(),
  };
}

const SAVE = 'Save it as .xlsx or "CSV UTF-8" and import that file.';

function refuseOthers(archive: Archive): void {
  if (archive.has('content.xml') && archive.has('mimetype'))
    throw new UnreadableWorkbook(`This is an OpenDocument file, such as .ods. ${SAVE}`);
  if (archive.has('xl/workbook.bin'))
    throw new UnreadableWorkbook(`This is a binary workbook (.xlsb). ${SAVE}`);
  if (!archive.has('[Content_Types].xml') || archive.has('word/document.xml'))
    throw new UnreadableWorkbook('This is a compressed file. Unpack it and import what it contains.');
}

interface ChosenSheet {
  readonly sheet: Sheet;
  /** Number of cells in its header, as far as it is known. */
  readonly width: number;
}

async function chooseSheet(
  archive: Archive,
  workbook: Workbook,
  { sheet: asked, scoreHeader }: WorkbookOptions,
): Promise<ChosenSheet> {
  const sheets = asked === undefined ? workbook.sheets : [sheetCalled(asked, workbook.sheets)];
  let best: (ChosenSheet & { score: number })[] = [];
  for (const sheet of sheets) {
    const rows = await firstRows(archive, workbook, sheet);
    const scores = rows.map(({ cells }) => scoreHeader(cells));
    const score = Math.max(0, ...scores);
    const headers = score === 0 ? rows : [rows[scores.indexOf(score)] as FileRecord];
    const found = { sheet, score, width: Math.max(0, ...headers.map(({ cells }) => cells.length)) };
    // A sheet without rows is chosen only if there is no other.
    const rank = ({ score, width }: { score: number; width: number }) => (width === 0 ? -1 : score);
    if (best[0] === undefined || rank(found) > rank(best[0])) best = [found];
    else if (rank(found) === rank(best[0]) && rank(found) >= 0) best.push(found);
  }
  const [chosen, ...others] = best;
  if (chosen === undefined) throw new UnreadableWorkbook('The workbook has no sheet with cells.');
  if (others.length === 0) return chosen;
  throw new SeveralSheets(best.map(({ sheet }) => sheet));
}

function sheetCalled(name: string, sheets: readonly Sheet[]): Sheet {
  const fold = (text: string) => text.trim().toLowerCase();
  const same = sheets.filter((sheet) => fold(sheet.name) === fold(name));
  const found = sheets.find((sheet) => sheet.name === name) ?? (same.length === 1 ? same[0] : undefined);
  if (found === undefined) throw new UnknownSheetError(sheets);
  return found;
}

const namesOf = (sheets: readonly Sheet[]): string =>
  sheets.map(({ name }, i) => (mayEcho(name) ? `"${name}"` : `number ${i + 1}`)).join(', ');

/** Ignores faults of a sheet, which are reported when it is read: another one may be meant. */
async function firstRows(archive: Archive, workbook: Workbook, { path }: Sheet): Promise<FileRecord[]> {
  const rows = createSheetRows(workbook, 0);
  const found: FileRecord[] = [];
  try {
    for await (const chunk of archive.read(path)) {
      rows.write(chunk);
      found.push(...rows.take());
      if (found.length >= HEADER_ROWS) break;
    }
  } catch (error) {
    if (!(error instanceof UnreadableWorkbook)) throw error;
    found.push(...rows.take());
  }
  return found.slice(0, HEADER_ROWS);
}

async function* readSheet(
  archive: Archive,
  workbook: Workbook,
  { path }: Sheet,
  width: number,
  bytes: number,
): AsyncGenerator<RecordBatch> {
  const rows = createSheetRows(workbook, width);
  const unpackedBytes = Math.max(1, archive.bytesOf(path));
  let read = 0;
  let line = 0;
  try {
    for await (const chunk of archive.read(path)) {
      read += chunk.length;
      rows.write(chunk);
      const records = rows.take();
      line = records.at(-1)?.line ?? line;
      yield { records, bytesRead: Math.round((bytes * read) / unpackedBytes) };
    }
    rows.write(undefined);
    yield { records: rows.take(), bytesRead: bytes };
  } catch (error) {
    if (!(error instanceof UnreadableWorkbook)) throw error;
    const records = rows.take();
    if (records.length > 0) yield { records, bytesRead: bytes };
    throw fileFault(error.line ?? (records.at(-1)?.line ?? line) + 1, error.message, { cause: error.cause });
  }
}
