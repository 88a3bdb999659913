/** Who is on a line of a file, as the file calls them: for the desk, which says it beside what is wrong. */
import { hideIdentityCards } from '../../domain/membership/identity-card.ts';
import { valueIn } from '../../import/cells/blanks.ts';
import { FileFault } from '../../import/formats/source/records.ts';
import type { FileToShow } from './import-output.ts';

const MOST_CHARACTERS = 80;

/** Reads the file once more, up to the last of the lines. @returns names by line, where a row has one */
export async function namesOn(
  lines: ReadonlySet<number>,
  { source, findings: { header } }: Pick<FileToShow, 'source' | 'findings'>,
): Promise<{ readonly [line: number]: string }> {
  const names: { [line: number]: string } = {};
  const placeOf = (name: string) => header?.headings.findIndex(({ column }) => column === name) ?? -1;
  const places = ['full_name', 'first_name', 'last_name'].map(placeOf).filter((place) => place >= 0);
  const last = Math.max(...lines);
  if (header === undefined || lines.size === 0 || places.length === 0) return names;
  try {
    for await (const { records } of source.read()) {
      for (const { line, cells } of records) {
        if (line === header.line || !lines.has(line)) continue;
        const parts = places.map((place) => valueIn(cells, place)).filter((part) => part !== '');
        const name = hideIdentityCards(parts.join(' ')).slice(0, MOST_CHARACTERS);
        if (name !== '') names[line] = name;
      }
      if ((records.at(-1)?.line ?? 0) >= last) break;
    }
  } catch (error) {
    // From a row on it cannot be read, which is among its faults.
    if (!(error instanceof FileFault)) throw error;
  }
  return names;
}
