/** National IDs as the ledger has them: hashes with a key that is kept apart from the entries. */
import { createHmac, createSecretKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { keyFileOf } from './paths.ts';

export const KEY_BYTES = 32;
const DIGITS = 32;

/** As a person is named in the entries of one segment. @param identityCard 16 digits; hashed as it is */
export type HashPerson = (identityCard: string) => string;

export function createPersonHash(secret: Uint8Array): HashPerson {
  // As an object it is prepared once: a fifth of the time for each hash.
  const key = createSecretKey(secret);
  return (identityCard) => createHmac('sha256', key).update(identityCard).digest('hex').slice(0, DIGITS);
}

/** @returns undefined when the segment has no key that can be used */
export function openPersonHash(chainFolder: string, segment: number): HashPerson | undefined {
  let secret: Buffer;
  try {
    secret = readFileSync(keyFileOf(chainFolder, segment));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  return secret.length === KEY_BYTES ? createPersonHash(secret) : undefined;
}
