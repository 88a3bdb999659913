/** Lines without quotes → their records. Cutting them at the separators takes half of csv-parse's time. */
import type { FileRecord } from '../source/records.ts';
import { splitLines } from './line-ends.ts';

/**
 * @param linesBefore lines of the file before these
 * @returns also how many lines the text has
 */
export function readPlainLines(
  text: string,
  separator: string,
  linesBefore: number,
): { records: FileRecord[]; lines: number } {
  const lines = splitLines(text);
  const records: FileRecord[] = [];
  for (let i = 0; i < lines.length; i++) {
    if (lines[i] === '') continue;
    const cells = (lines[i] as string).split(separator);
    // Rows of separators only are what spreadsheets leave behind the last one.
    if (cells.some((cell) => cell.trim() !== '')) records.push({ line: linesBefore + i + 1, cells });
  }
  return { records, lines: lines.length };
}
