/** What single cells show of their column: a national ID, a date and its order, a number, a person's name. */
import { isIdentityCard } from '../../domain/membership/identity-card.ts';
import { isEmptyWord, trimmedCell, unwrapText } from '../cells/blanks.ts';
import { SPACES } from '../cells/spaces.ts';

/** The value in a cell; empty where there is none. */
export function valueIn(cells: readonly string[], place: number): string {
  const text = unwrapText(trimmedCell(cells, place));
  return isEmptyWord(text) ? '' : text;
}

export const isNationalId = (cell: string): boolean => isIdentityCard(cell.replace(SPACES, ''));

const NAME = /^\p{L}[\p{L}\p{M}'’.-]*(?:\s+\p{L}[\p{L}\p{M}'’.-]*){1,5}$/u;

/** Two to six words of letters. */
export const isPersonsName = (cell: string): boolean => NAME.test(cell);

const YEAR_LAST = /^([0-9]{1,2})([/.-])([0-9]{1,2})\2([0-9]{4})(?![0-9])/;
const YEAR_FIRST = /^([0-9]{4})([/.-])([0-9]{1,2})\2([0-9]{1,2})(?![0-9])/;
const ISO = /^[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])/;

export interface DateSigns {
  readonly year: number;
  /** `iso` can be read in one way only. */
  readonly form: 'iso' | 'year first' | 'year last';
  /** Of a date with the year last. */
  readonly first: number;
  readonly second: number;
  /** Whether the order must be known: only two digits each are read as day first. */
  readonly hasOneDigit: boolean;
}

/** Undefined for what is not a date by day, month and year. */
export function dateSigns(cell: string): DateSigns | undefined {
  const last = YEAR_LAST.exec(cell);
  if (last !== null) {
    const [, first = '', , second = '', year = ''] = last;
    const [a, b] = [Number(first), Number(second)];
    if (!isDayAndMonth(a, b) && !isDayAndMonth(b, a)) return undefined;
    // Either order is the same date where both are equal.
    const hasOneDigit = (first.length === 1 || second.length === 1) && a !== b;
    return { year: Number(year), form: 'year last', first: a, second: b, hasOneDigit };
  }
  const [, year = '', , month = '', day = ''] = YEAR_FIRST.exec(cell) ?? [];
  if (year === '' || !isDayAndMonth(Number(day), Number(month))) return undefined;
  const form = ISO.test(cell) ? 'iso' : 'year first';
  return { year: Number(year), form, first: 0, second: 0, hasOneDigit: false };
}

const isDayAndMonth = (day: number, month: number): boolean =>
  day >= 1 && day <= 31 && month >= 1 && month <= 12;

const COMMA_DECIMALS = /^-?[0-9]{1,3}(?:[ .\u00a0\u202f]?[0-9]{3})*,[0-9]{1,2}$|^-?[0-9]+,[0-9]{1,2}$/;
const POINT_DECIMALS = /^-?[0-9]{1,3}(?:[ ,\u00a0\u202f]?[0-9]{3})*\.[0-9]{1,2}$|^-?[0-9]+\.[0-9]{1,2}$/;
const COMMA_THREE = /^[0-9]{1,3},[0-9]{3}$/;
const POINT_THREE = /^[0-9]{1,3}\.[0-9]{3}$/;

/** What a number shows of the decimal mark. A mark before three digits may separate thousands as well. */
export function decimalSign(
  cell: string,
): ',' | '.' | 'comma before three' | 'point before three' | undefined {
  if (COMMA_DECIMALS.test(cell)) return ',';
  if (POINT_DECIMALS.test(cell)) return '.';
  if (COMMA_THREE.test(cell)) return 'comma before three';
  return POINT_THREE.test(cell) ? 'point before three' : undefined;
}
