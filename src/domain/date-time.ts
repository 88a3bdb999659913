/** Dates and instants: `YYYY-MM-DD` texts, and epoch seconds shown with the offset of the registry's time zone. */
import { FieldError } from './errors.ts';

export const DAY_SECONDS = 86_400;

/** The time zone of a registry: a fixed offset, as its country has no daylight saving time. */
export interface TimeZone {
  readonly offsetSeconds: number;
  /** As ISO 8601 writes it: `+02:00`. */
  readonly suffix: string;
}

const OFFSET = /^([+-])([01][0-9]|2[0-3]):([0-5][0-9])$/;

/** @param text `+02:00`, `-03:30` or `Z` */
export function parseTimeZone(text: string): TimeZone | FieldError {
  if (text === 'Z') return { offsetSeconds: 0, suffix: '+00:00' };
  const match = OFFSET.exec(text);
  if (match === null) return new FieldError('Expected an offset such as +02:00.');
  const seconds = Number(match[2]) * 3600 + Number(match[3]) * 60;
  return { offsetSeconds: match[1] === '-' ? -seconds : seconds, suffix: text };
}

export const KIGALI: TimeZone = { offsetSeconds: 7200, suffix: '+02:00' };

export const DATE_ERROR = new FieldError(
  'Date has wrong format. Use one of these formats instead: YYYY-MM-DD.',
);
export const DATE_TIME_ERROR = new FieldError(
  'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
);
export const FUTURE_ERROR = new FieldError('This date is in the future.');

// Dates before this year are typing errors, never a birth or a founding on record.
const FIRST_YEAR = 1850;
const DATE = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/;
const DATE_TIME =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:[.,][0-9]{1,9})?)?(Z|z|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])?$/;
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isCalendarDay(year: number, month: number, day: number): boolean {
  if (year < FIRST_YEAR || month < 1 || month > 12 || day < 1) return false;
  const isLeap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day <= (MONTH_DAYS[month - 1] as number) + (isLeap ? 1 : 0);
}

const DATE_LENGTH = 10;
/** More days than this are forgotten together: a file or an answer speaks of fewer. */
const MAX_CACHED_DAYS = 4_096;
/** The days from 1970-01-01 of texts that were read; undefined for a text that is no date. */
const dayNumbers = new Map<string, number | undefined>();

/** Days from 1970-01-01 until a `YYYY-MM-DD`, undefined when it is none. */
function dayNumber(text: string): number | undefined {
  // Nothing longer is cached: it could be anything.
  if (text.length !== DATE_LENGTH) return undefined;
  let day = dayNumbers.get(text);
  if (day !== undefined || dayNumbers.has(text)) return day;
  const match = DATE.exec(text);
  const [year, month, date] = [Number(match?.[1]), Number(match?.[2]), Number(match?.[3])];
  if (match !== null && isCalendarDay(year, month, date))
    day = Date.UTC(year, month - 1, date) / 1000 / DAY_SECONDS;
  if (dayNumbers.size >= MAX_CACHED_DAYS) dayNumbers.clear();
  dayNumbers.set(text, day);
  return day;
}

/** A calendar date `YYYY-MM-DD`, as it was given. */
export const parseDate = (text: string): string | FieldError =>
  dayNumber(text) === undefined ? DATE_ERROR : text;

/**
 * Epoch seconds of an ISO 8601 date-time. Fractions of a second are dropped (whole seconds are kept, contract
 * section 7). Without an offset the text is read in the registry's zone; a date alone is its midnight there.
 */
export function parseDateTime(text: string, zone: TimeZone): number | FieldError {
  if (text.length === 10) {
    const date = parseDate(text);
    return date instanceof FieldError ? DATE_TIME_ERROR : startOfDay(date, zone);
  }
  const match = DATE_TIME.exec(text);
  if (match === null) return DATE_TIME_ERROR;
  const date = parseDate(match[1] as string);
  if (date instanceof FieldError) return DATE_TIME_ERROR;
  const clock = Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0);
  return startOfDay(date, zone) + zone.offsetSeconds + clock - offsetOf(match[5], zone);
}

function offsetOf(text: string | undefined, zone: TimeZone): number {
  if (text === undefined) return zone.offsetSeconds;
  if (text === 'Z' || text === 'z') return 0;
  const seconds = Number(text.slice(1, 3)) * 3600 + Number(text.slice(-2)) * 60;
  return text.startsWith('-') ? -seconds : seconds;
}

/** Epoch seconds of midnight at the start of a valid `YYYY-MM-DD` in the zone. */
export const startOfDay = (date: string, zone: TimeZone): number =>
  (dayNumber(date) as number) * DAY_SECONDS - zone.offsetSeconds;

/** The text of each day that was shown; there are few, and composing one costs more than the time of day. */
const dayTexts = new Map<number, string>();

/** The calendar date of a day counted from 1970-01-01. */
function dayText(day: number): string {
  let text = dayTexts.get(day);
  if (text === undefined) {
    if (dayTexts.size >= MAX_CACHED_DAYS) dayTexts.clear();
    text = new Date(day * DAY_SECONDS * 1000).toISOString().slice(0, 10);
    dayTexts.set(day, text);
  }
  return text;
}

/** 00 to 59. */
const TWO_DIGITS = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));

/** `2025-03-01T08:30:00+02:00` for an instant in epoch seconds. */
export function formatDateTime(epochSeconds: number, zone: TimeZone): string {
  const local = epochSeconds + zone.offsetSeconds;
  const day = Math.floor(local / DAY_SECONDS);
  const second = local - day * DAY_SECONDS;
  const minute = (second / 60) | 0;
  const hour = (minute / 60) | 0;
  return `${dayText(day)}T${TWO_DIGITS[hour]}:${TWO_DIGITS[minute - hour * 60]}:${TWO_DIGITS[second - minute * 60]}${zone.suffix}`;
}

/** The calendar date `YYYY-MM-DD` of an instant in epoch seconds, in the zone. */
export const formatDate = (epochSeconds: number, zone: TimeZone): string =>
  dayText(Math.floor((epochSeconds + zone.offsetSeconds) / DAY_SECONDS));
