// Formats days, times, amounts and CSV text for the seed files.
import { formatCsvRow } from '../src/import/formats/csv/write-csv.ts';
import { SEED_ANCHOR_DATE } from './seed-anchor.ts';

const DAY_MILLISECONDS = 86_400_000;

/** @returns the number of days since 1970-01-01 */
export function dayOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / DAY_MILLISECONDS;
}

export const ANCHOR_DAY = dayOf(SEED_ANCHOR_DATE);
/** Nothing happens after the day before the anchor, so that no date is in the future once moved to today. */
export const LAST_DAY = ANCHOR_DAY - 1;
export const FIRST_YEAR_DAY = ANCHOR_DAY - 365;
export const SEED_YEAR = Number(SEED_ANCHOR_DATE.slice(0, 4));

export function formatDay(day: number): string {
  return new Date(day * DAY_MILLISECONDS).toISOString().slice(0, 10);
}

/** @param minute since midnight in Rwanda (+02:00, no daylight saving time) */
export function formatTime(day: number, minute: number): string {
  const hours = String(Math.floor(minute / 60)).padStart(2, '0');
  return `${formatDay(day)}T${hours}:${String(minute % 60).padStart(2, '0')}:00+02:00`;
}

/** @returns the month of the year, 1 to 12 */
export function monthOf(day: number): number {
  return new Date(day * DAY_MILLISECONDS).getUTCMonth() + 1;
}

export function addMonths(day: number, months: number): number {
  const date = new Date(day * DAY_MILLISECONDS);
  const dayOfMonth = Math.min(date.getUTCDate(), 28);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, dayOfMonth) / DAY_MILLISECONDS;
}

export function formatCents(cents: number): string {
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
}

/** Formats whole grams as kilograms without trailing zeros: 12500 becomes `12.5`. */
export function formatGrams(grams: number): string {
  const decimals = String(grams % 1000)
    .padStart(3, '0')
    .replace(/0+$/, '');
  return decimals === '' ? String(Math.floor(grams / 1000)) : `${Math.floor(grams / 1000)}.${decimals}`;
}

export function csvText(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, ...rows].map(formatCsvRow).join('');
}
