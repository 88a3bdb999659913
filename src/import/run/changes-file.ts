/**
 * Every value that an import changes, as `line,row,column,old,new`. It may hold national IDs, so it is
 * readable by its owner only.
 */
import { open, rm } from 'node:fs/promises';
import type { TimeZone } from '../../domain/values/date-time.ts';
import type { StagedChange } from '../../store/ports/import/import-session.ts';
import { formatStored } from '../columns/stored-values.ts';
import { formatCsvRow } from '../formats/csv/write-csv.ts';

const HEADER = formatCsvRow(['line', 'row', 'column', 'old', 'new']);
/** A write for each change would cost more than the change. */
const WRITE_CHARACTERS = 64 * 1024;

export interface ChangesFile {
  /**
   * Appends the changes of a file, after a header of their own.
   * @throws the system's error when the disk takes no more
   */
  append(changes: AsyncIterable<StagedChange>): Promise<void>;
  /** Closes the file, and removes it when nothing was changed. */
  close(): Promise<void>;
}

/**
 * Whether a file may be replaced by a new list of changes: it is empty, or starts with the header of one.
 * @throws the system's error when it cannot be read
 */
export async function isChangesFile(path: string): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER.length), 0);
    return bytesRead === 0 || buffer.toString('utf8', 0, bytesRead) === HEADER;
  } finally {
    await handle.close();
  }
}

/** @throws the system's error, also when there is such a file already */
export async function createChangesFile(path: string, zone: TimeZone): Promise<ChangesFile> {
  const handle = await open(path, 'wx', 0o600);
  let isEmpty = true;
  return {
    async append(changes) {
      let pending = HEADER;
      let isFirst = true;
      for await (const { line, row, column, old, new: next } of changes) {
        isFirst = false;
        const values = [old, next].map((value) => formatStored(column, value, zone) ?? '');
        pending += formatCsvRow([String(line), row, column, ...values]);
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
