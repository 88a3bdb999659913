/** A text file → records. */
import type { FileHandle } from 'node:fs/promises';
import type { FileContent } from '../source/file-content.ts';
import type { Encoding, RecordBatch, RecordSource } from '../source/records.ts';
import { readChunks } from './chunks.ts';
import { createCsvRows } from './csv-rows.ts';
import { encodingOf, headText, type TextEncoding } from './encoding.ts';
import { detectSeparator, namedSeparator, type ScoreHeader } from './separator.ts';

interface TextLayout {
  readonly encoding: TextEncoding;
  readonly separator: string;
  /** Lines before the first that may be a row: 1 where one names the separator. */
  readonly skippedLines: 0 | 1;
}

/**
 * Every kind of line end and quoted cells are accepted, and lines without a value are left out
 * (docs/import-reference.md#what-a-file-may-look-like).
 * @param asked the encoding where the file does not show one
 */
export function openCsv(
  handle: FileHandle,
  content: FileContent,
  { encoding: asked, scoreHeader }: { encoding?: Encoding | undefined; scoreHeader: ScoreHeader },
): RecordSource {
  const encoding = encodingOf(content, asked);
  const head = headText(content, encoding);
  const named = namedSeparator(head);
  const isComplete = content.head.length === content.bytes;
  const separator = named ?? detectSeparator(head, isComplete, scoreHeader);
  const layout: TextLayout = { encoding, separator, skippedLines: named === undefined ? 0 : 1 };
  return {
    bytes: content.bytes,
    sha256: content.sha256,
    format: { type: 'text', encoding: encoding.encoding, hasMark: encoding.markBytes > 0, separator },
    read: () => readRecords(handle, layout),
    close: () => handle.close(),
  };
}

async function* readRecords(
  handle: FileHandle,
  { encoding, separator, skippedLines }: TextLayout,
): AsyncGenerator<RecordBatch> {
  const rows = createCsvRows(separator, skippedLines);
  let [bytesRead, isFirst] = [0, true];
  for await (const chunk of readChunks(handle, encoding)) {
    bytesRead = chunk.end;
    // A chunk ends where a line ends, so the first line is in the first one.
    const bytes = isFirst && skippedLines === 1 ? withoutFirstLine(chunk.bytes) : chunk.bytes;
    isFirst = false;
    const { records, fault } = rows.read(bytes.toString('utf8'));
    yield { records, bytesRead };
    if (fault !== undefined) throw fault;
  }
  const fault = rows.end();
  yield { records: [], bytesRead };
  if (fault !== undefined) throw fault;
}

function withoutFirstLine(bytes: Buffer): Buffer {
  const end = bytes.findIndex((byte) => byte === 0x0a || byte === 0x0d);
  if (end < 0) return bytes.subarray(bytes.length);
  return bytes.subarray(bytes[end] === 0x0d && bytes[end + 1] === 0x0a ? end + 2 : end + 1);
}
