/** Formats rows as CSV. */

/** One line with its line end, separated by commas. */
export const formatCsvRow = (cells: readonly string[]): string => formatRow(cells, ',');

/** One line with its line end. Cells with a separator, a quote or a line end are quoted. */
export const formatRow = (cells: readonly string[], separator: string): string =>
  `${cells.map((cell) => formatCell(cell, separator)).join(separator)}\n`;

const formatCell = (cell: string, separator: string): string =>
  /[",;\r\n]/.test(cell) || cell.includes(separator) ? `"${cell.replaceAll('"', '""')}"` : cell;
