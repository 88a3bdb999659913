/** The secret of a new or rotated key. */
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { composeApiKey, prefixOf } from '../domain/access/api-keys.ts';
import { hashKey } from './key-hash.ts';

/** A new key text, shown once, with what is stored of it. */
export function issueSecret(): { text: string; hash: Uint8Array; prefix: string } {
  const text = composeApiKey(randomBytes, crc32);
  return { text, hash: hashKey(text), prefix: prefixOf(text) };
}
