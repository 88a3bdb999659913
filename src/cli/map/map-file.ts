/** Map documents on the disk. */
import { readFileSync, writeFileSync } from 'node:fs';
import { isMapDocument } from '../../import/map/map-json.ts';
import { CommandError, EXIT } from '../terminal/context.ts';
import { refusing, statOf } from '../terminal/places.ts';

/** A larger file was not meant. */
const MAX_MAP_BYTES = 1024 * 1024;

/** @throws CommandError `usage` */
export async function readMapFile(path: string): Promise<string> {
  const refuse = (text: string) => new CommandError(EXIT.usage, text);
  if (statOf(path).size > MAX_MAP_BYTES) throw refuse(`${path} is too large for a map.`);
  const bytes = await refusing(
    (code) => refuse(`${path} cannot be read (${code}).`),
    () => readFileSync(path),
  );
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refuse(`${path} is not UTF-8. Save it again as UTF-8.`);
  }
}

/** Whether the file is an earlier map or empty, and so may be replaced. */
export async function isReplaceableMap(path: string): Promise<boolean> {
  const { size } = statOf(path);
  return size === 0 || (size <= MAX_MAP_BYTES && isMapDocument(await readMapFile(path)));
}

/** @throws CommandError `usage` when the operating system refuses it */
export const writeMapFile = (path: string, text: string): Promise<void> =>
  refusing(
    (code) =>
      new CommandError(EXIT.usage, `${path} cannot be written (${code}). Choose another file for --out.`),
    () => writeFileSync(path, text),
  );
