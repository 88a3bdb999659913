/** The files that an export writes: new ones, that only their owner can read. */

import { closeSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { extname } from 'node:path';
import { FILE_FORMATS, type FileFormat } from '../../export/export-request.ts';
import { createPrivateFolder, openPrivateFile } from '../../runtime/new-files.ts';
import { CommandError, EXIT } from '../terminal/context.ts';
import { refusing } from '../terminal/places.ts';

/** The format that the name of a file says, else CSV. */
export function formatOf(path: string): FileFormat {
  const ending = extname(path).slice(1).toLowerCase();
  return FILE_FORMATS.find((format) => format === ending) ?? 'csv';
}

/** @throws CommandError `refused` when the system refuses it */
export const createPlace = (folder: string): Promise<void> =>
  refusing(refused(folder), () => createPrivateFolder(folder));

/** Another name until it is complete: what a killed export leaves must not be taken for all rows. */
const INCOMPLETE = '.part';

/** @throws CommandError `refused` when the disk takes no more; nothing is left then */
export async function writePrivately(
  path: string,
  parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const incomplete = path + INCOMPLETE;
  const descriptor = await refusing(refused(path), () => {
    rmSync(incomplete, { force: true });
    return openPrivateFile(incomplete);
  });
  try {
    for await (const part of parts) await refusing(refused(path), () => writeFileSync(descriptor, part));
    await refusing(refused(path), () => renameSync(incomplete, path));
  } catch (error) {
    rmSync(incomplete, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

const refused = (path: string) => (code: string) =>
  new CommandError(EXIT.refused, `${path} cannot be written (${code}).`);
