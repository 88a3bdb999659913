/**
 * The refused rows of an import as they were delivered, with one more column for the reasons: to be corrected
 * and imported again. The only place where national IDs leave the registry's own files, so it is readable by
 * its owner only.
 */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { extname } from 'node:path';
import { Message, type Text } from '../../domain/values/message.ts';
import { inLanguage, type Language } from '../../language/language.ts';
import { FILE_COLUMNS } from '../../store/contract/import/import-columns.ts';
import {
  type ImportFault,
  type ImportKind,
  SAME_AS_LINE,
} from '../../store/contract/import/import-session.ts';
import { encodingOf, headText, markOf } from '../formats/csv/encoding.ts';
import { encodeText, formatRow } from '../formats/csv/write-csv.ts';
import { scanContent } from '../formats/source/file-content.ts';
import { type Encoding, FileFault, type RecordSource } from '../formats/source/records.ts';
import type { Header } from '../table/header.ts';
import { ADDED_LABELS, addedHeadingsOf, FAULTS_COLUMN } from '../table/headings.ts';
import type { FileFindings } from '../table/read-and-check.ts';
import { createRejectedRows } from './rejected-rows.ts';

export interface RejectsFile {
  /**
   * Writes the refused rows of a file: of the first one to the path of the rejects, of further ones to paths
   * of their own, each with a header.
   * @param faults in order of line
   * @param findings without a header when the file has none that can be read
   * @param hasRepeats whether a fault is that the file has a row twice
   * @returns the path; undefined when no row is refused by itself
   * @throws the system's error when the disk takes no more
   */
  append(
    faults: Iterable<ImportFault>,
    source: RecordSource,
    findings: Pick<FileFindings, 'header' | 'isReferenceMissing'>,
    hasRepeats?: boolean,
  ): Promise<string | undefined>;
  /** Removes the file when no row was refused. */
  close(): Promise<void>;
}

/** @param place 1 for the first file with refused rows: `refused.csv`, then `refused-2.csv` */
export function rejectsPath(path: string, place: number): string {
  if (place === 1) return path;
  const extension = extname(path);
  return `${path.slice(0, path.length - extension.length)}-${place}${extension}`;
}

/**
 * Whether a file may be replaced by new rejects: it is empty, or its header ends as that of earlier ones.
 * @throws the system's error when it cannot be read
 */
export async function isReplaceable(path: string): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    const content = await scanContent(handle);
    const head = headText(content, encodingOf(content, undefined));
    // A heading in quotes may contain a line end.
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
 * Creates the first file before anything is imported, so that a place that cannot be written stops nothing
 * halfway.
 * @param language of the reasons
 * @param labelled the kind of the file where the headings that are added, and columns in the reasons, are to
 * be in the language too; without it they are names
 * @throws the system's error, also when there is such a file already
 */
export async function createRejectsFile(
  path: string,
  language: Language,
  labelled?: ImportKind,
): Promise<RejectsFile> {
  const create = (place: number) => open(rejectsPath(path, place), 'wx', 0o600);
  let unused: FileHandle | undefined = await create(1);
  let files = 0;
  return {
    async append(faults, source, { header, isReferenceMissing }, hasRepeats) {
      if (header === undefined) return undefined;
      const handle = unused ?? (await create(files + 1));
      unused = handle;
      const rows = { ...header, isReferenceMissing, hasRepeats, language, labelled };
      if (!(await writeRejects(handle, faults, source, rows))) return undefined;
      await handle.close();
      unused = undefined;
      files++;
      return rejectsPath(path, files);
    },
    async close() {
      await unused?.close();
      if (unused !== undefined) await rm(rejectsPath(path, files + 1), { force: true });
    },
  };
}

/**
 * Each batch is on its way to the disk before the next one is read.
 * @returns whether any row was written
 */
