/**
 * Writes rejects: the refused rows of a file, unchanged, with a column of reasons. Users correct the rows and
 * import them again. Rejects contain national IDs, so only the file's owner can read them.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { extname } from 'node:path';
import { keptAsText } from '../formats/spreadsheet-cells-and-empty-words.ts';
import { formatRow } from '../formats/write-csv-and-workbooks.ts';
import {
  ADDED_LABELS,
  FAULTS_COLUMN,
  FILE_COLUMN,
  FILE_COLUMNS,
  type ImportKind,
  REPEATS_COLUMN,
} from '../registry/file-columns.ts';
import { assertOwn, removeOwn } from '../terminal/places.ts';
import { inLanguage, type Language } from '../values/language.ts';
import { Message, type Text } from '../values/message.ts';
import { encodeText, encodingOf, headText, markOf, scanContent } from './files/file-content.ts';
import {
  type Encoding,
  FileFault,
  type FileRecord,
  type ImportFault,
  type RecordSource,
  SAME_AS_LINE,
} from './files/records.ts';
import type { FileCheck } from './import-files.ts';
import {
  addedColumnOf,
  addedHeading,
  addedHeadingsOf,
  createWidthCheck,
  type Header,
} from './table/header.ts';
import { createMarks, filesOf } from './table/rejects-columns.ts';

// Rows of the rejects. An import must read them like the original rows.

/** Prefix that marks the reasons in a row of wrong width, in which the reasons are not below `heading`. */
const beforeReasons = (heading: string): string => `${heading}: `;
const REASONS = addedHeadingsOf(FAULTS_COLUMN).map(beforeReasons);

interface RejectsOptions extends Pick<Header, 'line' | 'headings'> {
  /** True to add the column `FILE_COLUMN`, which later helps to match rows without a reference. */
  readonly isReferenceMissing?: boolean;
  /** True if a row was refused because it repeats another row. */
  readonly hasRepeats?: boolean;
  readonly language?: Language;
  /** Kind of the file, to write labels of columns in `language`; undefined for column names. */
  readonly labelled?: ImportKind | undefined;
}

function createRejectedRows(
  { format, sha256 }: RecordSource,
  { headings, isReferenceMissing = false, hasRepeats = false, language, labelled }: RejectsOptions,
) {
  // Cells of workbooks are written so that a spreadsheet does not change them again.
  const isWorkbook = format.type === 'workbook';
  const labels = labelled && language;
  const width = headings.length;
  // Rows of wrong width cannot be padded to the header's, so their reasons are not below the heading.
  const isWrongWidth = createWidthCheck({ headings }, format);
  const placeOf = (column: string) => headings.findIndex(({ text }) => addedColumnOf(text) === column);
  // The file itself may be corrected rejects. Its added columns, at these positions, are replaced.
  const earlierPlaces = [FAULTS_COLUMN, FILE_COLUMN, REPEATS_COLUMN].map(placeOf);
  const [faultsAt = -1, filesAt = -1, repeatsAt = -1] = earlierPlaces;
  const marksRepeats = hasRepeats || repeatsAt >= 0;
  const repeatMarkOf = createMarks(headings);
  const originalCells = (cells: readonly string[]) => cells.filter((_, i) => !earlierPlaces.includes(i));
  const reasonsPrefix = beforeReasons(addedHeading(FAULTS_COLUMN, labels));
  const identityAt = headings.findIndex(({ column }) => column === 'identity_card');

  function row({ cells, numbers }: FileRecord, reason: string, isRepeat: boolean): string[] {
    const written = isWorkbook
      ? cells.map((cell, i) => keptAsText(cell, numbers?.has(i) === true, i === identityAt))
      : cells;
    const isComplete = !isWrongWidth(cells);
    const original = isComplete
      ? originalCells(Array.from({ length: width }, (_, i) => written[i] ?? ''))
      : cellsOfAnyWidth(written);
    const files = isReferenceMissing ? [filesOf(sha256, cells[filesAt] ?? '')] : [];
    const earlierMark = isComplete ? (cells[repeatsAt] ?? '') : '';
    const marks = marksRepeats ? [isRepeat ? repeatMarkOf(cells) : earlierMark] : [];
    return [...original, ...files, ...marks, isComplete ? reason : reasonsPrefix + reason];
  }

  /** Removes cells of earlier rejects. Does not pad the row, because padding could misplace values. */
  function cellsOfAnyWidth(cells: readonly string[]): readonly string[] {
    const hasReasons = faultsAt >= 0 && REASONS.some((prefix) => cells.at(-1)?.startsWith(prefix));
    return hasReasons ? cells.slice(0, -earlierPlaces.filter((place) => place >= 0).length) : cells;
  }

  const addedColumns = [
    ...(isReferenceMissing ? ([FILE_COLUMN] as const) : []),
    ...(marksRepeats ? ([REPEATS_COLUMN] as const) : []),
    FAULTS_COLUMN,
  ] as const;
  // Skipped columns are written without a heading.
  const header = (cells: readonly string[]) => [
    ...originalCells(cells.map((cell, i) => (headings[i]?.text === '' ? '' : cell))),
    ...addedColumns.map((column) => addedHeading(column, labels)),
  ];
  return { header, row };
}

/**
 * Returns the path of the rejects: `refused.csv` for the first file with refused rows, then `refused-2.csv`.
 * @param place position among the files with refused rows, from 1
 */
export function rejectsPath(path: string, place: number): string {
  if (place === 1) return path;
  const extension = extname(path);
  return `${path.slice(0, path.length - extension.length)}-${place}${extension}`;
}

