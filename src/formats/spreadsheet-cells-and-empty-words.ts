/**
 * Recognises cells that mean no value (`n/a`). Removes the `="…"` or apostrophe that spreadsheets add to a
 * text (docs/import-reference.md#notes). Writes cells that spreadsheets do not change.
 */

import { say, type Text } from '../values/message.ts';

/** Maximum length of a cell, including the spaces around the text. No valid value is longer. */
export const MAX_CELL_CHARACTERS = 1_000;

/** Returns a trimmed cell; empty for a cell that is too long. @param place -1 if the file lacks the column */
export function trimmedCell(cells: readonly string[], place: number): string {
  const cell = cells[place] ?? '';
  return cell.length > MAX_CELL_CHARACTERS ? '' : cell.trim();
}

/** Returns the unwrapped text of a cell; empty if the cell has no value. A `place` of -1 means no column. */
export function valueIn(cells: readonly string[], place: number): string {
  const text = unwrapText(trimmedCell(cells, place));
  return isEmptyWord(text) || isErrorText(text) ? '' : text;
}

/** Formula errors, such as `#REF!`, as spreadsheets show them in English and French. */
const ERROR = new RegExp(
  '^(?:#(?:(?:REF|DIV/0|VALUE|VALEUR|NUM|NOMBRE|NULL|NUL|SPILL|CALC|FIELD|BLOCKED|CONNECT)\\s?!|' +
    '(?:NAME|NOM)\\s?\\?|N/[AD]|GETTING_DATA)|Err ?: ?[0-9]{3})$',
  'i',
);

export function isErrorText(text: string): boolean {
  const first = text.charCodeAt(0);
  return (first === 0x23 || first === 0x45) && ERROR.test(text);
}

/** @param text text of the cell; the message shows `#?` unless the text is a known error */
export const cellError = (text: string): Text =>
  say('This cell shows {error}, the error of a formula. Correct the formula in the spreadsheet.', {
    error: isErrorText(text) ? text : '#?',
  });

const LONGEST = 6;
const EMPTY_WORDS = new Set('- -- --- – — n/a n.a. néant neant ntabyo nta ntayo'.split(' '));

/** True for a cell such as `-` or `n/a`, in any letter case, which means that there is no value. */
export const isEmptyWord = (cell: string): boolean =>
  cell.length <= LONGEST && EMPTY_WORDS.has(cell.normalize('NFC').toLowerCase());

const FORMULA_TEXT = /^="(.*)"$/s;
const APOSTROPHE_TEXT = /^'(?=[0-9+=-])/;

/** True for a cell such as `="0042"`, which marks its content as text. */
export const isFormulaText = (cell: string): boolean => FORMULA_TEXT.test(cell);

/** Removes `="…"` around a text, or an apostrophe before a digit or sign. Returns other cells unchanged. */
export function unwrapText(cell: string): string {
  const formula = FORMULA_TEXT.exec(cell)?.[1];
  if (formula !== undefined) return formula.replaceAll('""', '"').trim();
  return APOSTROPHE_TEXT.test(cell) ? cell.slice(1).trim() : cell;
}

/** False if neither `isEmptyWord` nor `unwrapText` can apply. Tests only the first character. */
export function mayBeSpecial(cell: string): boolean {
  const first = cell.charCodeAt(0);
  // Apostrophe and minus sort before the digits. The other codes are the equals sign, N, n and dashes.
  return first < 0x30 || first === 0x3d || first === 0x4e || first === 0x6e || first > 0x2000;
}

/** Returns a cell that an import reads as this text. Wraps the text only if necessary. */
export const asTextCell = (text: string): string =>
  isErrorText(text) || (mayBeSpecial(text) && (isEmptyWord(text) || unwrapText(text) !== text))
    ? `="${text.replaceAll('"', '""')}"`
    : text;

/**
 * Returns a cell that Excel does not change. A formula marks digits as text where Excel would otherwise
 * remove leading zeros or round the number.
 * @param isNumber true if a workbook stores the cell as a number
 */
export function keptAsText(cell: string, isNumber: boolean, isIdentityCard: boolean): string {
  if (/^0\d+$/.test(cell) || (!isNumber && /^\d{12,}$/.test(cell))) return `="${cell}"`;
  if (!isNumber) return cell;
  // A workbook that stores a national ID as a number has lost digits. The exponent shows the loss.
  return isIdentityCard && /^\d{12,}$/.test(cell) ? Number(cell).toExponential().toUpperCase() : cell;
}
