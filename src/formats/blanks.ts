/**
 * Cells without a value, and the wrapping that spreadsheets put around a text
 * (docs/import-reference.md#notes).
 */

import { say, type Text } from '../values/message.ts';

/** Longest cell that is examined, including spaces: no value is as long. */
export const MAX_CELL_CHARACTERS = 1_000;

/**
 * A trimmed cell; empty if it is too long for any column. @param place -1 for a column that the file lacks
 */
export function trimmedCell(cells: readonly string[], place: number): string {
  const cell = cells[place] ?? '';
  return cell.length > MAX_CELL_CHARACTERS ? '' : cell.trim();
}

/** The text in a cell; empty if there is no value. @param place -1 for a column that the file lacks */
export function valueIn(cells: readonly string[], place: number): string {
  const text = unwrapText(trimmedCell(cells, place));
  return isEmptyWord(text) || isErrorText(text) ? '' : text;
}

/** Errors of formulas, as spreadsheets show them in English and French. */
const ERROR = new RegExp(
  '^(?:#(?:(?:REF|DIV/0|VALUE|VALEUR|NUM|NOMBRE|NULL|NUL|SPILL|CALC|FIELD|BLOCKED|CONNECT)\\s?!|' +
    '(?:NAME|NOM)\\s?\\?|N/[AD]|GETTING_DATA)|Err ?: ?[0-9]{3})$',
  'i',
);

/** True for a text such as `#REF!`. */
export function isErrorText(text: string): boolean {
  const first = text.charCodeAt(0);
  return (first === 0x23 || first === 0x45) && ERROR.test(text);
}

/** @param text of a cell with an error; an unknown one is not shown */
export const cellError = (text: string): Text =>
  say('This cell shows {error}, the error of a formula. Correct the formula in the spreadsheet.', {
    error: isErrorText(text) ? text : '#?',
  });

const LONGEST = 6;
const EMPTY_WORDS = new Set('- -- --- – — n/a n.a. néant neant ntabyo nta ntayo'.split(' '));

/** True for a cell such as `-` or `n/a`, which means that there is no value. */
export const isEmptyWord = (cell: string): boolean =>
  cell.length <= LONGEST && EMPTY_WORDS.has(cell.normalize('NFC').toLowerCase());

const FORMULA_TEXT = /^="(.*)"$/s;
const APOSTROPHE_TEXT = /^'(?=[0-9+=-])/;

/** True for a cell that marks its content as a text, whatever it looks like. */
export const isFormulaText = (cell: string): boolean => FORMULA_TEXT.test(cell);

/** The text in `="…"`, or after an apostrophe that keeps digits a text; any other cell unchanged. */
export function unwrapText(cell: string): string {
  const formula = FORMULA_TEXT.exec(cell)?.[1];
  if (formula !== undefined) return formula.replaceAll('""', '"').trim();
  return APOSTROPHE_TEXT.test(cell) ? cell.slice(1).trim() : cell;
}

/** True for a cell that may be an empty word or a wrapped text. The first character rules out most cells. */
export function mayBeSpecial(cell: string): boolean {
  const first = cell.charCodeAt(0);
  // Apostrophe and minus are below the digits; the others are equals sign, N, n, and dashes.
  return first < 0x30 || first === 0x3d || first === 0x4e || first === 0x6e || first > 0x2000;
}

/** A cell that is read as the given text. Most texts are their own cells. */
export const asTextCell = (text: string): string =>
  isErrorText(text) || (mayBeSpecial(text) && (isEmptyWord(text) || unwrapText(text) !== text))
    ? `="${text.replaceAll('"', '""')}"`
    : text;