/**
 * True if new rejects may replace a file: the file is empty, or its last heading is that of the reasons.
 * @throws the system's error if the file cannot be read
 */
export async function isReplaceable(path: string): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    const content = await scanContent(handle);
    const head = headText(content, encodingOf(content, undefined));
    // A quoted heading may contain a line end.
    const [header = ''] = /^(?:"[^"]*"|[^"\r\n])*(?=[\r\n]|$)/.exec(head) ?? [];
    return (
      content.bytes === 0 ||
      addedHeadingsOf(FAULTS_COLUMN).some((heading) =>
        new RegExp(`[,;\\t|]"?${heading}"?$`, 'i').test(header),
      )
    );
  } finally {
    await handle.close();
  }
}

/**
 * Creates the first rejects file. Must be called before the import starts: an unwritable path must not stop
 * the import halfway.
 * @throws the system's error, including `EEXIST` if the file exists
 */
export async function createRejectsFile(path: string, language: Language, labelled?: ImportKind) {
  const create = (place: number) => open(rejectsPath(path, place), 'wx', 0o600);
  let unused: FileHandle | undefined = await create(1);
  let files = 0;
  return {
    /**
     * Writes the refused rows of one imported file to the next rejects file (`rejectsPath`).
     * @returns the path; undefined if no row was refused, or if the header is not readable
     * @throws the system's error, for example if the disk is full or another import has replaced the file
     */
    async append({ checked, source, findings }: FileCheck): Promise<string | undefined> {
      const { header, isReferenceMissing } = findings;
      if (header === undefined) return undefined;
      const handle = unused ?? (await create(files + 1));
      unused = handle;
      const hasRepeats = Iterator.from(checked.listFaults()).some(isRepeatFault);
      const options = { ...header, isReferenceMissing, hasRepeats, language, labelled };
      if (!(await writeRejects(handle, checked.listFaults(), source, options))) return undefined;
      assertOwn(rejectsPath(path, files + 1), handle.fd);
      await handle.close();
      unused = undefined;
      files++;
      return rejectsPath(path, files);
    },
    /** Removes an empty rejects file. */
    async close(): Promise<void> {
      if (unused !== undefined) removeOwn(rejectsPath(path, files + 1), unused.fd);
      await unused?.close();
    },
  };
}

/** @param faults in order of line @returns true if any row was written */
export async function writeRejects(
  handle: Pick<FileHandle, 'writeFile'>,
  faults: Iterable<ImportFault>,
  source: RecordSource,
  options: RejectsOptions,
): Promise<boolean> {
  const { encoding, separator, mark } = layoutOf(source);
  const rows = createRejectedRows(source, options);
  const reasons = reasonsByLine(faults, options);
  let next = reasons.next();
  let headerRow: string | undefined;
  let isWritten = false;
  try {
    for await (const { records } of source.read()) {
      let text = '';
      for (const record of records) {
        if (record.line === options.line) headerRow = formatRow(rows.header(record.cells), separator);
        // A fault of an empty line has no record, and there is nothing to correct.
        while (next.done !== true && next.value.line < record.line) next = reasons.next();
        if (next.done === true) break;
        if (next.value.line === record.line && record.line !== options.line)
          text += formatRow(rows.row(record, next.value.reason, next.value.isRepeat), separator);
      }
      if (text !== '') {
        if (!isWritten) await handle.writeFile(Buffer.concat([mark, encodeText(headerRow ?? '', encoding)]));
        await handle.writeFile(encodeText(text, encoding));
        isWritten = true;
      }
      if (next.done === true) break;
    }
  } catch (error) {
    // An unreadable row has no cells to write.
    if (!(error instanceof FileFault)) throw error;
  }
  return isWritten;
}

/**
 * `mark` is the byte order mark, without which UTF-16 would not be recognised. Rejects of a workbook are CSV
 * with commas: in a file with semicolons, `12,500` would become a decimal number.
 */
function layoutOf({ format }: RecordSource): { encoding: Encoding; separator: string; mark: Buffer } {
  if (format.type === 'workbook') return { encoding: 'utf-8', separator: ',', mark: markOf('utf-8') };
  const { encoding, separator, hasMark } = format;
  const isMarked = hasMark || encoding.startsWith('utf-16');
  return { encoding, separator, mark: isMarked ? markOf(encoding) : Buffer.alloc(0) };
}

const isRepeatFault = ({ message }: ImportFault): boolean =>
  message instanceof Message && message.template === SAME_AS_LINE;

/** Joins the faults of a row. Skips faults that concern the entire file. */
function* reasonsByLine(faults: Iterable<ImportFault>, { language = 'en', labelled }: RejectsOptions) {
  const labels = new Map<string, Text>(
    labelled && [
      ...FILE_COLUMNS[labelled].map(({ name, label }) => [name, label] as const),
      ...Object.entries(ADDED_LABELS),
    ],
  );
  let row: { readonly line: number; reason: string; isRepeat: boolean } | undefined;
  for (const fault of faults) {
    const { line, column, message } = fault;
    if (fault.refuses === 'file') continue;
    const text = inLanguage(message, language);
    const reason = column === '' ? text : `${inLanguage(labels.get(column) ?? column, language)}: ${text}`;
    const isRepeat = isRepeatFault(fault);
    if (row?.line === line) {
      row.reason += `; ${reason}`;
      row.isRepeat ||= isRepeat;
      continue;
    }
    if (row !== undefined) yield row;
    row = { line, reason, isRepeat };
  }
  if (row !== undefined) yield row;
}
