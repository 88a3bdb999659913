/**
 * The lists that an import writes beside its output: every value that it changes, and the rows that a newer
 * version of a file no longer has. They may hold national IDs, so they are readable by their owner only.
 */
import { open, rm } from 'node:fs/promises';
import type { TimeZone } from '../../domain/values/date-time.ts';
import type { ImportKind, StagedChange, StagedValue } from '../../store/contract/import/import-session.ts';
import { IMPORT_COLUMNS } from '../columns/columns.ts';
import { formatStored } from '../columns/stored-values.ts';
import { formatCsvRow } from '../formats/csv/write-csv.ts';

/** A write for each row would cost more than the row. */
const WRITE_CHARACTERS = 64 * 1024;

export interface ListFormat<Row> {
  readonly columns: readonly string[];
  readonly cells: (row: Row) => readonly (string | null)[];
}

/** `line,row,column,old,new` */
export const changesFormat = (zone: TimeZone): ListFormat<StagedChange> => ({
  columns: ['line', 'row', 'column', 'old', 'new'],
  cells: ({ line, row, column, old, new: next }) => [
    ...[String(line), row, column],
    ...[old, next].map((value) => formatStored(column, value, zone)),
  ],
});

/** The columns of the kind, so that the rows can be completed and imported. */
export function absentFormat(kind: ImportKind, zone: TimeZone): ListFormat<readonly StagedValue[]> {
  const columns = IMPORT_COLUMNS[kind].map(({ name }) => name);
  return {
    columns,
    cells: (values) => values.map((value, i) => formatStored(columns[i] as string, value, zone)),
  };
}

export interface ListFile<Row> {
  /**
   * Appends the rows of a file, after a header of their own.
   * @throws the system's error when the disk takes no more
   */
  append(rows: Iterable<Row>): Promise<void>;
  /** Closes the file, and removes it when nothing was listed. */
  close(): Promise<void>;
}

/**
 * Whether a file may be replaced by a new list: it is empty, or starts with the header of one.
 * @throws the system's error when it cannot be read
 */
export async function isListFile(path: string, { columns }: ListFormat<never>): Promise<boolean> {
  const header = formatCsvRow([...columns]);
  const handle = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(header.length), 0);
    return bytesRead === 0 || buffer.toString('utf8', 0, bytesRead) === header;
  } finally {
    await handle.close();
  }
}

/** @throws the system's error, also when there is such a file already */
export async function createListFile<Row>(path: string, format: ListFormat<Row>): Promise<ListFile<Row>> {
  const handle = await open(path, 'wx', 0o600);
  let isEmpty = true;
  return {
    async append(rows) {
      let pending = formatCsvRow([...format.columns]);
      let isFirst = true;
      for (const row of rows) {
        isFirst = false;
        pending += formatCsvRow(format.cells(row).map((cell) => cell ?? ''));
        if (pending.length < WRITE_CHARACTERS) continue;
        await handle.writeFile(pending);
        pending = '';
      }
      if (isFirst) return;
      isEmpty = false;
      await handle.writeFile(pending);
    },
    async close() {
      await handle.close();
      if (isEmpty) await rm(path, { force: true });
    },
  };
}
