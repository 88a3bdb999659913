/**
 * The identity of a registry, which its backups, readings and erasures share
 * (docs/decisions/0035-registry-identity.md).
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { withDatabase } from '../engine/open-database.ts';

const DIGITS = 32;

/** @param secret the registry's own erasure secret: 256 random bits made with it */
export const registryIdOf = (secret: Uint8Array): string =>
  createHash('sha256').update(secret).digest('hex').slice(0, DIGITS);

/** @returns undefined where there is no registry that can be read */
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
