/** What the files of an export hold, a part at a time. */
import { setImmediate } from 'node:timers/promises';
import type { TimeZone } from '../../domain/values/date-time.ts';
import { exportBlocks } from '../../export/export-blocks.ts';
import { MOST_WORKBOOK_ROWS, workbookOf } from '../../export/workbook.ts';
import type { ExportFilter, ExportSnapshot } from '../../store/ports/exports.ts';
import type { ImportKind } from '../../store/ports/import/import-session.ts';
import { CommandError, EXIT } from '../terminal/context.ts';
import type { FileFormat } from './export-files.ts';

/**
 * @param onRows takes how many rows were read since the last call
 * @throws CommandError `refused` for too many rows of a workbook
 */
export async function exportedParts(
  snapshot: ExportSnapshot,
  { kind, format }: { readonly kind: ImportKind; readonly format: FileFormat },
  filter: ExportFilter,
  zone: TimeZone,
  onRows: (rows: number) => void,
): Promise<AsyncIterable<Uint8Array>> {
  if (format !== 'xlsx') return texts();
  const rows = snapshot.count(kind, filter);
  if (rows > MOST_WORKBOOK_ROWS)
    throw new CommandError(
      EXIT.refused,
      `These are ${rows} ${kind}, and a workbook takes ${MOST_WORKBOOK_ROWS}. ` +
        'Choose one cooperative with --cooperative, or --format csv.',
    );
  return workbookOf(kind, countedRows(), zone);

  async function* texts(): AsyncGenerator<Uint8Array> {
    for (const block of exportBlocks(snapshot, { kind, format: format as 'csv', filter }, zone)) {
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
