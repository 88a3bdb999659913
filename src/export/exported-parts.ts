/** What the files of an export hold, a part at a time. */
import { setImmediate } from 'node:timers/promises';
import type { TimeZone } from '../domain/values/date-time.ts';
import type { Language } from '../language/language.ts';
import type { ExportFilter, ExportSnapshot } from '../store/contract/exports.ts';
import type { ImportKind } from '../store/contract/import/import-session.ts';
import { exportBlocks } from './export-blocks.ts';
import type { FileFormat } from './export-request.ts';
import { workbookOf } from './workbook.ts';

export interface ExportedFile {
  readonly kind: ImportKind;
  /** A workbook takes MOST_WORKBOOK_ROWS; its caller counts them. */
  readonly format: FileFormat;
  /** For people: the language of the headings and choices of a CSV file or a workbook. */
  readonly labels?: Language | undefined;
}

/** @param onRows takes how many rows were read since the last call */
export async function exportedParts(
  snapshot: ExportSnapshot,
  { kind, format, labels }: ExportedFile,
  filter: ExportFilter,
  zone: TimeZone,
  onRows: (rows: number) => void = () => {},
): Promise<AsyncIterable<Uint8Array>> {
  return format === 'xlsx' ? workbookOf(kind, countedRows(), zone, labels) : texts(format);

  async function* texts(textFormat: Exclude<FileFormat, 'xlsx'>): AsyncGenerator<Uint8Array> {
    for (const block of exportBlocks(snapshot, { kind, format: textFormat, filter, labels }, zone)) {
      onRows(block.rows);
      yield block.bytes;
      // A signal is noticed between two blocks.
      await setImmediate();
    }
  }

  function* countedRows() {
    for (const row of snapshot.rows(kind, filter)) {
      onRows(1);
      yield row;
    }
  }
}
