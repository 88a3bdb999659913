/** A cell as it is stored → its text. */
import { UnreadableWorkbook } from './archive.ts';
import { dateText, numberText, percentText, roundedDate } from './number-formats.ts';
import { unescapeText, type Workbook } from './parts.ts';

export interface StoredCell {
  /** Such as `B7`. */
  readonly place: string | undefined;
  /** ECMA-376 part 1, 18.18.11: `n` number, `s` shared text, `str` text of a formula, and others. */
  readonly type: string;
  /** Index of its style. */
  readonly style: number | undefined;
  value: string;
  inlineText: string;
  hasValue: boolean;
  hasFormula: boolean;
}

/**
 * @returns also whether the cell is stored as a number, a date excepted
 * @throws UnreadableWorkbook for a shared text that there is not
 */
export function cellText(cell: StoredCell, workbook: Workbook): { text: string; isNumber: boolean } {
  if (cell.type === 'n') return numericText(cell, workbook);
  return { text: typedText(cell, workbook), isNumber: false };
}

function typedText({ type, value, inlineText }: StoredCell, { texts }: Workbook): string {
  switch (type) {
    case 's': {
      const text = value === '' ? '' : texts[Number(value)];
      if (text === undefined) throw new UnreadableWorkbook();
      return text;
    }
    case 'inlineStr':
      return unescapeText(inlineText);
    case 'b':
      return value === '' ? '' : ['1', 'true'].includes(value) ? 'TRUE' : 'FALSE';
    case 'd':
      return roundedDate(value);
    default:
      return unescapeText(value);
  }
}

function numericText({ value, style }: StoredCell, { styles, is1904 }: Workbook) {
  const stored = value.trim();
  if (stored === '') return { text: '', isNumber: false };
  const number = Number(stored);
  const shownAs = style === undefined ? 'number' : (styles[style] ?? 'number');
  const date = shownAs === 'date' ? dateText(number, is1904) : undefined;
  if (date !== undefined) return { text: date, isNumber: false };
  const text = shownAs === 'percent' ? percentText(number) : numberText(number);
  return { text: text ?? stored, isNumber: text !== undefined };
}
