/** Dates (`YYYY-MM-DD` texts) and instants (epoch seconds, shown with the registry's offset). */
import { FieldError } from './errors.ts';

export const DAY_SECONDS = 86_400;

/** Fixed offset, because the country of a registry has no daylight saving time. */
export interface TimeZone {
  readonly offsetSeconds: number;
  /** Offset in ISO 8601, such as `+02:00`. */
  readonly suffix: string;
}

const OFFSET = /^[+-](?:[01][0-9]|2[0-3]):[0-5][0-9]$/;

/** @param text offset such as `+02:00`, `-03:30` or `Z` */
export function parseTimeZone(text: string): TimeZone | FieldError {
  if (text === 'Z') return { offsetSeconds: 0, suffix: '+00:00' };
  if (!OFFSET.test(text)) return new FieldError('Expected an offset such as +02:00.');
  return { offsetSeconds: offsetOf(text), suffix: text };
}

export const KIGALI: TimeZone = { offsetSeconds: 7200, suffix: '+02:00' };

const DATE_ERROR = new FieldError('Date has wrong format. Use one of these formats instead: YYYY-MM-DD.');
const DATE_TIME_ERROR = new FieldError(
  'Datetime has wrong format. Use one of these formats instead: ' +
    'YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
);
export const FUTURE_ERROR = new FieldError('This date is in the future.');

// Dates before this day are typos, because no recorded birth or founding is so old.
const FIRST_DATE = '1850-01-01';
/** First day of the year 10000, in days since 1970-01-01. ISO 8601 has years of four digits. */
const FIRST_DAY_TOO_LATE = Date.UTC(10_000, 0, 1) / 1000 / DAY_SECONDS;

const EARLY_ERROR = new FieldError('Dates before 1850-01-01 are not accepted.');
const LATE_ERROR = new FieldError('Dates after 9999-12-31 are not accepted.');

/** Returns the error of a well-formed date that is too early or too late. */
export const outOfRange = (parsed: string | number | FieldError | undefined): FieldError | undefined =>
  parsed === EARLY_ERROR || parsed === LATE_ERROR ? parsed : undefined;

const DATE = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;
const CLOCK = '([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]|60)(?:[.,][0-9]+)?)?';
const CLOCK_OFFSET = '([Zz]|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])';
/**
 * Accepts RFC 3339 and other forms that Django REST framework accepts: a space before the time, no seconds,
 * no offset, an offset without a colon, a comma before the fraction.
 */
export const DATE_TIME = new RegExp(`^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]${CLOCK}${CLOCK_OFFSET}?$`);

const DATE_LENGTH = 10;
/** A full cache is cleared. A file or response usually has fewer days. */
const MAX_CACHED_DAYS = 4_096;
/** Days since 1970-01-01 by text; undefined for an invalid date. */
const dayNumbers = new Map<string, number | undefined>();

function dayNumber(text: string): number | undefined {
  // A text of another length is not a date, and would fill the cache.
  if (text.length !== DATE_LENGTH) return undefined;
  let day = dayNumbers.get(text);
  if (day !== undefined || dayNumbers.has(text)) return day;
  const parsed = DATE.test(text) ? Date.parse(text) / 1000 / DAY_SECONDS : Number.NaN;
  // Date.parse reads 30 February as a day in March.
  if (!Number.isNaN(parsed) && dayText(parsed) === text) day = parsed;
  if (dayNumbers.size >= MAX_CACHED_DAYS) dayNumbers.clear();
  dayNumbers.set(text, day);
  return day;
}

/** Returns `text` if it is a date `YYYY-MM-DD` in 1850 or later. */
export function parseDate(text: string): string | FieldError {
  if (dayNumber(text) === undefined) return DATE_ERROR;
  return text < FIRST_DATE ? EARLY_ERROR : text;
}

/** @param today `YYYY-MM-DD` */
export function parsePastDate(text: string, today: string): string | FieldError {
  const date = parseDate(text);
  return typeof date === 'string' && date > today ? FUTURE_ERROR : date;
}

