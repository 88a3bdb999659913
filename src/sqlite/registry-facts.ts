/**
 * A registry's time zone (docs/operating.md#time-zone) and identity. The zone is stored with the totals,
 * whose months begin in it, and written by `renewTotals` when the registry is created or moved.
 */

import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { typedCommand } from '../runtime/typed-command.ts';
import { parseTimeZone, type TimeZone } from '../values/date-time.ts';
import type { Connection } from './connection.ts';
import { RULES_VERSION, TOTALS_VERSION } from './declared-totals.ts';
import { withDatabase } from './open-database.ts';
import { StorageError } from './storage-error.ts';

/** @returns the zone's suffix; undefined before the first write to the registry */
const readTimeZone = (db: Connection): string | undefined =>
  db.value<string>(TOTALS_VERSION).slice(RULES_VERSION.length) || undefined;

/**
 * @param file file of a registry, in any state
 * @returns undefined if the zone is unknown: the file is missing, empty, damaged or of another release
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
 * Refuses a registry in another time zone, since dates without a time, months of totals and values derived
 * from days depend on it.
 * @returns true if the file states its zone
 * @throws StorageError `unusable` if it differs from that of this process
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

// The identity of a registry, shared by its backups, access records and erasures
// (docs/decisions/0035-registry-identity.md)

const DIGITS = 32;

/** @param secret the registry's own erasure secret: 256 random bits created with it */
const registryIdOf = (secret: Uint8Array): string => hash('sha256', secret).slice(0, DIGITS);

/** @returns undefined if there is no readable registry */
export function readRegistryId(databaseFile: string): string | undefined {
  if (!existsSync(databaseFile)) return undefined;
  try {
    return withDatabase(databaseFile, { readOnly: true, waitMs: 0 }, (db) =>
      registryIdOf(db.value<Buffer>('SELECT secret FROM main.erasure_secrets WHERE id = 1')),
    );
  } catch {
    return undefined;
  }
}
