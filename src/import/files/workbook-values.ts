/** Converts numbers and dates of workbooks to texts like those in a text file. */
import { DAY_SECONDS } from '../../values/date-time.ts';
import { formatDecimal } from '../../values/decimal.ts';

// Day 0 of the date systems that begin in 1900 and in 1904, in epoch seconds.
const EPOCH_1900 = Date.UTC(1899, 11, 30) / 1000;
const EPOCH_1904 = Date.UTC(1904, 0, 1) / 1000;

/** Days from 1899-12-30 to 9999-12-31, the last day in Excel. */
const LAST_DAY = 2_958_465;

/**
 * Converts a number to a date or date-time such as `2024-03-31T08:30:00`, rounded to the second. A number
 * below 1 becomes a time such as `08:30:00`.
 * @param serial days since day 0; the fraction is the time of day
 * @returns undefined for an invalid date
 */
export function dateText(serial: number, is1904: boolean): string | undefined {
  if (serial < 0 || serial >= LAST_DAY + 1) return undefined;
  const seconds = Math.round(serial * DAY_SECONDS);
  if (serial < 1) return isoOf(seconds).slice(11);
  if (is1904) return withoutMidnight(isoOf(EPOCH_1904 + seconds));
  const day = Math.floor(seconds / DAY_SECONDS);
  // Day 60 in Excel is 29 February 1900, which did not exist. Earlier days need a correction of one day.
  if (day === 60) return withoutMidnight(`1900-02-29${isoOf(seconds).slice(10)}`);
  return withoutMidnight(isoOf(EPOCH_1900 + seconds + (day < 60 ? DAY_SECONDS : 0)));
}

const isoOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 19);

/** Removes the time if it is midnight. Columns of date-times read a date as midnight. */
const withoutMidnight = (text: string): string => text.replace(/T00:00:00$/, '');

/**
 * Rounds an ISO date-time such as `2024-03-31T08:30:00.999` to the second. Returns any other text unchanged,
 * including a date that does not exist.
 */
export function roundedDate(text: string): string {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?$/.test(text)) return text;
  const ms = Date.parse(text.endsWith('Z') ? text : `${text}Z`);
  if (Number.isNaN(ms) || isoOf(Math.floor(ms / 1000)) !== text.slice(0, 19)) return text;
  return withoutMidnight(isoOf(Math.round(ms / 1000)));
}

/**
 * Formats a number without an exponent. A number with decimals gets at most 15 digits, as in Excel: 0.1 + 0.2
 * is 0.3, not 0.30000000000000004.
 * @returns undefined for infinity and NaN
 */
export function numberText(value: number): string | undefined {
  if (!Number.isFinite(value)) return undefined;
  const text = String(Number.isInteger(value) ? value : Number(value.toPrecision(15)));
  const [, sign = '', first = '', more = '', exponent = ''] =
    /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? [];
  if (first === '') return text;
  const power = Number(exponent);
  if (power > 0) return `${sign}${(first + more).padEnd(power + 1, '0')}`;
  return `${sign}0.${'0'.repeat(-power - 1)}${first}${more}`;
}

/** Formats a fraction as a percentage. Without the sign, a column of rates would read 0.05 as 0.05 %. */
export const percentText = (value: number): string | undefined => {
  const text = numberText(Number((value * 100).toPrecision(15)));
  return text === undefined ? undefined : `${text}%`;
};

/** Rounds a number or percentage as spreadsheets do: halves away from zero. */
export function roundText(text: string, fractionDigits: number): string {
  const [, sign = '', digits = '', percent = ''] = /^(-?)([0-9.]+)(%?)$/.exec(text) ?? [];
  const units = Math.round(Number(`${digits}e${fractionDigits}`));
  return `${sign}${fractionDigits === 0 ? units : formatDecimal(units, fractionDigits)}${percent}`;
}

export function fractionDigitsOf(text: string): number {
  const point = text.indexOf('.');
  return point < 0 ? 0 : text.length - point - (text.endsWith('%') ? 2 : 1);
}
