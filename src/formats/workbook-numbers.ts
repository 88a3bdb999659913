// Numbers of a workbook, as the texts that a text file would have in their place

/** Meaning that the format of a cell gives its number. */
export type NumberStyle = 'number' | 'date' | 'percent';

/** Date formats that a workbook does not spell out (ECMA-376 part 1, 18.8.30); 27 to 58 in Asian editions. */
const isBuiltInDate = (id: number): boolean =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || id === 45 || id === 47 || (id >= 50 && id <= 58);

const isBuiltInPercent = (id: number): boolean => id === 9 || id === 10;

/** The limit of Excel. */
const MAX_CODE_CHARACTERS = 255;

/**
 * @param id of the format
 * @param code as the workbook spells it out, such as `dd/mm/yyyy hh:mm`
 */
export function numberStyleOf(id: number, code: string | undefined): NumberStyle {
  if (code !== undefined && code.length > MAX_CODE_CHARACTERS) return 'number';
  if (code === undefined) {
    if (isBuiltInDate(id)) return 'date';
    return isBuiltInPercent(id) ? 'percent' : 'number';
  }
  // The format of positive numbers, without texts, escaped characters, padding and fill characters.
  const [shown = ''] = code.replace(/"[^"]*"|\\.|[_*]./g, '').split(';');
  // [h]:mm counts elapsed hours and is not a time of day.
  if (/\[(?:h+|m+|s+)\]/i.test(shown)) return 'number';
  const plain = shown.replace(/\[[^\]]*\]/g, '');
  if (/^\s*general\s*$/i.test(plain)) return 'number';
  if (/[dmyhs]/i.test(plain)) return 'date';
  return plain.includes('%') ? 'percent' : 'number';
}

const DAY_SECONDS = 86_400;

/** Day 0 of the two date systems. */
const EPOCH_1900 = Date.UTC(1899, 11, 30) / 1000;

const EPOCH_1904 = Date.UTC(1904, 0, 1) / 1000;

/** 9999-12-31, the last day that Excel knows. */
const MAX_DAY = 2_958_465;

/**
 * @param serial days since the first one, with the time as the fraction
 * @returns `2024-03-31`, `2024-03-31T08:30:00` or, without a day, `08:30:00`, rounded to the second;
 *   undefined if it is not a date
 */
export function dateText(serial: number, is1904: boolean): string | undefined {
  if (serial < 0 || serial >= MAX_DAY + 1) return undefined;
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

/** A percentage as it is shown, because 0.05 would be read as something else than 5%. */
export const percentText = (value: number): string | undefined => {
  const text = numberText(Number((value * 100).toPrecision(15)));
  return text === undefined ? undefined : `${text}%`;
};
