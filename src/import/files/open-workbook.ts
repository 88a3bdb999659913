/** Reads the records of one sheet of a workbook (docs/import-reference.md#workbooks). */
import type { FileHandle } from 'node:fs/promises';
import { mayEcho } from '../../values/errors.ts';
import {
  type Archive,
  COMPRESSED,
  openArchive,
  PASSWORD,
  readXml,
  SAVE,
  UnreadableWorkbook,
} from './archive.ts';
import { type ExcelSheet, readAroundRows, readExcelRows, readWorkbook } from './excel-rows.ts';
import {
  type DocumentSheet,
  listDocumentSheets,
  readDocumentRows,
  readFirstDocumentRows,
} from './ods-rows.ts';
import {
  type FileRecord,
  type FormatSource,
  fileFault,
  HEADER_ROWS,
  type RecordBatch,
  type ScoreHeader,
} from './records.ts';
import { NO_LAYOUT, type SheetLayout } from './sheet-rows.ts';

export interface WorkbookOptions {
  /** Name of the sheet to read; by default, the sheet whose header has the most known headings. */
  readonly sheet?: string | undefined;
  /** Counts known headings, to find the sheet of a workbook or the separator of a text file. */
  readonly scoreHeader: ScoreHeader;
}

export class UnknownSheetError extends Error {
  constructor(sheets: readonly Sheet[]) {
    super(`The workbook has no such sheet. Its sheets: ${namesOf(sheets)}.`);
    this.name = 'UnknownSheetError';
  }
}

/** Thrown if the operator must choose a sheet, because several sheets have the most known headings. */
export class SeveralSheets extends UnreadableWorkbook {
  readonly sheets: readonly string[];

  constructor(sheets: readonly Sheet[]) {
    super(`Several sheets may be meant: ${namesOf(sheets)}. Name one with --sheet.`);
    this.sheets = sheets.map(({ name }) => name);
  }
}

/** @throws UnreadableWorkbook; UnknownSheetError; the system's error */
export async function openWorkbook(
  handle: FileHandle,
  bytes: number,
  options: WorkbookOptions,
): Promise<FormatSource> {
  const archive = await openArchive(handle);
  const isDocument = archive.has('content.xml') && archive.has('mimetype');
  return isDocument
    ? openSheet(await openDocument(archive), bytes, options)
    : openSheet(await openExcel(archive), bytes, options);
}

async function openSheet<S extends Sheet>(
  workbook: WorkbookReader<S>,
  bytes: number,
  options: WorkbookOptions,
): Promise<FormatSource> {
  const { sheet, ...layout } = await chooseSheet(workbook, options);
  return {
    format: { type: 'workbook', sheet: sheet.name },
    sheets: workbook.sheets.map(({ name }) => name),
    read: () => readSheet(workbook.readRows(sheet, layout), bytes),
  };
}

interface WorkbookReader<S extends Sheet> {
  readonly sheets: readonly S[];
  /**
   * Reads the first non-empty rows of each sheet. A fault ends the rows of its sheet. Only `readRows` reports
   * the fault, because another sheet may be chosen.
   * @param sheets all sheets, or one of them
   */
  readFirstRows(sheets: readonly S[]): AsyncIterable<readonly FileRecord[]>;
  /** Yields the non-empty rows of a sheet up to a fault, then throws. @throws UnreadableWorkbook */
  readRows(sheet: S, layout: SheetLayout): AsyncIterable<SheetBatch>;
}

interface Sheet {
  readonly name: string;
}

interface SheetBatch {
  readonly records: readonly FileRecord[];
  /** Fraction of the sheet that has been read, from 0 to 1. */
  readonly progress: number;
  readonly hiddenColumns: ReadonlySet<number>;
}

async function openExcel(archive: Archive): Promise<WorkbookReader<ExcelSheet>> {
  if (archive.has('xl/workbook.bin'))
    throw new UnreadableWorkbook(`This is a binary workbook (.xlsb). ${SAVE}`);
  if (!archive.has('[Content_Types].xml') || archive.has('word/document.xml'))
    throw new UnreadableWorkbook(COMPRESSED);
  const workbook = await readWorkbook(archive);
  return {
    sheets: workbook.sheets,
    async *readFirstRows(sheets) {
      for (const { path } of sheets) yield await firstRows(readExcelRows(archive, workbook, path, NO_LAYOUT));
    },
    async *readRows({ path }, layout) {
      const { merges, hiddenColumns } = await readAroundRows(archive, path);
      const allBytes = Math.max(1, archive.bytesOf(path));
      for await (const { records, unpackedBytes } of readExcelRows(archive, workbook, path, layout, merges))
        yield { records, progress: unpackedBytes / allBytes, hiddenColumns };
    },
  };
}

