/** The rows of a snapshot → the bytes of an export, in blocks. */
import type { TimeZone } from '../domain/values/date-time.ts';
import { asTextCell } from '../import/cells/blanks.ts';
import { formatCsvRow } from '../import/formats/csv/write-csv.ts';
import type { Language } from '../language/language.ts';
import type { ExportedRows, ExportSnapshot } from '../store/contract/exports.ts';
import type { ImportKind } from '../store/contract/import/import-session.ts';
import { type ExportColumn, exportColumns } from './export-columns.ts';
import type { ExportRequest } from './export-request.ts';
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
  { kind, format, filter, labels }: ExportRequest,
  zone: TimeZone,
): Generator<Block> {
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

type Row = ExportedRows[ImportKind];

interface Lines {
  /** With its line break; empty without one. */
  readonly header: string;
  readonly lineOf: (row: Row, zone: TimeZone) => string;
}

function jsonLines(kind: ImportKind): Lines {
  const serialize = EXPORTED[kind].serialize as Lines['lineOf'];
  return { header: '', lineOf: (row, zone) => `${serialize(row, zone)}\n` };
}

function csvLines(kind: ImportKind, labels: Language | undefined): Lines {
  const columns = exportColumns(kind, labels) as readonly ExportColumn<Row>[];
  return {
    header: formatCsvRow(columns.map(({ name }) => name)),
    lineOf: (row, zone) => formatCsvRow(columns.map(({ read }) => asTextCell(read(row, zone) ?? ''))),
  };
}
