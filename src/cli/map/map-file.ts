/** Map documents on the disk. */
import { existsSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { isMapDocument } from '../../import/map/map-json.ts';
import { systemCodeOf } from '../../runtime/system-code.ts';
import type { Storage } from '../../store/ports/storage.ts';
import { CommandError, EXIT } from '../terminal/context.ts';
import { assertFolderOf, statOf } from '../terminal/options.ts';

/** A larger file was not meant. */
const MAX_MAP_BYTES = 1024 * 1024;

/** @throws CommandError `usage` */
export function readMapFile(path: string): string {
  const refuse = (text: string) => new CommandError(EXIT.usage, text);
  try {
    if (statOf(path).size > MAX_MAP_BYTES) throw refuse(`${path} is too large for a map.`);
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    if (error instanceof TypeError) throw refuse(`${path} is not UTF-8. Save it again as UTF-8.`);
    const reason = systemCodeOf(error);
    if (reason === undefined) throw error;
    throw refuse(`${path} cannot be read (${reason}).`);
  }
}

/**
 * Refuses a path at which a map must not be written: only an earlier map and an empty file are replaced.
 * @param source the file that the map is for
 * @throws CommandError `usage`
 */
export function assertMapPath(path: string, { source, storage }: { source: string; storage: Storage }): void {
  const refuse = (reason: string) =>
    new CommandError(EXIT.usage, `${path} ${reason}. Choose another file for --out.`);
  assertFolderOf(path);
  if (storage.ownsFile(path)) throw refuse('is a file of the registry');
  if (!existsSync(path)) return;
  const { size } = statSync(path);
  if (!statSync(path).isFile()) throw refuse('is not a file');
  if (realpathSync(path) === realpathSync(source)) throw refuse('is the file that the map is for');
  if (size > MAX_MAP_BYTES || (size > 0 && !isMapDocument(readMapFile(path))))
    throw refuse('already exists and is not a map');
}

/** @throws CommandError `usage` when the operating system refuses it */
export function writeMapFile(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    const reason = systemCodeOf(error);
    if (reason === undefined) throw error;
    throw new CommandError(
      EXIT.usage,
      `${path} cannot be written (${reason}). Choose another file for --out.`,
    );
  }
}
