/** An Excel workbook → the records of one of its sheets. */
import type { FileHandle } from 'node:fs/promises';
import { mayEcho } from '../../../domain/values/errors.ts';
import type { ScoreHeader } from '../csv/separator.ts';
import type { FileContent } from '../source/file-content.ts';
import {
  type FileRecord,
  fileFault,
  HEADER_ROWS,
  type RecordBatch,
  type RecordSource,
} from '../source/records.ts';
import { type Archive, openArchive, UnreadableWorkbook } from './archive.ts';
import { readWorkbook, type Sheet, type Workbook } from './parts.ts';
import { createSheetRows } from './sheet-rows.ts';

export interface WorkbookOptions {
  /** Name of the sheet; without it, the one whose header has most headings. */
  readonly sheet?: string | undefined;
  readonly scoreHeader: ScoreHeader;
}

/** The sheet that was asked for does not exist. */
export class UnknownSheetError extends Error {
  constructor(sheets: readonly Sheet[]) {
    super(`The workbook has no such sheet. Its sheets: ${namesOf(sheets)}.`);
    this.name = 'UnknownSheetError';
  }
}

/** None of them is meant more than the others. */
export class SeveralSheets extends UnreadableWorkbook {
  readonly sheets: readonly string[];

  constructor(sheets: readonly Sheet[]) {
    super(`Several sheets may be meant: ${namesOf(sheets)}. Name one with --sheet.`);
    this.sheets = sheets.map(({ name }) => name);
  }
}

/**
 * Only the texts of the workbook are kept in memory; its rows are read as they are needed
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
  /** Cells of its header, as far as it is known. */
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
    // A sheet without rows is chosen only when there is no other.
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

/** What is wrong with a sheet is reported when it is read: another one may be meant. */
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
