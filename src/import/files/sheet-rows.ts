/** Rows of a sheet, whichever program has written it: their cells, merged cells and limits. */
import { say, type Text } from '../../values/message.ts';
import { UnreadableWorkbook } from './archive.ts';
import type { FileRecord } from './records.ts';

/** The last row that a sheet can have. */
export const MAX_ROW = 1_048_576;
/** More columns are a mistake, and a few bytes for each row would be enough to make them. */
export const MAX_COLUMNS = 1_000;
/** Limit for all cells: a few megabytes may unpack to any number of cells with one shared text. */
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
  /** True for a cell stored as a number, except for a date. */
  readonly isNumber?: boolean;
  /** Reason why the cell has no value. */
  readonly fault?: Text | undefined;
  /** The number as the workbook shows it, if that is rounded. */
  readonly shown?: string | undefined;
}

/** A range of merged cells: lines, and indexes of columns. */
export interface MergedRange {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

/** Facts about a sheet that are known before its rows are read. */
export interface SheetLayout {
  /** Least number of cells in a row: a sheet leaves out empty ones at its end. */
  readonly width: number;
  /** Line of the header; cells that are merged from it or above stay as they are. */
  readonly headerLine: number;
}

/** The layout of a sheet whose first rows are read: merged cells stay as they are. */
export const NO_LAYOUT: SheetLayout = { width: 0, headerLine: Number.POSITIVE_INFINITY };

type RowInProgress = ReturnType<typeof startRow>;

const startRow = (line: number, isHidden: boolean) => ({
  line,
  isHidden,
  cells: [] as string[],
  numbers: new Set<number>(),
  /** Facts about cells that few rows have. */
  rare: undefined as ReturnType<typeof startRare> | undefined,
});

const startRare = () => ({
  faults: new Map<number, Text>(),
  shown: new Map<number, string>(),
  merged: new Set<number>(),
});

function rareOf(row: RowInProgress) {
  row.rare ??= startRare();
  return row.rare;
}

function setCell(row: RowInProgress, index: number, { text, isNumber, fault, shown }: CellContent): void {
  while (row.cells.length < index) row.cells.push('');
  row.cells[index] = text;
  if (isNumber === true) row.numbers.add(index);
  if (fault !== undefined) rareOf(row).faults.set(index, fault);
  if (shown !== undefined) rareOf(row).shown.set(index, shown);
}

/** Collects the cells of one row after the other. */
export function createSheetRows({ width, headerLine }: SheetLayout) {
  let row = startRow(0, false);
  let characters = 0;
  /** Merged cells at the current line, by their first column. */
  const merges = new Map<number, MergedRange & { content?: CellContent | undefined }>();

  function count(added: number): void {
    characters += added;
    if (characters > MAX_CHARACTERS) throw new UnreadableWorkbook(TOO_MUCH_TEXT);
  }

  /** Gives the merged cells of the row the value of the first one. */
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
          rareOf(row).merged.add(left);
        }
        const fault = mergedWith(left);
        for (let i = left + 1; i <= Math.min(right, Math.max(width, cells.length) - 1); i++)
          rareOf(row).faults.set(i, fault);
      }
    }
  }

  return {
    /** Line of the current row. */
    line: () => row.line,
    start(line: number, isHidden: boolean): void {
      row = startRow(line, isHidden);
    },
    /** Adds a cell to the right of the previous ones. @throws UnreadableWorkbook */
    add(index: number, content: CellContent): void {
      if (content.text === '' && content.fault === undefined) return;
      if (index >= MAX_COLUMNS) throw refuseRow(row.line, `a value beyond column ${MAX_COLUMNS}`);
      count(content.text.length);
      setCell(row, index, content);
    },
    /** Counts a row that is read several times more. */
    repeat({ cells }: FileRecord, times: number): void {
      count(times * cells.reduce((sum, { length }) => sum + length, 0));
    },
    /** Merges cells of the current row with others. */
    merge(range: MergedRange): void {
      if (range.top > headerLine && range.left < MAX_COLUMNS) merges.set(range.left, range);
    },
    /** Ends the row. @returns undefined for an empty one */
    end(): FileRecord | undefined {
      if (merges.size > 0) fillMerged();
      if (row.cells.length === 0) return undefined;
      const { line, cells, numbers, isHidden, rare } = row;
      while (cells.length < width) cells.push('');
      const record = numbers.size === 0 ? { line, cells } : { line, cells, numbers };
      if (rare === undefined && !isHidden) return record;
      const { faults, shown, merged } = rare ?? startRare();
      return { ...record, cellFaults: faults, shownNumbers: shown, mergedCells: merged, isHidden };
    },
  };
}

/** @returns undefined for an empty cell */
function contentAt({ cells, numbers, rare }: RowInProgress, index: number): CellContent | undefined {
  const [text = '', fault] = [cells[index], rare?.faults.get(index)];
  if (text === '' && fault === undefined) return undefined;
  return { text, isNumber: numbers.has(index), fault, shown: rare?.shown.get(index) };
}

const mergedWith = (column: number): Text =>
  say(
    'This cell is merged with the one in column {letter}. Undo the merge, and write the value of each cell.',
    { letter: columnLetters(column) },
  );

/** Letters of a column in a workbook: `A` to `Z`, `AA`, … @param place counted from 0 */
export function columnLetters(place: number): string {
  const last = String.fromCharCode(65 + (place % 26));
  return place < 26 ? last : columnLetters(Math.floor(place / 26) - 1) + last;
}
