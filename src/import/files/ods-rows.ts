/** Reads the rows of an OpenDocument spreadsheet (.ods), the format of LibreOffice. */

import { cellError, isErrorText } from '../../formats/spreadsheet-cells-and-empty-words.ts';
import {
  type Archive,
  createXmlReader,
  LONG_TEXT,
  MAX_TEXT_CHARACTERS,
  UnreadableWorkbook,
} from './archive.ts';
import { type FileRecord, HEADER_ROWS } from './records.ts';
import {
  type CellContent,
  createSheetRows,
  FORMULA_WITHOUT_VALUE,
  MAX_COLUMNS,
  MAX_ROW,
  NO_LAYOUT,
  refuseRow,
  type SheetLayout,
} from './sheet-rows.ts';
import { numberText, percentText, roundedDate } from './workbook-values.ts';

const CONTENT = 'content.xml';

// Sheets. The archive stores all sheets in one part, `content.xml`.

/** Sheet, with its byte range in `content.xml`. */
export interface DocumentSheet {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** Maximum number of sheets, whose names are all in memory. */
const MAX_SHEETS = 10_000;
const [OPENING, CLOSING] = ['<table:table', '</table:table>'];
const LONGEST_TAG_BYTES = 16_384;

/** Finds the sheets by their tags, because parsing the XML would be slow. @throws UnreadableWorkbook */
export async function listDocumentSheets(archive: Archive): Promise<DocumentSheet[]> {
  const sheets: DocumentSheet[] = [];
  let open: { name: string; start: number } | undefined;
  let [rest, offset]: [Buffer, number] = [Buffer.alloc(0), 0];
  for await (const chunk of archive.read(CONTENT)) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (;;) {
      const tag = bytes.indexOf(open === undefined ? OPENING : CLOSING, at);
      const end = tag < 0 ? -1 : bytes.indexOf('>', tag);
      if (end < 0) {
        at = tag < 0 ? Math.max(at, bytes.length - CLOSING.length) : tag;
        break;
      }
      at = end + 1;
      if (open !== undefined) {
        sheets.push({ ...open, end: offset + at });
        open = undefined;
        if (sheets.length > MAX_SHEETS) throw new UnreadableWorkbook();
      } else if (bytes[end - 1] !== SLASH && SPACES.includes(bytes[tag + OPENING.length] ?? 0))
        open = { name: nameIn(bytes.toString('utf8', tag, end)), start: offset + tag };
    }
    rest = bytes.subarray(at);
    offset += at;
    if (rest.length > LONGEST_TAG_BYTES) throw new UnreadableWorkbook();
  }
  // Skips sheets in which LibreOffice caches cells of another file. The names of these sheets contain a path.
  return sheets.filter(({ name }) => !/^'.*'#\$/.test(name));
}

const SLASH = 0x2f;
const SPACES: readonly number[] = [0x20, 0x09, 0x0a, 0x0d];

function nameIn(tag: string): string {
  const [, , name = ''] = /\stable:name=(["'])(.*?)\1/s.exec(tag) ?? [];
  return name.replace(/&(?:(lt|gt|amp|quot|apos)|#(x?)([0-9a-f]{1,6}));/gi, (entity, word, hex, code) => {
    if (word !== undefined) return ENTITIES[word.toLowerCase()] ?? entity;
    const point = Number.parseInt(code, hex === '' ? 10 : 16);
    return point <= 0x10_ffff ? String.fromCodePoint(point) : entity;
  });
}

const ENTITIES: { readonly [name: string]: string } = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** Reads the XML of sheets in one pass over `content.xml`. @param sheets sheets in the order of the file */
async function* bytesOf(
  archive: Archive,
  sheets: readonly DocumentSheet[],
): AsyncGenerator<{ readonly bytes: Buffer; readonly isLast: boolean }> {
  let [offset, next] = [0, 0];
  for await (const chunk of archive.read(CONTENT)) {
    const chunkEnd = offset + chunk.length;
    for (;;) {
      const sheet = sheets[next];
      if (sheet === undefined) return;
      if (sheet.start >= chunkEnd) break;
      const bytes = chunk.subarray(Math.max(0, sheet.start - offset), sheet.end - offset);
      const isLast = sheet.end <= chunkEnd;
      yield { bytes, isLast };
      if (!isLast) break;
      next++;
    }
    offset = chunkEnd;
  }
}

type Attributes = Readonly<Record<string, string>>;

/** XML elements that contain the text of a cell. Others, such as notes and drawings, are skipped. */
const TEXT_ELEMENTS: readonly string[] = ['p', 'span', 'a', 's', 'tab', 'line-break', 'ruby', 'ruby-base'];

const repetitionOf = (attribute: string | undefined): number => {
  const times = Number(attribute ?? 1);
  if (!Number.isInteger(times) || times < 1) throw new UnreadableWorkbook();
  return times;
};

const WORD = /^\p{L}+$/u;

function contentOf(attributes: Attributes, displayed: string): CellContent {
  const type = attributes['office:value-type'] ?? attributes['calcext:value-type'];
  const isFormula = attributes['table:formula'] !== undefined;
  // Older versions of LibreOffice store an error as the number 0, and only display `#REF!`.
  if (attributes['calcext:value-type'] === 'error' || (isFormula && isErrorText(displayed)))
    return { text: displayed, fault: cellError(displayed) };
  if (isFormula && type === undefined && displayed === '') return { text: '', fault: FORMULA_WITHOUT_VALUE };
  const value = attributes['office:value'] ?? '';
  switch (type) {
    case 'float':
    case 'currency':
    case 'percentage': {
      if (value.trim() === '') return { text: '', fault: isFormula ? FORMULA_WITHOUT_VALUE : undefined };
      // The stored value of =TRUE() is 1, so the displayed word is used.
      if (WORD.test(displayed)) return { text: displayed };
      const text = (type === 'percentage' ? percentText : numberText)(Number(value));
      if (text === undefined) return { text: value };
      if (/^0[0-9]+$/.test(displayed) && displayed.endsWith(text)) return { text: displayed, isNumber: true };
      const isRounded = text.includes('.') && displayed !== '' && displayed !== text;
      return { text, isNumber: true, shown: isRounded ? displayed : undefined };
    }
    case 'date':
      return { text: roundedDate(attributes['office:date-value'] ?? '') };
    case 'time':
      return { text: timeText(attributes['office:time-value'] ?? '') };
    case 'boolean':
      return { text: (attributes['office:boolean-value'] ?? '').toUpperCase() };
    default:
      return { text: attributes['office:string-value'] ?? displayed };
  }
}

/** Converts a duration such as `PT08H30M00S` to `08:30:00`. Returns any other text unchanged. */
function timeText(duration: string): string {
  const [, hours, minutes, seconds] = /^PT(\d+)H(\d+)M(\d+)(?:[.,]\d+)?S$/.exec(duration) ?? [];
  if (hours === undefined) return duration;
  return [hours, minutes, seconds].map((part = '') => part.padStart(2, '0')).join(':');
}

/** Row with a number of repetitions. A file may store a million equal rows in a few bytes. */
interface RepeatedRecord {
  readonly record: FileRecord;
  readonly times: number;
}

const BATCH = 1_000;

/** Yields the non-empty rows of a sheet up to a fault, then throws. @throws UnreadableWorkbook */
export async function* readDocumentRows(archive: Archive, sheet: DocumentSheet, layout: SheetLayout) {
  const reader = createRowReader(layout);
  const { hiddenColumns } = reader;
  const allBytes = Math.max(1, sheet.end - sheet.start);
  let bytesRead = 0;
  try {
    for await (const { bytes } of bytesOf(archive, [sheet])) {
      bytesRead += bytes.length;
      reader.write(bytes);
      for (const records of batchesOf(reader.takeRows()))
        yield { records, progress: bytesRead / allBytes, hiddenColumns };
    }
    reader.write(undefined);
  } catch (error) {
    for (const records of batchesOf(reader.takeRows())) yield { records, progress: 1, hiddenColumns };
    throw error;
  }
}

/** Yields the first rows of each sheet in one pass, because a pass per sheet would take quadratic time. */
export async function* readFirstDocumentRows(
  archive: Archive,
  sheets: readonly DocumentSheet[],
): AsyncGenerator<FileRecord[]> {
  let firstRows = createFirstRows();
  for await (const { bytes, isLast } of bytesOf(archive, sheets)) {
    firstRows.write(bytes);
    if (!isLast) continue;
    yield firstRows.rows;
    firstRows = createFirstRows();
  }
}

function createFirstRows() {
  const reader = createRowReader(NO_LAYOUT);
  const rows: FileRecord[] = [];
  let isComplete = false;
  return {
    rows,
    write(bytes: Buffer): void {
      if (isComplete) return;
      try {
        reader.write(bytes);
      } catch (error) {
        if (!(error instanceof UnreadableWorkbook)) throw error;
        isComplete = true;
      }
      for (const { record, times } of reader.takeRows())
        for (let i = 0; i < times && rows.length < HEADER_ROWS; i++)
          rows.push({ ...record, line: record.line + i });
      isComplete ||= rows.length === HEADER_ROWS;
    },
  };
}

function* batchesOf(rows: readonly RepeatedRecord[]): Generator<FileRecord[]> {
  let records: FileRecord[] = [];
  for (const { record, times } of rows)
    for (let i = 0; i < times; i++) {
      records.push(i === 0 ? record : { ...record, line: record.line + i });
      if (records.length < BATCH) continue;
      yield records;
      records = [];
    }
  yield records;
}

function createCellText(currentLine: () => number) {
  let text = '';
  let [paragraphs, isInParagraph] = [0, false];
  let ignoredDepth = 0;
  function add(part: string): void {
    if (ignoredDepth > 0 || !isInParagraph) return;
    text += part;
    if (text.length > MAX_TEXT_CHARACTERS) throw refuseRow(currentLine(), LONG_TEXT);
  }
  return {
    begin(): void {
      [text, paragraphs, isInParagraph, ignoredDepth] = ['', 0, false, 0];
    },
    add,
    open(name: string, attributes: Attributes): void {
      if (ignoredDepth > 0 || !TEXT_ELEMENTS.includes(name)) ignoredDepth++;
      else if (name === 'p') {
        isInParagraph = true;
        if (paragraphs++ > 0) add('\n');
      } else if (name === 's')
        add(' '.repeat(Math.min(repetitionOf(attributes['text:c']), MAX_TEXT_CHARACTERS)));
      else if (name === 'tab') add('\t');
      else if (name === 'line-break') add('\n');
    },
    /** Returns the cell's text at the end of the cell, otherwise undefined. */
    close(name: string): string | undefined {
      if (ignoredDepth > 0) ignoredDepth--;
      else if (name === 'p') isInParagraph = false;
      else if (name.endsWith('table-cell')) return text;
      return undefined;
    },
  };
}

const isHidden = (attributes: Attributes): boolean =>
  ['collapse', 'filter'].includes(attributes['table:visibility'] ?? '');

function createRowReader(layout: SheetLayout) {
  const rows = createSheetRows(layout);
  const cellText = createCellText(rows.line);
  const hiddenColumns = new Set<number>();
  let records: RepeatedRecord[] = [];
  let [nextColumn, nextCell] = [0, 0];
  let [nextLine, rowTimes] = [1, 1];
  let cell: { readonly attributes: Attributes; readonly isCovered: boolean } | undefined;

  function addColumns(attributes: Attributes): void {
    const end = nextColumn + repetitionOf(attributes['table:number-columns-repeated']);
    if (isHidden(attributes))
      for (let i = nextColumn; i < Math.min(end, MAX_COLUMNS); i++) hiddenColumns.add(i);
    nextColumn = end;
  }

  function addCells({ attributes, isCovered }: NonNullable<typeof cell>, text: string): void {
    const times = repetitionOf(attributes['table:number-columns-repeated']);
    const content = contentOf(attributes, text);
    const isEmpty = isCovered || (content.text === '' && content.fault === undefined);
    for (let i = 0; i < times && !isEmpty; i++) rows.add(nextCell + i, content);
    const columns = repetitionOf(attributes['table:number-columns-spanned']);
    const lines = repetitionOf(attributes['table:number-rows-spanned']);
    if (!isEmpty && columns * lines > 1) {
      const line = rows.line();
      rows.merge({ top: line, bottom: line + lines - 1, left: nextCell, right: nextCell + columns - 1 });
    }
    nextCell += times;
  }

  function endRow(): void {
    const record = rows.end();
    nextLine += rowTimes;
    if (record === undefined) return;
    if (nextLine > MAX_ROW + 1) throw new UnreadableWorkbook();
    rows.countRepetitions(record, rowTimes - 1);
    records.push({ record, times: rowTimes });
  }

  const write = createXmlReader({
    open(name, attributes) {
      if (cell !== undefined) cellText.open(name, attributes);
      else if (name === 'table-column') addColumns(attributes);
      else if (name === 'table-row') {
        rowTimes = repetitionOf(attributes['table:number-rows-repeated']);
        rows.start(nextLine, isHidden(attributes));
        nextCell = 0;
      } else if (name === 'table-cell' || name === 'covered-table-cell') {
        cell = { attributes, isCovered: name === 'covered-table-cell' };
        cellText.begin();
      }
    },
    text: cellText.add,
    close(name) {
      const text = cell && cellText.close(name);
      if (cell !== undefined && text !== undefined) {
        addCells(cell, text);
        cell = undefined;
      } else if (cell === undefined && name === 'table-row') endRow();
    },
  });

  return {
    hiddenColumns,
    write,
    takeRows(): RepeatedRecord[] {
      const taken = records;
      records = [];
      return taken;
    },
  };
}
