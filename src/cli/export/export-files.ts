/** The files that an export writes: new ones, that only their owner can read. */
import { closeSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { extname } from 'node:path';
import { FILE_FORMATS, type FileFormat } from '../../export/export-request.ts';
import { createPrivateFolder, openPrivateFile } from '../../runtime/new-files.ts';
import { systemCodeOf } from '../../runtime/system-code.ts';
import type { Storage } from '../../store/ports/storage.ts';
import { CommandError, EXIT } from '../terminal/context.ts';
import { assertFolderOf } from '../terminal/options.ts';

/** The format that the name of a file says, else CSV. */
export function formatOf(path: string): FileFormat {
  const ending = extname(path).slice(1).toLowerCase();
  return FILE_FORMATS.find((format) => format === ending) ?? 'csv';
}

/** @throws CommandError `usage` for a path where nothing new can be written */
export function assertPlace(path: string, storage: Pick<Storage, 'ownsFile'>): void {
  const refuse = (reason: string) => new CommandError(EXIT.usage, `${path} ${reason}. Choose another --out.`);
  if (storage.ownsFile(path)) throw refuse('is a file of the registry');
  if (existsSync(path)) throw refuse('exists already');
  assertFolderOf(path);
}

/** @throws CommandError `refused` when the system refuses it */
export function createPlace(folder: string): void {
  refusing(folder, () => createPrivateFolder(folder));
}

/** Another name until it is complete: what a killed export leaves must not be taken for all rows. */
const INCOMPLETE = '.part';

/** @throws CommandError `refused` when the disk takes no more; nothing is left then */
export async function writePrivately(path: string, parts: AsyncIterable<Uint8Array>): Promise<void> {
  const incomplete = path + INCOMPLETE;
  const descriptor = refusing(path, () => {
    rmSync(incomplete, { force: true });
    return openPrivateFile(incomplete);
  });
  try {
    for await (const part of parts) refusing(path, () => writeFileSync(descriptor, part));
    refusing(path, () => renameSync(incomplete, path));
  } catch (error) {
    rmSync(incomplete, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

function refusing<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const reason = systemCodeOf(error);
    throw reason === undefined
      ? error
      : new CommandError(EXIT.refused, `${path} cannot be written (${reason}).`);
  }
}
