/** Numbers and dates of workbooks, as the texts that a text file would have in their place. */
import { DAY_SECONDS } from '../../values/date-time.ts';
import { formatDecimal } from '../../values/decimal.ts';

/** Day 0 of the two date systems. */
const EPOCH_1900 = Date.UTC(1899, 11, 30) / 1000;

const EPOCH_1904 = Date.UTC(1904, 0, 1) / 1000;

/** 9999-12-31, the last day that Excel knows. */
const LAST_DAY = 2_958_465;

/**
 * @param serial days since the first one, with the time as the fraction
 * @returns `2024-03-31`, `2024-03-31T08:30:00` or, without a day, `08:30:00`, rounded to the second;
 *   undefined if it is not a date
 */
export function dateText(serial: number, is1904: boolean): string | undefined {
  if (serial < 0 || serial >= LAST_DAY + 1) return undefined;
  const seconds = Math.round(serial * DAY_SECONDS);
  if (serial < 1) return isoOf(seconds).slice(11);
  if (is1904) return withoutMidnight(isoOf(EPOCH_1904 + seconds));
  const day = Math.floor(seconds / DAY_SECONDS);
  // Excel has a 29 February 1900, so the days before it are counted from one day later.
  if (day === 60) return withoutMidnight(`1900-02-29${isoOf(seconds).slice(10)}`);
  return withoutMidnight(isoOf(EPOCH_1900 + seconds + (day < 60 ? DAY_SECONDS : 0)));
}

const isoOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 19);

/** Removes a time of midnight: a day is written without it, and a date-time is read the same. */
const withoutMidnight = (text: string): string => text.replace(/T00:00:00$/, '');

/** Rounds an ISO date-time, which cells of type date contain: `2024-03-31T08:30:00.999`. */
export function roundedDate(text: string): string {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?$/.test(text)) return text;
  const ms = Date.parse(text.endsWith('Z') ? text : `${text}Z`);
  return Number.isNaN(ms) ? text : withoutMidnight(isoOf(Math.round(ms / 1000)));
}

/**
 * The digits that Excel shows, at most 15: 0.1 + 0.2, which is stored as 0.30000000000000004, is 0.3. An
 * integer keeps all.
 * @returns the digits with a point before the decimals and without an exponent; undefined if it is not a
 *   number
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

/** A percentage with its sign: a bare 0.05 would be read as a twentieth of a per cent. */
export const percentText = (value: number): string | undefined => {
  const text = numberText(Number((value * 100).toPrecision(15)));
  return text === undefined ? undefined : `${text}%`;
};

/** Rounds the digits of a number or percentage as spreadsheets do: halves away from zero. */
export function roundText(text: string, fractionDigits: number): string {
  const [, sign = '', digits = '', percent = ''] = /^(-?)([0-9.]+)(%?)$/.exec(text) ?? [];
  const units = Math.round(Number(`${digits}e${fractionDigits}`));
  return `${sign}${fractionDigits === 0 ? units : formatDecimal(units, fractionDigits)}${percent}`;
}

/** Number of digits after the point of a number or percentage. */
export function fractionDigitsOf(text: string): number {
  const point = text.indexOf('.');
  return point < 0 ? 0 : text.length - point - (text.endsWith('%') ? 2 : 1);
}
