/** Collects the cells of a sheet into records, with limits and merged cells, for Excel and OpenDocument. */
import { say, type Text } from '../../values/message.ts';
import { UnreadableWorkbook } from './archive.ts';
import type { FileRecord } from './records.ts';

export const MAX_ROW = 1_048_576;
/** Maximum number of columns with values. A sheet with more columns is a mistake or an attack. */
export const MAX_COLUMNS = 1_000;
/** Maximum number of characters in a sheet, because a small file can repeat a text in any number of cells. */
const MAX_CHARACTERS = 1_000_000_000;
const TOO_MUCH_TEXT =
  'The sheet has more than 1,000,000,000 characters. Save it as "CSV UTF-8" and import that file.';

export const refuseRow = (line = 0, what: string): UnreadableWorkbook =>
  new UnreadableWorkbook(`Row ${line} has ${what}. Delete it, save the workbook and import it again.`, {
    line,
  });

export const FORMULA_WITHOUT_VALUE = say(
  'This cell holds a formula without a value. Open the file in a spreadsheet, save it and import it again.',
);

export interface CellContent {
  readonly text: string;
  /** True for a cell that the workbook stores as a number, unless the number is a date. */
  readonly isNumber?: boolean;
  readonly fault?: Text | undefined;
  /** Number as the workbook displays it, if the workbook rounds the number. */
  readonly shown?: string | undefined;
}

/** Range of merged cells. `top` and `bottom` are line numbers, `left` and `right` column indexes. */
export interface MergedRange {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

export interface SheetLayout {
  /** Minimum number of cells in a record. Sheets omit empty cells at the end of a row. */
  readonly width: number;
  /** Line of the header. Merged ranges that begin in the header or above it are ignored. */
  readonly headerLine: number;
}

/** Layout for the first rows of a sheet, before its header is known. Ignores merged cells. */
export const NO_LAYOUT: SheetLayout = { width: 0, headerLine: Number.POSITIVE_INFINITY };

type RowInProgress = ReturnType<typeof startRow>;

const startRow = (line: number, isHidden: boolean) => ({
  line,
  isHidden,
  cells: [] as string[],
  numbers: new Set<number>(),
  cellFaults: new Map<number, Text>(),
  shownNumbers: new Map<number, string>(),
  mergedCells: new Set<number>(),
});

function setCell(row: RowInProgress, index: number, { text, isNumber, fault, shown }: CellContent): void {
  while (row.cells.length < index) row.cells.push('');
  row.cells[index] = text;
  if (isNumber === true) row.numbers.add(index);
  if (fault !== undefined) row.cellFaults.set(index, fault);
  if (shown !== undefined) row.shownNumbers.set(index, shown);
}

export function createSheetRows({ width, headerLine }: SheetLayout) {
  let row = startRow(0, false);
  let characters = 0;
  /** Merged ranges that include the current line, by first column, with the value of their first cell. */
  const merges = new Map<number, MergedRange & { content?: CellContent | undefined }>();

  function count(added: number): void {
    characters += added;
    if (characters > MAX_CHARACTERS) throw new UnreadableWorkbook(TOO_MUCH_TEXT);
  }

  /** Copies the first cell of each merged range down its first column. The other columns get a fault. */
  function fillMerged(): void {
    const { line, cells } = row;
    const hasCells = cells.length > 0;
    for (const [left, merge] of merges) {
      if (line === merge.top) merge.content = contentAt(row, left);
      const { top, bottom, right, content } = merge;
      if (line > bottom || content === undefined) merges.delete(left);
      else if (hasCells) {
        if (line > top) {
          count(content.text.length);
          setCell(row, left, content);
          row.mergedCells.add(left);
        }
        const fault = mergedWith(left);
        for (let i = left + 1; i <= Math.min(right, Math.max(width, cells.length) - 1); i++)
          row.cellFaults.set(i, fault);
      }
    }
  }

  return {
    line: () => row.line,
    start(line: number, isHidden: boolean): void {
      row = startRow(line, isHidden);
    },
    /** Adds a cell to the right of the earlier cells. @throws UnreadableWorkbook if the sheet is too large */
    add(index: number, content: CellContent): void {
      if (content.text === '' && content.fault === undefined) return;
      if (index >= MAX_COLUMNS) throw refuseRow(row.line, `a value beyond column ${MAX_COLUMNS}`);
      count(content.text.length);
      setCell(row, index, content);
    },
    countRepetitions({ cells }: FileRecord, times: number): void {
      count(times * cells.reduce((sum, { length }) => sum + length, 0));
    },
    /** Adds a merged range that starts at the current row. */
    merge(range: MergedRange): void {
      if (range.top > headerLine && range.left < MAX_COLUMNS) merges.set(range.left, range);
    },
    /** Ends the row. Returns its record; undefined for an empty row. */
    end(): FileRecord | undefined {
      if (merges.size > 0) fillMerged();
      if (row.cells.length === 0) return undefined;
      while (row.cells.length < width) row.cells.push('');
      return row;
    },
  };
}

function contentAt(row: RowInProgress, index: number): CellContent | undefined {
  const [text = '', fault] = [row.cells[index], row.cellFaults.get(index)];
  if (text === '' && fault === undefined) return undefined;
  return { text, isNumber: row.numbers.has(index), fault, shown: row.shownNumbers.get(index) };
}

const mergedWith = (column: number): Text =>
  say(
    'This cell is merged with the one in column {letter}. Undo the merge, and write the value of each cell.',
    { letter: columnLetters(column) },
  );

/** Returns the letters of a column in a workbook: `A` to `Z`, then `AA`. @param place column index, from 0 */
export function columnLetters(place: number): string {
  const last = String.fromCharCode(65 + (place % 26));
  return place < 26 ? last : columnLetters(Math.floor(place / 26) - 1) + last;
}
