/** What stands for nothing, and what spreadsheets wrap around a text (docs/import-reference.md#notes). */

/** No value is as long, with the spaces around it; a longer cell is looked at no further. */
export const MAX_CELL_CHARACTERS = 1_000;

/** A trimmed cell; empty for one that no column takes. @param place -1 for a column that the file lacks */
export function trimmedCell(cells: readonly string[], place: number): string {
  const cell = cells[place] ?? '';
  return cell.length > MAX_CELL_CHARACTERS ? '' : cell.trim();
}

/** The text in a cell; empty where there is no value. @param place -1 for a column that the file lacks */
export function valueIn(cells: readonly string[], place: number): string {
  const text = unwrapText(trimmedCell(cells, place));
  return isEmptyWord(text) ? '' : text;
}

const LONGEST = 6;
const EMPTY_WORDS = new Set([
  '-',
  '--',
  '---',
  '–',
  '—',
  'n/a',
  'n.a.',
  'néant',
  'neant',
  'ntabyo',
  'nta',
  'ntayo',
]);

/** Whether a cell says that there is no value. */
export const isEmptyWord = (cell: string): boolean =>
  cell.length <= LONGEST && EMPTY_WORDS.has(cell.normalize('NFC').toLowerCase());

const FORMULA_TEXT = /^="(.*)"$/s;
const APOSTROPHE_TEXT = /^'(?=[0-9+=-])/;

/** Whether a cell says that it is a text, whatever the text looks like. */
export const isFormulaText = (cell: string): boolean => FORMULA_TEXT.test(cell);

/** The text in `="…"`, or behind an apostrophe that keeps digits a text; any other cell as it is. */
export function unwrapText(cell: string): string {
  const formula = FORMULA_TEXT.exec(cell)?.[1];
  if (formula !== undefined) return formula.replaceAll('""', '"').trim();
  return APOSTROPHE_TEXT.test(cell) ? cell.slice(1).trim() : cell;
}

/** A text as a cell that is read as this text. Most are their own cells. */
export const asTextCell = (text: string): string =>
  mayBeSpecial(text) && (isEmptyWord(text) || unwrapText(text) !== text)
    ? `="${text.replaceAll('"', '""')}"`
    : text;

/** Whether a cell may be one of these. Most cells are dismissed by their first character. */
export function mayBeSpecial(cell: string): boolean {
  const first = cell.charCodeAt(0);
  // Apostrophe and minus are below the digits; equals sign, N, n, dashes.
  return first < 0x30 || first === 0x3d || first === 0x4e || first === 0x6e || first > 0x2000;
}
