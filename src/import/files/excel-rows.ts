/** Reads a sheet of an Excel workbook: rows, hidden columns and merged cells. */

import { cellError } from '../../formats/spreadsheet-cells-and-empty-words.ts';
import {
  type Archive,
  createXmlReader,
  LONG_TEXT,
  MAX_TEXT_CHARACTERS,
  readXml,
  UnreadableWorkbook,
} from './archive.ts';
import type { FileRecord } from './records.ts';
import {
  type CellContent,
  createSheetRows,
  FORMULA_WITHOUT_VALUE,
  MAX_COLUMNS,
  MAX_ROW,
  type MergedRange,
  refuseRow,
  type SheetLayout,
} from './sheet-rows.ts';
import { PLAIN, unescapeText, type Workbook } from './workbook-parts.ts';
import {
  dateText,
  fractionDigitsOf,
  numberText,
  percentText,
  roundedDate,
  roundText,
} from './workbook-values.ts';

// Hidden columns, which the XML lists before the rows, and merged cells, which it lists after them

/** Maximum number of merged ranges, which are all in memory. */
const MAX_MERGES = 100_000;
const TOO_MANY_MERGES =
  'The sheet has more than 100,000 merged ranges. Undo the merges, save the workbook and import it again.';

/**
 * Reads the hidden columns and merged ranges.
 * @throws UnreadableWorkbook for too many merged ranges; other faults are reported when the rows are read
 */
export async function readAroundRows(archive: Archive, path: string) {
  const merges: MergedRange[] = [];
  const hiddenColumns = new Set<number>();
  try {
    await readXml(withoutRows(archive.read(path)), {
      open(name, { min, max, hidden = '', ref = '' }) {
        if (name === 'col' && ['1', 'true'].includes(hidden))
          for (let i = Number(min); i <= Math.min(Number(max), MAX_COLUMNS); i++) hiddenColumns.add(i - 1);
        if (name !== 'mergeCell' || merges.length > MAX_MERGES) return;
        const [first = '', last = first] = ref.split(':');
        merges.push({
          top: lineOf(first),
          bottom: lineOf(last),
          left: columnOf(first),
          right: columnOf(last),
        });
      },
    });
  } catch (error) {
    if (!(error instanceof UnreadableWorkbook)) throw error;
  }
  if (merges.length > MAX_MERGES) throw new UnreadableWorkbook(TOO_MANY_MERGES);
  return { hiddenColumns, merges: merges.sort((one, other) => one.top - other.top) };
}

const ROWS = 'sheetData';
/** Maximum length of the `sheetData` tag with a namespace prefix, in bytes. */
const LONGEST_TAG = 200;

/** Yields the XML of a sheet before and after the rows. Skips the rows, the largest part, without parsing. */
async function* withoutRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let part: 'before' | 'rows' | 'after' = 'before';
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    rest = Buffer.alloc(0);
    if (part === 'before') {
      const at = bytes.indexOf(ROWS);
      const end = at < 0 ? -1 : bytes.indexOf('>', at);
      if (end < 0) {
        const complete = Math.max(0, at < 0 ? bytes.length - ROWS.length : at);
        yield bytes.subarray(0, complete);
        rest = bytes.subarray(complete);
        if (rest.length > LONGEST_TAG) throw new UnreadableWorkbook();
        continue;
      }
      yield bytes.subarray(0, end + 1);
      part = bytes.toString('latin1', end - 1, end) === '/' ? 'after' : 'rows';
      bytes = bytes.subarray(end + 1);
    }
    if (part === 'rows') {
      const end = endOfRows(bytes);
      if (end < 0) {
        rest = bytes.subarray(-LONGEST_TAG);
        continue;
      }
      part = 'after';
      bytes = bytes.subarray(end);
    }
    yield bytes;
  }
  yield rest;
}

/** Returns the start of `</sheetData>`, or -1. A text may contain the name of the tag, but no `<`. */
function endOfRows(bytes: Buffer): number {
  for (let at = 0; ; at++) {
    at = bytes.indexOf(`${ROWS}>`, at);
    if (at < 0) return -1;
    const start = bytes.lastIndexOf('<', at);
    if (start >= 0 && /^<\/(?:[\w.-]+:)?$/.test(bytes.toString('latin1', start, at))) return start;
  }
}

const lineOf = (place: string): number => Number(/[0-9]+$/.exec(place)?.[0] ?? 0);

// Cells and rows of a sheet

type StoredCell = ReturnType<typeof startCell>;

