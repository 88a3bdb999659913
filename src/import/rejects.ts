/**
 * The refused rows of an import with their faults: `line,column,reason` and the row's own cells. The only
 * place where national IDs leave the registry's own files, so it is readable by its owner only.
 */
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { ImportFault } from '../store/ports/import-session.ts';
import { formatCsvRow } from './csv/write-csv.ts';
import { FileFault, type FileRecord, type RecordSource } from './records.ts';

const COLUMNS = ['line', 'column', 'reason'];
const HEADER_START = COLUMNS.join(',');

export interface RejectsFile {
  /**
   * Appends the refused rows of a file, one line for each fault.
   * @param faults in order of line
   * @throws the system's error when the disk takes no more
   */
  append(faults: AsyncIterable<ImportFault>, source: RecordSource): Promise<void>;
  /** Closes the file, and removes it when nothing was refused. */
  close(): Promise<void>;
}

/**
 * Whether a file may be replaced by new rejects: it is empty, or starts with the header of earlier ones.
 * @throws the system's error when it cannot be read
 */
export async function isReplaceable(path: string): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER_START.length + 1), 0);
    const start = buffer.toString('utf8', 0, bytesRead);
    return start === '' || [',', '\n'].some((end) => start === HEADER_START + end);
  } finally {
    await handle.close();
  }
}

/**
 * Creates the file before anything is imported, so that a place that cannot be written stops nothing halfway.
 * @throws the system's error, also when there is such a file already
 */
export async function createRejectsFile(path: string): Promise<RejectsFile> {
  const handle = await open(path, 'wx', 0o600);
  let isEmpty = true;
  return {
    append(faults, source) {
      isEmpty = false;
      return writeRejects(handle, faults, source);
    },
    async close() {
      await handle.close();
      if (isEmpty) await rm(path, { force: true });
    },
  };
}

/** Each batch is on its way to the disk before the next one is read. */
export async function writeRejects(
  handle: Pick<FileHandle, 'writeFile'>,
  faults: AsyncIterable<ImportFault>,
  source: RecordSource,
): Promise<void> {
  const pending = faults[Symbol.asyncIterator]();
  let next = await pending.next();
  /**
   * The lines for the faults up to a record.
   * @param record undefined for faults of rows that cannot be read
   */
  async function linesFor(record: FileRecord | undefined): Promise<string> {
    let lines = '';
    while (next.done !== true && (record === undefined || next.value.line <= record.line)) {
      const { line, column, message } = next.value;
      const cells = record?.line === line ? record.cells : [];
      lines += formatCsvRow([String(line), column, message, ...cells]);
      next = await pending.next();
    }
    return lines;
  }

  let isHeader = true;
  try {
    for await (const { records } of source.read()) {
      let lines = '';
      for (const record of records) {
        if (isHeader) lines += formatCsvRow([...COLUMNS, ...record.cells]);
        isHeader = false;
        if (next.done !== true && next.value.line <= record.line) lines += await linesFor(record);
      }
      if (lines !== '') await handle.writeFile(lines);
      if (next.done === true) return;
    }
  } catch (error) {
    // A row that cannot be read as CSV has no cells.
    if (!(error instanceof FileFault)) throw error;
  }
  // Without a header of the file, the rejects have their own: it is what shows that they may be replaced.
  const header = isHeader ? formatCsvRow(COLUMNS) : '';
  await handle.writeFile(header + (await linesFor(undefined)));
}
