/** What is kept of the national ID of an erased person: a hash with a key of this registry. */
import { createHmac } from 'node:crypto';
import type { Connection } from '../engine/connection.ts';

/** HMAC-SHA-256 (RFC 2104). @returns what gives the hash of a number */
export function openIdentityHash(db: Connection): (identityCard: string) => Buffer {
  const secret = db.raw.prepare('SELECT secret FROM main.erasure_secret').pluck().get() as Buffer;
  return (identityCard) => createHmac('sha256', secret).update(identityCard).digest();
}

/** Whether anybody was erased: an import hashes no number otherwise. */
export const hasErasedPersons = (db: Connection): boolean =>
  db.raw.prepare('SELECT 1 FROM main.erased_persons LIMIT 1').get() !== undefined;

/** Whether the person with this national ID was erased. */
export const isErasedNumber = (db: Connection, identityCard: string): boolean =>
  db.raw
    .prepare('SELECT 1 FROM main.erased_persons WHERE identity_hash = ?')
    .get(openIdentityHash(db)(identityCard)) !== undefined;
