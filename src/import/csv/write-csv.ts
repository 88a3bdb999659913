/** Rows → CSV text, as spreadsheets read it whatever their separator. */

/** One line with its line end. A cell is quoted where it holds a separator, a quote or a line end. */
export const formatCsvRow = (cells: readonly string[]): string => `${cells.map(formatCell).join(',')}\n`;

const formatCell = (cell: string): string =>
  /[",;\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
