/** Identity and time zone of a registry. The zone is stored with the totals (docs/operating.md#time-zone). */

import { hash } from 'node:crypto';
import { typedCommand } from '../runtime/typed-command.ts';
import { KIGALI, parseTimeZone, type TimeZone } from '../values/date-time.ts';
import type { Connection } from './connection.ts';
import { RULES_VERSION, TOTALS_VERSION } from './declared-totals.ts';
import { withDatabase } from './open-database.ts';
import { StorageError } from './sqlite-errors.ts';

/** @returns undefined before the first `renewTotals` */
function readTimeZone(db: Connection): TimeZone | undefined {
  const suffix = db.value<string>(TOTALS_VERSION).slice(RULES_VERSION.length);
  return suffix === '' ? undefined : (parseTimeZone(suffix) as TimeZone);
}

/** @param configured zone of the settings; undefined for the zone that the registry has stored */
export const zoneIn = (db: Connection, configured: TimeZone | undefined): TimeZone =>
  configured ?? readTimeZone(db) ?? KIGALI;

/** @returns undefined for a file that is missing, empty, damaged or of another release */
export function timeZoneOf(file: string): TimeZone | undefined {
  try {
    return withDatabase(file, { readOnly: true, waitMs: 0 }, readTimeZone);
  } catch {
    return undefined;
  }
}

/**
 * Refuses a registry in another time zone, because dates without a time and the months of totals depend on
 * the zone.
 * @returns true if the file contains a zone
 * @throws StorageError `unusable` if the file contains another zone
 */
export function assertTimeZone(file: string, { suffix }: TimeZone): boolean {
  const stored = timeZoneOf(file)?.suffix;
  if (stored === undefined || stored === suffix) return stored !== undefined;
  const move = typedCommand(`time-zone --to ${suffix}`, file);
  throw new StorageError(
    'unusable',
    `The registry ${file} is in the time zone ${stored}, and TIME_ZONE_OFFSET is ${suffix}. ` +
      `Set TIME_ZONE_OFFSET=${stored}, or move the registry to ${suffix} with: ${move}`,
  );
}

// Identity of a registry, which its backups, access records and erasures share
// (docs/decisions/0035-registry-identity.md)

const DIGITS = 32;

/** @returns undefined if there is no readable registry */
export function readRegistryId(databaseFile: string): string | undefined {
  try {
    return withDatabase(databaseFile, { readOnly: true, waitMs: 0 }, (db) => {
      // 256 random bits that were created with the registry.
      const secret = db.value<Buffer>('SELECT secret FROM main.erasure_secrets WHERE id = 1');
      return hash('sha256', secret).slice(0, DIGITS);
    });
  } catch {
    return undefined;
  }
}
