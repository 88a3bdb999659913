/** Tables of documents, in Markdown. */
import { readFileSync } from 'node:fs';

export const code = (text: string): string => `\`${text}\``;

export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(headings), `|${'---|'.repeat(headings.length)}`, ...rows.map(line)].join('\n');
}

/** A line for each term, with what it means. */
export const list = (rows: readonly (readonly string[])[]): string =>
  rows.map((cells) => `- ${cells.join(': ')}`).join('\n');

/** The cells of the rows of a document's table, found by its first heading. @throws Error if there is none */
export function rowsOf(document: string, heading: string): string[][] {
  const lines = readFileSync(new URL(`../../${document}`, import.meta.url), 'utf8').split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${heading} |`));
  if (start === -1) throw new Error(`${document} has no table with the heading "${heading}".`);
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'));
  return lines.slice(start + 2, end).map((line) => line.slice(2, -2).split(' | '));
}
