/** The rows of a snapshot → the bytes of an export, in blocks. */
import type { TimeZone } from '../domain/values/date-time.ts';
import { asTextCell } from '../import/cells/blanks.ts';
import { formatCsvRow } from '../import/formats/csv/write-csv.ts';
import type { ExportedRows, ExportSnapshot } from '../store/contract/exports.ts';
import type { ImportKind } from '../store/contract/import/import-session.ts';
import { EXPORT_COLUMNS, type ExportColumn } from './export-columns.ts';
import type { ExportRequest, TextFormat } from './export-request.ts';
import { EXPORTED } from './exported-objects.ts';

export interface Block {
  /** Complete lines; overwritten when the next block is asked for. */
  readonly bytes: Uint8Array;
  readonly rows: number;
}

const BLOCK_BYTES = 256 * 1024;
/** Of a character in UTF-8. */
const MOST_BYTES = 3;

/** Each line becomes bytes at once: joined as text first, thousands of them would keep the collector busy. */
export function* exportBlocks(
  snapshot: Pick<ExportSnapshot, 'rows'>,
  { kind, format, filter }: ExportRequest,
  zone: TimeZone,
): Generator<Block> {
  const { lineOf: openLine, headerOf } = LINES[format];
  const lineOf = openLine(kind);
  const buffer = Buffer.allocUnsafe(BLOCK_BYTES);
  let length = buffer.write(headerOf(kind));
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

type Row = ExportedRows[ImportKind];
type LineOf = (row: Row, zone: TimeZone) => string;

function jsonLine(kind: ImportKind): LineOf {
  const serialize = EXPORTED[kind].serialize as LineOf;
  return (row, zone) => `${serialize(row, zone)}\n`;
}

function csvLine(kind: ImportKind): LineOf {
  const columns = EXPORT_COLUMNS[kind] as readonly ExportColumn<Row>[];
  return (row, zone) => formatCsvRow(columns.map(({ read }) => asTextCell(read(row, zone) ?? '')));
}

const LINES: {
  readonly [format in TextFormat]: {
    readonly headerOf: (kind: ImportKind) => string;
    readonly lineOf: (kind: ImportKind) => LineOf;
  };
} = {
  ndjson: { headerOf: () => '', lineOf: jsonLine },
  csv: { headerOf: (kind) => formatCsvRow(EXPORT_COLUMNS[kind].map(({ name }) => name)), lineOf: csvLine },
};
