/** Opens an Excel workbook, and reads the records of one of its sheets. */
import type { FileHandle } from 'node:fs/promises';
import { DAY_SECONDS } from '../values/date-time.ts';
import { mayEcho } from '../values/errors.ts';
import {
  type Archive,
  createXmlReader,
  LONG_TEXT,
  MAX_TEXT_CHARACTERS,
  openArchive,
  UnreadableWorkbook,
} from './archive.ts';
import {
  type FileRecord,
  type FormatSource,
  fileFault,
  HEADER_ROWS,
  type RecordBatch,
  type ScoreHeader,
} from './records.ts';
import { readWorkbook, type Sheet, unescapeText, type Workbook } from './workbook-parts.ts';

// Numbers of a workbook, as the texts that a text file would have in their place

/** Day 0 of the two date systems. */
const EPOCH_1900 = Date.UTC(1899, 11, 30) / 1000;

const EPOCH_1904 = Date.UTC(1904, 0, 1) / 1000;

/** 9999-12-31, the last day that Excel knows. */
const LAST_DAY = 2_958_465;

/**
 * @param serial days since the first one, with the time as the fraction
 * @returns `2024-03-31`, `2024-03-31T08:30:00` or, without a day, `08:30:00`, rounded to the second;
 *   undefined if it is not a date
 */
function dateText(serial: number, is1904: boolean): string | undefined {
  if (serial < 0 || serial >= LAST_DAY + 1) return undefined;
  const seconds = Math.round(serial * DAY_SECONDS);
  if (serial < 1) return isoOf(seconds).slice(11);
  if (is1904) return withoutMidnight(isoOf(EPOCH_1904 + seconds));
  const day = Math.floor(seconds / DAY_SECONDS);
  // Excel has a 29 February 1900, so the days before it are counted from one day later.
  if (day === 60) return withoutMidnight(`1900-02-29${isoOf(seconds).slice(10)}`);
  return withoutMidnight(isoOf(EPOCH_1900 + seconds + (day < 60 ? DAY_SECONDS : 0)));
}

const isoOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 19);

/** Removes a time of midnight: a day is written without it, and a date-time is read the same. */
const withoutMidnight = (text: string): string => text.replace(/T00:00:00$/, '');

/** Rounds an ISO date-time, which cells of type date contain: `2024-03-31T08:30:00.999`. */
function roundedDate(text: string): string {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?$/.test(text)) return text;
  const ms = Date.parse(text.endsWith('Z') ? text : `${text}Z`);
  return Number.isNaN(ms) ? text : withoutMidnight(isoOf(Math.round(ms / 1000)));
}

/**
 * The digits that Excel shows, at most 15: 0.1 + 0.2, which is stored as 0.30000000000000004, is 0.3. An
 * integer keeps all.
 * @returns the digits with a point before the decimals and without an exponent; undefined if it is not a
 *   number
 */
function numberText(value: number): string | undefined {
  if (!Number.isFinite(value)) return undefined;
  const text = String(Number.isInteger(value) ? value : Number(value.toPrecision(15)));
  const [, sign = '', first = '', more = '', exponent = ''] =
    /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? [];
  if (first === '') return text;
  const power = Number(exponent);
  if (power > 0) return `${sign}${(first + more).padEnd(power + 1, '0')}`;
  return `${sign}0.${'0'.repeat(-power - 1)}${first}${more}`;
}

/** A percentage as it is shown, because 0.05 would be read as something else than 5%. */
const percentText = (value: number): string | undefined => {
  const text = numberText(Number((value * 100).toPrecision(15)));
  return text === undefined ? undefined : `${text}%`;
};

// The cells and rows in the part of a sheet

type StoredCell = ReturnType<typeof startCell>;

const startCell = ({ r: place, t: type = 'n', s: style }: Readonly<Record<string, string>>) => ({
  /** Reference such as `B7`. */
  place,
  /** ECMA-376 part 1, 18.18.11: `n` number, `s` shared text, `str` text of a formula, and others. */
  type,
  /** Index of its style. */
  style: Number(style ?? Number.NaN),
  value: '',
  inlineText: '',
  hasValue: false,
  hasFormula: false,
});

