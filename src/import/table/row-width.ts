/** How many cells a row may have. */

import type { SourceFormat } from '../formats/source/records.ts';
import type { Header } from './header.ts';

/**
 * Whether a row has too few cells for the columns with a heading, or too many for the header. In a text, even
 * an empty cell is too many, unless the header itself ends with one: a separator within a value, as in
 * `12,500`, has moved the other values. In a workbook a row ends with its last value.
 */
export function createWidthCheck(
  { headings }: Header,
  format: SourceFormat,
): (cells: readonly string[]) => boolean {
  const width = headings.length;
  const namedWidth = headings.findLastIndex(({ text }) => text !== '') + 1;
  const mayBeLonger = format.type !== 'text' || namedWidth < width;
  return (cells) => {
    if (cells.length === width) return false;
    if (cells.length < namedWidth) return format.type === 'text';
    return cells.length > width && (!mayBeLonger || cells.slice(width).some((cell) => cell.trim() !== ''));
  };
}
