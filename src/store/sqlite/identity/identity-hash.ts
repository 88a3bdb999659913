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

/** When the person with this national ID was erased last, in epoch seconds; undefined for never. */
export function findErasure(db: Connection, identityCard: string): number | undefined {
  const find = db.raw.prepare('SELECT erased_at FROM main.erased_persons WHERE identity_hash = ?').pluck();
  const secrets = db.values<Buffer>('SELECT secret FROM main.erasure_secrets');
  const found = secrets.map((secret) => find.get(hashIdentity(secret, identityCard)) as number | undefined);
  return found.reduce((last, at) => (at === undefined || (last ?? 0) > at ? last : at), undefined);
}

/** Whether the person with this national ID was erased. */
export const isErasedNumber = (db: Connection, identityCard: string): boolean =>
  findErasure(db, identityCard) !== undefined;