/** @throws UnreadableWorkbook for a missing shared text */
function textOf({ type, value, inlineText }: StoredCell, { texts }: Workbook): string {
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

/** @returns also `isNumber`, true for a cell stored as a number, except for a date */
function numericText({ value, style }: StoredCell, { styles, is1904 }: Workbook) {
  const stored = value.trim();
  if (stored === '') return { text: '', isNumber: false };
  const number = Number(stored);
  const format = styles[style] ?? 'number';
  const date = format === 'date' ? dateText(number, is1904) : undefined;
  if (date !== undefined) return { text: date, isNumber: false };
  const text = format === 'percent' ? percentText(number) : numberText(number);
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

type RowInProgress = ReturnType<typeof startRow>;

/**
 * Reads the rows of a sheet as its part is unpacked, without empty ones. Rows before a fault are yielded
 * before it is thrown.
 * @param width least number of cells in a row: a sheet leaves out empty ones at its end
 * @throws UnreadableWorkbook
 */
async function* readRows(
  archive: Archive,
  workbook: Workbook,
  { path }: Sheet,
  width: number,
): AsyncGenerator<{ readonly records: FileRecord[]; readonly unpackedBytes: number }> {
  let records: FileRecord[] = [];
  let row: RowInProgress | undefined;
  let cell: StoredCell | undefined;
  let collected: 'value' | 'inlineText' | undefined;
  let isPhonetic = false;
  let characters = 0;

  const write = createXmlReader({
    open(name, attributes) {
      if (name === 'row') row = startRow(attributes.r, row?.line ?? 0);
      else if (name === 'c' && row !== undefined) cell = startCell(attributes);
      else if (cell === undefined) return;
      else if (name === 'v') [collected, cell.hasValue] = ['value', true];
      else if (name === 'f') cell.hasFormula = true;
      else if (name === 'rPh') isPhonetic = true;
      else if (name === 't' && !isPhonetic) [collected, cell.hasValue] = ['inlineText', true];
    },
    text(part) {
      if (cell === undefined || collected === undefined) return;
      cell[collected] += part;
      if (cell[collected].length > MAX_TEXT_CHARACTERS) throw refuse(row?.line, LONG_TEXT, DELETE);
    },
    close(name) {
      if (name === 'v' || name === 't') collected = undefined;
      else if (name === 'rPh') isPhonetic = false;
      else if (name === 'c' && row !== undefined && cell !== undefined) {
        characters += addCell(row, cell, workbook);
        if (characters > MAX_CHARACTERS) throw new UnreadableWorkbook(TOO_MUCH_TEXT);
        cell = undefined;
      } else if (name === 'row' && row !== undefined && row.cells.length > 0)
        records.push(endRow(row, width));
    },
  });

  let unpackedBytes = 0;
  try {
    for await (const chunk of archive.read(path)) {
      unpackedBytes += chunk.length;
      write(chunk);
      yield { records, unpackedBytes };
      records = [];
    }
    write(undefined);
  } catch (error) {
    yield { records, unpackedBytes };
    throw error;
  }
  yield { records, unpackedBytes };
}

/** Rows are in order; a row without a number follows the previous one. */
function startRow(number: string | undefined, lastLine: number) {
  const line = number === undefined ? lastLine + 1 : Number(number);
  if (!Number.isInteger(line) || line <= lastLine || line > MAX_ROW) throw new UnreadableWorkbook();
  return {
    line,
    cells: [] as string[],
    numbers: new Set<number>(),
    /** Index of the next cell without a reference. */
    next: 0,
  };
}

function endRow({ line, cells, numbers }: RowInProgress, width: number): FileRecord {
  const padded = Array.from({ length: Math.max(cells.length, width) }, (_, i) => cells[i] ?? '');
  return numbers.size === 0 ? { line, cells: padded } : { line, cells: padded, numbers };
}

const refuse = (line = 0, what: string, cure: string): UnreadableWorkbook =>
  new UnreadableWorkbook(`Row ${line} has ${what}. ${cure} and import it again.`, { line });
const DELETE = 'Delete it, save the workbook';

/** @returns the number of characters in the cell */
function addCell(row: RowInProgress, cell: StoredCell, workbook: Workbook): number {
  const index = cell.place === undefined ? row.next : columnOf(cell.place);
  row.next = index + 1;
  if (cell.hasFormula && !cell.hasValue && cell.type !== 'str')
    throw refuse(row.line, 'a formula without its value', 'Open the workbook in a spreadsheet, save it');
  const { text, isNumber } =
    cell.type === 'n' ? numericText(cell, workbook) : { text: textOf(cell, workbook), isNumber: false };
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
  bytes: number,
  options: WorkbookOptions,
): Promise<FormatSource> {
  const archive = await openArchive(handle);
  refuseOthers(archive);
  const workbook = await readWorkbook(archive);
  const { sheet, width } = await chooseSheet(archive, workbook, options);
  return {
    format: { type: 'workbook', sheet: sheet.name },
    sheets: workbook.sheets.map(({ name }) => name),
    read: () => readSheet(archive, workbook, sheet, width, bytes),
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

/** @returns also the number of cells in the header of the sheet, as far as it is known */
async function chooseSheet(
  archive: Archive,
  workbook: Workbook,
  { sheet: name, scoreHeader }: WorkbookOptions,
) {
  const candidates: { sheet: Sheet; width: number; rank: number }[] = [];
  for (const sheet of name === undefined ? workbook.sheets : [sheetCalled(name, workbook.sheets)]) {
    const rows = await firstRows(archive, workbook, sheet);
    const scores = rows.map(({ cells }) => scoreHeader(cells));
    const score = Math.max(0, ...scores);
    const headers = score === 0 ? rows : [rows[scores.indexOf(score)] as FileRecord];
    const width = Math.max(0, ...headers.map(({ cells }) => cells.length));
    // A sheet without rows is chosen only if there is no other.
    candidates.push({ sheet, width, rank: width === 0 ? -1 : score });
  }
  const highest = Math.max(...candidates.map(({ rank }) => rank));
  const best = candidates.filter(({ rank }) => rank === highest);
  if (best[0] === undefined) throw new UnreadableWorkbook('The workbook has no sheet with cells.');
  if (best.length === 1 || highest < 0) return best[0];
  throw new SeveralSheets(best.map(({ sheet }) => sheet));
}

function sheetCalled(name: string, sheets: readonly Sheet[]): Sheet {
  const fold = (text: string) => text.trim().toLowerCase();
  const same = sheets.filter((sheet) => fold(sheet.name) === fold(name));
  const match = sheets.find((sheet) => sheet.name === name) ?? (same.length === 1 ? same[0] : undefined);
  if (match === undefined) throw new UnknownSheetError(sheets);
  return match;
}

const namesOf = (sheets: readonly Sheet[]): string =>
  sheets.map(({ name }, i) => (mayEcho(name) ? `"${name}"` : `number ${i + 1}`)).join(', ');

/** Ignores faults of a sheet, which are reported when it is read: another one may be meant. */
async function firstRows(archive: Archive, workbook: Workbook, sheet: Sheet): Promise<FileRecord[]> {
  const rows: FileRecord[] = [];
  try {
    for await (const { records } of readRows(archive, workbook, sheet, 0)) {
      rows.push(...records);
      if (rows.length >= HEADER_ROWS) break;
    }
  } catch (error) {
    if (!(error instanceof UnreadableWorkbook)) throw error;
  }
  return rows.slice(0, HEADER_ROWS);
}

async function* readSheet(
  archive: Archive,
  workbook: Workbook,
  sheet: Sheet,
  width: number,
  bytes: number,
): AsyncGenerator<RecordBatch> {
  const allBytes = Math.max(1, archive.bytesOf(sheet.path));
  let line = 0;
  try {
    for await (const { records, unpackedBytes } of readRows(archive, workbook, sheet, width)) {
      line = records.at(-1)?.line ?? line;
      yield { records, bytesRead: Math.round((bytes * unpackedBytes) / allBytes) };
    }
  } catch (error) {
    if (!(error instanceof UnreadableWorkbook)) throw error;
    throw fileFault(error.line ?? line + 1, error.message, { cause: error.cause });
  }
}