export async function writeRejects(
  handle: Pick<FileHandle, 'writeFile'>,
  faults: Iterable<ImportFault>,
  source: RecordSource,
  header: Pick<Header, 'line' | 'headings'> & {
    readonly isReferenceMissing?: boolean;
    readonly hasRepeats?: boolean | undefined;
    readonly language?: Language;
    readonly labelled?: ImportKind | undefined;
  },
): Promise<boolean> {
  const { encoding, separator } = layoutOf(source);
  const { language = 'en', labelled } = header;
  const rows = createRejectedRows(header, {
    isWorkbook: source.format.type === 'workbook',
    sha256: header.isReferenceMissing === true ? source.sha256 : undefined,
    hasRepeats: header.hasRepeats === true,
    labels: labelled && language,
  });
  const reasons = reasonsByLine(faults, language, labelled);
  let next = reasons.next();
  let headerRow: string | undefined;
  let isWritten = false;
  try {
    for await (const { records } of source.read()) {
      let text = '';
      for (const record of records) {
        if (record.line === header.line) headerRow = formatRow(rows.header(record.cells), separator);
        // A line without a record is empty, and nothing can be corrected on it.
        while (next.done !== true && next.value.line < record.line) next = reasons.next();
        if (next.done === true) break;
        if (next.value.line === record.line && record.line !== header.line)
          text += formatRow(rows.row(record, next.value.reason, next.value.isRepeat), separator);
      }
      if (text !== '') {
        const start = isWritten ? Buffer.alloc(0) : startOf(source, encoding);
        const lines = isWritten ? text : (headerRow ?? '') + text;
        await handle.writeFile(Buffer.concat([start, encodeText(lines, encoding)]));
        isWritten = true;
      }
      if (next.done === true) break;
    }
  } catch (error) {
    // A row that cannot be read has no cells.
    if (!(error instanceof FileFault)) throw error;
  }
  return isWritten;
}

/**
 * Of a workbook CSV that Excel opens, with commas: `12,500` in a file with semicolons would be a decimal
 * number, which it is not in a workbook.
 */
const layoutOf = ({ format }: RecordSource): { encoding: Encoding; separator: string } =>
  format.type === 'workbook' ? { encoding: 'utf-8', separator: ',' } : format;

/** UTF-16 without a byte order mark would not be recognised. */
const startOf = ({ format }: RecordSource, encoding: Encoding): Buffer =>
  format.type === 'workbook' || format.hasMark || encoding.startsWith('utf-16')
    ? markOf(encoding)
    : Buffer.alloc(0);

interface RowReasons {
  readonly line: number;
  reason: string;
  isRepeat: boolean;
}

const isRepeatFault = (message: Text): boolean =>
  message instanceof Message && message.template === SAME_AS_LINE;

/** Whether the file has one of the refused rows twice. */
export function hasRepeatedRow(faults: Iterable<ImportFault>): boolean {
  for (const { message } of faults) if (isRepeatFault(message)) return true;
  return false;
}

/** The faults of each row in one text. Those of the file concern no row. */
function* reasonsByLine(
  faults: Iterable<ImportFault>,
  language: Language,
  labelled: ImportKind | undefined,
): Generator<RowReasons> {
  const labels = new Map<string, Text>(
    labelled && [
      ...FILE_COLUMNS[labelled].map(({ name, label }) => [name, label] as const),
      ...Object.entries(ADDED_LABELS),
    ],
  );
  let last: RowReasons | undefined;
  for (const { line, column, message, refuses } of faults) {
    if (refuses === 'file') continue;
    const text = inLanguage(message, language);
    const reason = column === '' ? text : `${inLanguage(labels.get(column) ?? column, language)}: ${text}`;
    if (last?.line === line) {
      last.reason += `; ${reason}`;
      last.isRepeat ||= isRepeatFault(message);
      continue;
    }
    if (last !== undefined) yield last;
    last = { line, reason, isRepeat: isRepeatFault(message) };
  }
  if (last !== undefined) yield last;
}
