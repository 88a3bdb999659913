/** National IDs as the ledger has them: hashes with a key that is kept apart from the entries. */
import { hash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { keyFileOf } from './paths.ts';

/** Of a key, and of its SHA-256, which follows it in its file. */
const KEY_BYTES = 32;
const DIGITS = 32;
const DIGITS_OF_CARD = 16;

/** As a person is named in the entries of one segment. @param identityCard 16 digits; hashed as it is */
export type HashPerson = (identityCard: string) => string;

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;

/**
 * HMAC-SHA256 as RFC 2104 defines it, by two hashes: half of what an Hmac object costs.
 * @param secret at most 64 bytes
 */
export function createPersonHash(secret: Uint8Array): HashPerson {
  const padded = (byte: number) => Buffer.alloc(BLOCK_BYTES).map((_, i) => (secret[i] ?? 0) ^ byte);
  const inner = Buffer.concat([padded(0x36), Buffer.alloc(DIGITS_OF_CARD)]);
  const outer = Buffer.concat([padded(0x5c), Buffer.alloc(DIGEST_BYTES)]);
  return (identityCard) => {
    const length = Buffer.byteLength(identityCard);
    const text =
      length === DIGITS_OF_CARD
        ? inner
        : Buffer.concat([inner.subarray(0, BLOCK_BYTES), Buffer.alloc(length)]);
    text.write(identityCard, BLOCK_BYTES);
    outer.write(hash('sha256', text, 'binary'), BLOCK_BYTES, 'binary');
    return hash('sha256', outer).slice(0, DIGITS);
  };
}

const checksumOf = (secret: Uint8Array): Buffer => hash('sha256', secret, 'buffer');

/** The file of a new key: with another key, everybody would seem never to have been looked up. */
export function newKeyFile(): Buffer {
  const secret = randomBytes(KEY_BYTES);
  return Buffer.concat([secret, checksumOf(secret)]);
}

/** @returns undefined when the segment has no key that can be used */
export function openPersonHash(chainFolder: string, segment: number): HashPerson | undefined {
  let file: Buffer;
  try {
    file = readFileSync(keyFileOf(chainFolder, segment));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const secret = file.subarray(0, KEY_BYTES);
  return checksumOf(secret).equals(file.subarray(KEY_BYTES)) ? createPersonHash(secret) : undefined;
}