const startCell = ({ r: place, t: type = 'n', s: style }: Readonly<Record<string, string>>) => ({
  /** Cell reference such as `B7`. */
  place,
  /** Cell type (ECMA-376 part 1, 18.18.11): `n` for a number, `s` a shared text, `str` a formula's text. */
  type,
  /** Index in `Workbook.styles`. */
  style: Number(style ?? Number.NaN),
  value: '',
  inlineText: '',
  hasFormula: false,
});

/** @throws UnreadableWorkbook for the index of a shared text that does not exist */
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

function numericContent({ value, style }: StoredCell, { styles, is1904 }: Workbook): CellContent {
  const stored = value.trim();
  if (stored === '') return { text: '' };
  const number = Number(stored);
  const { kind, fractionDigits, integerDigits = 0 } = styles[style] ?? PLAIN;
  const date = kind === 'date' ? dateText(number, is1904) : undefined;
  if (date !== undefined) return { text: date };
  const text = kind === 'percent' ? percentText(number) : numberText(number);
  if (text === undefined) return { text: stored };
  if (/^[0-9]+$/.test(text)) return { text: text.padStart(integerDigits, '0'), isNumber: true };
  const isRounded = fractionDigits !== undefined && fractionDigitsOf(text) > fractionDigits;
  return { text, isNumber: true, shown: isRounded ? roundText(text, fractionDigits) : undefined };
}

function contentOf(cell: StoredCell, workbook: Workbook): CellContent {
  const { type, value, inlineText, hasFormula } = cell;
  // A formula of type `str` may have an empty text as its value.
  if (hasFormula && type !== 'str' && value.trim() === '' && inlineText === '')
    return { text: '', fault: FORMULA_WITHOUT_VALUE };
  if (type === 'n') return numericContent(cell, workbook);
  const text = textOf(cell, workbook);
  return type === 'e' ? { text, fault: cellError(text) } : { text };
}

/**
 * Reads the rows of a sheet while unpacking it, and skips empty rows. Yields all rows before a fault, then
 * throws.
 * @param merges merged ranges in order of their first line
 * @throws UnreadableWorkbook
 */
export async function* readExcelRows(
  archive: Archive,
  workbook: Workbook,
  path: string,
  layout: SheetLayout,
  merges: readonly MergedRange[] = [],
): AsyncGenerator<{ readonly records: FileRecord[]; readonly unpackedBytes: number }> {
  let records: FileRecord[] = [];
  let cell: StoredCell | undefined;
  let collected: 'value' | 'inlineText' | undefined;
  let isPhonetic = false;
  /** Column index of the next cell, for a cell without a reference. */
  let next = 0;
  let mergesRead = 0;
  const rows = createSheetRows(layout);

  const write = createXmlReader({
    open(name, attributes) {
      if (name === 'row') {
        rows.start(lineAfter(rows.line(), attributes.r), ['1', 'true'].includes(attributes.hidden ?? ''));
        next = 0;
      } else if (name === 'c' && rows.line() > 0) cell = startCell(attributes);
      else if (cell === undefined) return;
      else if (name === 'v') collected = 'value';
      else if (name === 'f') cell.hasFormula = true;
      else if (name === 'rPh') isPhonetic = true;
      else if (name === 't' && !isPhonetic) collected = 'inlineText';
    },
    text(part) {
      if (cell === undefined || collected === undefined) return;
      cell[collected] += part;
      if (cell[collected].length > MAX_TEXT_CHARACTERS) throw refuseRow(rows.line(), LONG_TEXT);
    },
    close(name) {
      if (name === 'v' || name === 't') collected = undefined;
      else if (name === 'rPh') isPhonetic = false;
      else if (name === 'c' && cell !== undefined) {
        const index = cell.place === undefined ? next : columnOf(cell.place);
        next = index + 1;
        rows.add(index, contentOf(cell, workbook));
        cell = undefined;
      } else if (name === 'row') {
        for (; (merges[mergesRead]?.top ?? MAX_ROW + 1) <= rows.line(); mergesRead++)
          rows.merge(merges[mergesRead] as MergedRange);
        const record = rows.end();
        if (record !== undefined) records.push(record);
      }
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

/** Returns the line of the next row. A row without a number is on the line after the last row. */
function lineAfter(lastLine: number, number: string | undefined): number {
  const line = number === undefined ? lastLine + 1 : Number(number);
  if (!Number.isInteger(line) || line <= lastLine || line > MAX_ROW) throw new UnreadableWorkbook();
  return line;
}

/** Returns the column index of a cell reference: 1 for `B7`. */
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