const SPREADSHEET = 'application/vnd.oasis.opendocument.spreadsheet';
const MANIFEST = 'META-INF/manifest.xml';

async function openDocument(archive: Archive): Promise<WorkbookReader<DocumentSheet>> {
  if (!(await firstChunkOf(archive, 'mimetype')).startsWith(SPREADSHEET))
    throw new UnreadableWorkbook(`This is an OpenDocument file, but not a spreadsheet. ${SAVE}`);
  let isEncrypted = archive.has('encrypted-package');
  if (archive.has(MANIFEST))
    await readXml(archive.read(MANIFEST), {
      open(name) {
        isEncrypted ||= name === 'encryption-data';
      },
    });
  if (isEncrypted) throw new UnreadableWorkbook(PASSWORD);
  return {
    sheets: await listDocumentSheets(archive),
    readFirstRows: (sheets) => readFirstDocumentRows(archive, sheets),
    readRows: (sheet, layout) => readDocumentRows(archive, sheet, layout),
  };
}

async function firstChunkOf(archive: Archive, path: string): Promise<string> {
  for await (const chunk of archive.read(path)) return chunk.toString('latin1');
  return '';
}

/** @returns the sheet with the layout that its first rows suggest */
async function chooseSheet<S extends Sheet>(
  workbook: WorkbookReader<S>,
  { sheet: name, scoreHeader }: WorkbookOptions,
) {
  const candidates: (SheetLayout & { sheet: S; rank: number })[] = [];
  const sheets = name === undefined ? workbook.sheets : [sheetCalled(name, workbook.sheets)];
  for await (const rows of workbook.readFirstRows(sheets)) {
    const sheet = sheets[candidates.length] as S;
    const scores = rows.map(({ cells }) => scoreHeader(cells));
    const score = Math.max(0, ...scores);
    const headers = score === 0 ? rows : [rows[scores.indexOf(score)] as FileRecord];
    const width = Math.max(0, ...headers.map(({ cells }) => cells.length));
    // A sheet without rows is chosen only if no sheet has rows.
    candidates.push({ sheet, width, headerLine: headers[0]?.line ?? 0, rank: width === 0 ? -1 : score });
  }
  const highest = Math.max(...candidates.map(({ rank }) => rank));
  const best = candidates.filter(({ rank }) => rank === highest);
  if (best[0] === undefined) throw new UnreadableWorkbook('The workbook has no sheet with cells.');
  if (best.length === 1 || highest < 0) return best[0];
  throw new SeveralSheets(best.map(({ sheet }) => sheet));
}

function sheetCalled<S extends Sheet>(name: string, sheets: readonly S[]): S {
  const fold = (text: string) => text.trim().toLowerCase();
  const same = sheets.filter((sheet) => fold(sheet.name) === fold(name));
  const match = sheets.find((sheet) => sheet.name === name) ?? (same.length === 1 ? same[0] : undefined);
  if (match === undefined) throw new UnknownSheetError(sheets);
  return match;
}

const namesOf = (sheets: readonly Sheet[]): string =>
  sheets.map(({ name }, i) => (mayEcho(name) ? `"${name}"` : `number ${i + 1}`)).join(', ');

async function firstRows(
  batches: AsyncIterable<{ readonly records: readonly FileRecord[] }>,
): Promise<FileRecord[]> {
  const rows: FileRecord[] = [];
  try {
    for await (const { records } of batches) {
      rows.push(...records);
      if (rows.length >= HEADER_ROWS) break;
    }
  } catch (error) {
    if (!(error instanceof UnreadableWorkbook)) throw error;
  }
  return rows.slice(0, HEADER_ROWS);
}

/** @throws FileFault at a faulty row, after all records before this row */
async function* readSheet(batches: AsyncIterable<SheetBatch>, bytes: number): AsyncGenerator<RecordBatch> {
  let line = 0;
  try {
    for await (const { progress, ...batch } of batches) {
      line = batch.records.at(-1)?.line ?? line;
      yield { ...batch, bytesRead: Math.round(bytes * progress) };
    }
  } catch (error) {
    if (!(error instanceof UnreadableWorkbook)) throw error;
    throw fileFault(error.line ?? line + 1, error.message, { cause: error.cause });
  }
}
