/** Formats a row with commas and a line end. */
export const formatCsvRow = (cells: readonly string[]): string => formatRow(cells, ',');

/** Formats a row with a line end. Quotes cells that contain a separator, a quote or a line end. */
export const formatRow = (cells: readonly string[], separator: string): string =>
  `${cells.map((cell) => formatCell(cell, separator)).join(separator)}\n`;

const formatCell = (cell: string, separator: string): string =>
  /[",;\r\n]/.test(cell) || cell.includes(separator) ? `"${cell.replaceAll('"', '""')}"` : cell;