/**
 * Returns epoch seconds (docs/api.md#formats). The year in the registry's time zone must be from 1850 to
 * 9999. A text without an offset is in this time zone, and a date means midnight there. Fractions of a second
 * are dropped. A leap second is valid only at the end of a day in UTC, and equals the next second.
 */
export function parseDateTime(text: string, zone: TimeZone): number | FieldError {
  const epochSeconds = readDateTime(text, zone);
  if (epochSeconds === undefined) return DATE_TIME_ERROR;
  const day = Math.floor((epochSeconds + zone.offsetSeconds) / DAY_SECONDS);
  if (day < (dayNumber(FIRST_DATE) as number)) return EARLY_ERROR;
  return day >= FIRST_DAY_TOO_LATE ? LATE_ERROR : epochSeconds;
}

function readDateTime(text: string, zone: TimeZone): number | undefined {
  if (text.length === DATE_LENGTH) return dayNumber(text) === undefined ? undefined : startOfDay(text, zone);
  const match = DATE_TIME.exec(text);
  const date = match?.[1];
  if (match === null || date === undefined || dayNumber(date) === undefined) return undefined;
  const second = Number(match[4] ?? 0);
  const clock = Number(match[2]) * 3600 + Number(match[3]) * 60 + second;
  const offset = match[5] === undefined ? zone.offsetSeconds : offsetOf(match[5]);
  const epochSeconds = startOfDay(date, zone) + zone.offsetSeconds + clock - offset;
  return second === 60 && epochSeconds % DAY_SECONDS !== 0 ? undefined : epochSeconds;
}

/** Returns the seconds of an offset such as `+02:00`, `-0330` or `Z`. */
function offsetOf(text: string): number {
  if (text === 'Z' || text === 'z') return 0;
  const seconds = Number(text.slice(1, 3)) * 3600 + Number(text.slice(-2)) * 60;
  return text.startsWith('-') ? -seconds : seconds;
}

/** Returns epoch seconds. A date means the last second of its day. */
export function parseLastSecond(text: string, zone: TimeZone): number | FieldError {
  const epochSeconds = parseDateTime(text, zone);
  const isDate = text.length === DATE_LENGTH && typeof epochSeconds === 'number';
  return isDate ? epochSeconds + DAY_SECONDS - 1 : epochSeconds;
}

/** Returns epoch seconds. @param date valid `YYYY-MM-DD` */
export const startOfDay = (date: string, zone: TimeZone): number =>
  (dayNumber(date) as number) * DAY_SECONDS - zone.offsetSeconds;

/** `YYYY-MM-DD` by days since 1970-01-01: a cache, because dates take longer to format than times. */
const dayTexts = new Map<number, string>();

function dayText(day: number): string {
  let text = dayTexts.get(day);
  if (text === undefined) {
    if (dayTexts.size >= MAX_CACHED_DAYS) dayTexts.clear();
    text = new Date(day * DAY_SECONDS * 1000).toISOString().slice(0, 10);
    dayTexts.set(day, text);
  }
  return text;
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));

/** Returns, for example, `2025-03-01T08:30:00+02:00`. */
export function formatDateTime(epochSeconds: number, zone: TimeZone): string {
  const local = epochSeconds + zone.offsetSeconds;
  const day = Math.floor(local / DAY_SECONDS);
  const second = local - day * DAY_SECONDS;
  const minute = (second / 60) | 0;
  const hour = (minute / 60) | 0;
  const time = `${TWO_DIGITS[hour]}:${TWO_DIGITS[minute - hour * 60]}:${TWO_DIGITS[second - minute * 60]}`;
  return `${dayText(day)}T${time}${zone.suffix}`;
}

export const formatDate = (epochSeconds: number, zone: TimeZone): string =>
  dayText(Math.floor((epochSeconds + zone.offsetSeconds) / DAY_SECONDS));
