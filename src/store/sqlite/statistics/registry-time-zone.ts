/**
 * The time zone that a registry belongs to (docs/operating.md#time-zone): stored beside the totals, whose
 * months begin in it, and written by `renewTotals` when the registry is created or moved.
 */
import { parseTimeZone, type TimeZone } from '../../../domain/values/date-time.ts';
import { StorageError } from '../../contract/storage-error.ts';
import type { Connection } from '../engine/connection.ts';
import { withDatabase } from '../engine/open-database.ts';
import { RULES_VERSION, TOTALS_VERSION } from './stored-totals.ts';

/** @returns its suffix; undefined before anybody has written to the registry */
const readTimeZone = (db: Connection): string | undefined =>
  db.value<string>(TOTALS_VERSION).slice(RULES_VERSION.length) || undefined;

/**
 * @param file of a registry, in any state
 * @returns undefined where nothing says it: the file is missing, empty, damaged or of another release
 */
export function timeZoneOf(file: string): TimeZone | undefined {
  try {
    const suffix = withDatabase(file, { readOnly: true, waitMs: 0 }, readTimeZone);
    return suffix === undefined ? undefined : (parseTimeZone(suffix) as TimeZone);
  } catch {
    return undefined;
  }
}

/**
 * Dates without a time, months of totals and what was derived from days are of one zone.
 * @returns whether the file says its zone
 * @throws StorageError `unusable` when it is not that of this process
 */
export function assertTimeZone(file: string, { suffix }: TimeZone): boolean {
  const own = timeZoneOf(file)?.suffix;
  if (own === undefined || own === suffix) return own !== undefined;
  throw new StorageError(
    'unusable',
    `The registry ${file} is in the time zone ${own}, and TIME_ZONE_OFFSET is ${suffix}. ` +
      `Set TIME_ZONE_OFFSET=${own}, or move the registry to ${suffix} with: time-zone --to ${suffix}`,
  );
}
