/** Opens a CSV file for reading: bytes → records. */
import { type FileHandle, open } from 'node:fs/promises';
import { fileFault, type RecordBatch, type RecordSource } from '../records.ts';
import { readChunks } from './chunks.ts';
import { LINE_END } from './line-ends.ts';
import { readPlainLines } from './plain-lines.ts';
import { createQuotedRows, type QuotedRows } from './quoted-rows.ts';

const HEAD_BYTES = 16 * 1024;
const QUOTE = 0x22;
/** How a ZIP archive begins, which a workbook is. */
const WORKBOOK = 'PK\u0003\u0004';
const BYTE_ORDER_MARK = '\ufeff';

/**
 * A byte order mark, every kind of line end, quoted cells and `;` as separator are accepted; empty lines are
 * passed over (docs/operating.md#what-a-file-may-look-like).
 * @throws the system's error when the file cannot be opened
 */
export async function openCsv(path: string): Promise<RecordSource> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    return {
      bytes: size,
      format: { type: 'text', encoding: 'utf-8', separator: await detectDelimiter(handle) },
      read: () => readRecords(handle),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** A line without quotes is cut at its separators; from the first quote on, csv-parse reads the rest. */
async function* readRecords(handle: FileHandle): AsyncGenerator<RecordBatch> {
  if (await isWorkbook(handle))
    throw fileFault(1, 'This is an Excel workbook. Save it as "CSV UTF-8" and import that file.');
  const delimiter = await detectDelimiter(handle);
  let bytesRead = 0;
  let lines = 0;
  let quoted: QuotedRows | undefined;
  for await (const { bytes, end } of readChunks(handle)) {
    bytesRead = end;
    if (quoted === undefined && bytes.includes(QUOTE)) quoted = createQuotedRows(delimiter, lines);
    if (quoted === undefined) {
      const text = bytes.toString('utf8');
      const plain = readPlainLines(lines === 0 ? withoutMark(text) : text, delimiter, lines);
      lines += plain.lines;
      yield { records: plain.records, bytesRead };
    } else {
      const fault = await quoted.write(bytes);
      yield { records: quoted.take(), bytesRead };
      if (fault !== undefined) throw fault;
    }
  }
  const fault = await quoted?.end();
  yield { records: quoted?.take() ?? [], bytesRead };
  if (fault !== undefined) throw fault;
}

const withoutMark = (text: string): string => (text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);

async function isWorkbook(handle: FileHandle): Promise<boolean> {
  const { buffer } = await handle.read(Buffer.alloc(WORKBOOK.length), 0, WORKBOOK.length, 0);
  return buffer.toString('latin1') === WORKBOOK;
}

/** The header decides: `;` where it has more of these than commas. */
async function detectDelimiter(handle: FileHandle): Promise<',' | ';'> {
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  const header = buffer.toString('latin1', 0, bytesRead).split(LINE_END, 1)[0] ?? '';
  return header.split(';').length > header.split(',').length ? ';' : ',';
}
