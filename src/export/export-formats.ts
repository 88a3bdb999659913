/** Formats of exports: CSV, NDJSON and workbooks, generated in parts from the rows of a snapshot. */
import { setImmediate } from 'node:timers/promises';
import { asTextCell } from '../formats/spreadsheet-cells-and-empty-words.ts';
import {
  type Cell,
  FORMATS,
  formatCsvRow,
  toCell,
  WIDTHS,
  writeSheet,
} from '../formats/write-csv-and-workbooks.ts';
import type { ImportKind } from '../registry/file-columns.ts';
import type { TimeZone } from '../values/date-time.ts';
import type { Language } from '../values/language.ts';
import { EXPORTED, exportColumns } from './export-columns.ts';
import type { ExportedRow, ExportFilter, ExportSnapshot } from './exported-rows.ts';

export const TEXT_FORMATS = ['ndjson', 'csv'] as const;
export type TextFormat = (typeof TEXT_FORMATS)[number];
export const FILE_FORMATS = [...TEXT_FORMATS, 'xlsx'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

export interface ExportedFile {
  readonly kind: ImportKind;
  /** For `xlsx`, the caller must check that there are at most MOST_WORKBOOK_ROWS rows. */
  readonly format: FileFormat;
  /** Language of headings and choices in a CSV file or workbook; names of the API if undefined. */
  readonly labels?: Language | undefined;
}

export interface ExportRequest extends ExportedFile {
  readonly format: TextFormat;
  readonly filter: ExportFilter;
}

const BLOCK_BYTES = 256 * 1024;
/** Maximum number of UTF-8 bytes for a UTF-16 code unit. */
const MOST_BYTES = 3;

/** Yields blocks of complete lines. The next block overwrites the buffer of the previous block. */
export function* exportBlocks(
  snapshot: Pick<ExportSnapshot, 'rows'>,
  { kind, format, filter, labels }: ExportRequest,
  zone: TimeZone,
): Generator<{ readonly bytes: Uint8Array; readonly rows: number }> {
  const { header, lineOf } = format === 'csv' ? csvLines(kind, labels) : jsonLines(kind);
  const buffer = Buffer.allocUnsafe(BLOCK_BYTES);
  let length = buffer.write(header);
  let rows = 0;
  for (const row of snapshot.rows(kind, filter)) {
    const line = lineOf(row, zone);
    if (length + MOST_BYTES * line.length > BLOCK_BYTES) {
      yield { bytes: buffer.subarray(0, length), rows };
      length = 0;
      rows = 0;
    }
    length += buffer.write(line, length);
    rows++;
  }
  yield { bytes: buffer.subarray(0, length), rows };
}

function jsonLines(kind: ImportKind) {
  const serialize = EXPORTED[kind].serialize as (row: ExportedRow, zone: TimeZone) => string;
  return { header: '', lineOf: (row: ExportedRow, zone: TimeZone) => `${serialize(row, zone)}\n` };
}

function csvLines(kind: ImportKind, labels: Language | undefined) {
  const columns = exportColumns(kind, labels);
  return {
    header: formatCsvRow(columns.map(({ name }) => name)),
    lineOf: (row: ExportedRow, zone: TimeZone) =>
      formatCsvRow(columns.map(({ read }) => asTextCell(read(row, zone) ?? ''))),
  };
}

/** @param onRows receives the number of rows read since the last call */
export async function exportedParts(
  snapshot: ExportSnapshot,
  { kind, format, labels }: ExportedFile,
  filter: ExportFilter,
  zone: TimeZone,
  onRows: (rows: number) => void = () => {},
): Promise<AsyncIterable<Uint8Array>> {
  if (format !== 'xlsx') return texts(format);
  const columns = exportColumns(kind, labels);
  const headings = columns.map(({ name: header, type }) => {
    const numFmt = FORMATS[type];
    return { header, width: WIDTHS[type], ...(numFmt === undefined ? {} : { numFmt }) };
  });
  return writeSheet(kind, headings, cells());

  async function* texts(textFormat: TextFormat): AsyncGenerator<Uint8Array> {
    for (const block of exportBlocks(snapshot, { kind, format: textFormat, filter, labels }, zone)) {
      onRows(block.rows);
      yield block.bytes;
      // Allows signal handlers to run between blocks.
      await setImmediate();
    }
  }

  function* cells(): Generator<Cell[]> {
    for (const row of snapshot.rows(kind, filter)) {
      onRows(1);
      yield columns.map(({ type, read }) => toCell(type, read(row, zone)));
    }
  }
}
