/** What is kept of the national ID of an erased person: hashes with a key of this registry. */
import { createHmac, type KeyObject } from 'node:crypto';
import type { Connection } from '../engine/connection.ts';

/** HMAC-SHA-256 (RFC 2104) of a national ID. */
export const hashIdentity = (secret: Buffer | KeyObject, identityCard: string): Buffer =>
  createHmac('sha256', secret).update(identityCard).digest();

/**
 * Hashed for a number that an erased person had by mistake: only the membership that had it is theirs.
 */
export const ownNumber = (memberId: number, identityCard: string): string => `${memberId}+${identityCard}`;

/** Hashed for a membership of somebody else that had a number of an erased person by mistake. */
export const numberOfAnother = (memberId: number, identityCard: string): string =>
  `${memberId}-${identityCard}`;

/** @returns what gives the hash of a number that is erased now, with the registry's own key */
export function openIdentityHash(db: Connection): (identityCard: string) => Buffer {
  const secret = db.value('SELECT secret FROM main.erasure_secrets WHERE id = 1');
  return (identityCard) => hashIdentity(secret as Buffer, identityCard);
}

/** Whether anybody was erased: an import hashes no number otherwise. */
export const hasErasedPersons = (db: Connection): boolean => db.has('main.erased_persons');

/** Whether the person with this national ID was erased. */
export function isErasedNumber(db: Connection, identityCard: string): boolean {
  const find = db.raw.prepare('SELECT 1 FROM main.erased_persons WHERE identity_hash = ?');
  const secrets = db.values<Buffer>('SELECT secret FROM main.erasure_secrets');
  return secrets.some((secret) => find.get(hashIdentity(secret, identityCard)) !== undefined);
}
