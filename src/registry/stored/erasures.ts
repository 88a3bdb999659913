/** Erased persons in a registry and in its file of erasures (docs/decisions/0022-erasure.md). */

import { createHmac, type KeyObject } from 'node:crypto';
import { type Connection, WAIT_MS } from '../../sqlite/connection.ts';
import { ERASED_STATUS } from '../../sqlite/counts.ts';
import { hasTables, withDatabase } from '../../sqlite/open-database.ts';
import { erasuresFileOf } from '../../sqlite/registry-files.ts';
import { ERASURES_SCHEMA } from '../../sqlite/schemas.ts';

export interface Erasures {
  /** HMAC keys in hexadecimal. A registry's own key comes first. */
  readonly secrets: readonly string[];
  /** Epoch second of each erasure, by the hash of the national ID in hexadecimal. */
  readonly erasedAt: ReadonlyMap<string, number>;
}

/** @returns no secrets and no erasures for a file without these tables */
export function readErasures(db: Connection): Erasures {
  if (!db.has("main.sqlite_schema WHERE name = 'erasure_secrets'"))
    return { secrets: [], erasedAt: new Map() };
  const persons = db.rows<{ readonly hash: string; readonly at: number }>(
    'SELECT lower(hex(identity_hash)) AS hash, erased_at AS at FROM main.erased_persons',
  );
  return {
    secrets: db.values<string>('SELECT lower(hex(secret)) FROM main.erasure_secrets ORDER BY id'),
    erasedAt: new Map(persons.map(({ hash, at }) => [hash, at])),
  };
}

/** True if the erasures have no secrets, or have the secret of this registry. */
export const isOfRegistry = ({ secrets }: Erasures, databaseFile: string): boolean =>
  secrets.length === 0 ||
  withDatabase(databaseFile, { readOnly: true, waitMs: 0 }, (db) =>
    secrets.includes(db.value<string>('SELECT lower(hex(secret)) FROM main.erasure_secrets WHERE id = 1')),
  );

/** Merges erasures. If a person was erased more than once, the last erasure counts. */
export function mergeErasures(...all: readonly Erasures[]): Erasures {
  const erasedAt = new Map<string, number>();
  for (const each of all)
    for (const [hash, at] of each.erasedAt) erasedAt.set(hash, Math.max(at, erasedAt.get(hash) ?? at));
  return { secrets: [...new Set(all.flatMap(({ secrets }) => secrets))], erasedAt };
}

/** Returns the hashes whose erasure in `newest` is later than in `earlier`, or is missing in `earlier`. */
export const erasedSince = (newest: Erasures, earlier: Erasures): string[] =>
  [...newest.erasedAt].filter(([hash, at]) => at > (earlier.erasedAt.get(hash) ?? -1)).map(([hash]) => hash);

/** INSERTs of an erased person. A registry has no data of this person, so its INSERT sets `cleared_at`. */
const INSERT = {
  registry: 'INSERT INTO main.erased_persons (identity_hash, erased_at, cleared_at) VALUES (@hash, @at, @at)',
  file: 'INSERT INTO main.erased_persons (identity_hash, erased_at) VALUES (@hash, @at)',
};

export function addErasures(db: Connection, { secrets, erasedAt }: Erasures, to: keyof typeof INSERT): void {
  const { raw } = db;
  db.transaction.immediate(() => {
    const addSecret = raw.prepare(
      'INSERT INTO main.erasure_secrets (secret) VALUES (?) ON CONFLICT DO NOTHING',
    );
    for (const secret of secrets) addSecret.run(Buffer.from(secret, 'hex'));
    const addPerson = raw.prepare(
      `${INSERT[to]} ON CONFLICT DO UPDATE SET erased_at = max(erased_at, excluded.erased_at)`,
    );
    for (const [hash, at] of erasedAt) addPerson.run({ hash: Buffer.from(hash, 'hex'), at });
  });
}

/**
 * @returns undefined if the file does not exist
 * @throws StorageError if the file cannot be read or is another kind of file
 */
export const readErasuresFile = (file: string): Erasures | undefined =>
  hasTables(file) ? withErasuresFile(file, readErasures) : undefined;

const withErasuresFile = <T>(file: string, use: (db: Connection) => T): T =>
  withDatabase(file, { create: true, schema: ERASURES_SCHEMA, waitMs: WAIT_MS.command }, use);

/**
 * Creates the file if there is at least one erasure.
 * @returns true if erasures were added
 * @throws StorageError
 */
export function addToErasuresFile(file: string, erasures: Erasures): boolean {
  if (erasures.erasedAt.size === 0) return false;
  return withErasuresFile(file, (db) => {
    if (erasedSince(erasures, readErasures(db)).length === 0) return false;
    addErasures(db, erasures, 'file');
    return true;
  });
}

/**
 * Adds the registry's erasures to its file of erasures. The file lacks an erasure if its command
 * was killed between its write to the registry and its write to the file.
 * @throws StorageError
 */
export const keepErasures = (registry: Connection, databaseFile: string): boolean =>
  addToErasuresFile(erasuresFileOf(databaseFile), readErasures(registry));

// Rows of erased persons stay without personal data, so that the totals of their cooperatives stay correct.
// No list, count or lookup includes these rows (docs/decisions/0022-erasure.md).

/** Field name of the history entry that marks a row as erased. */
export const ERASED_FIELD = 'erased';

export const isErased = ({ status }: { readonly status: string }): boolean => status === ERASED_STATUS;

// National IDs of erased persons are stored only as hashes with a key of the registry.

export const hashIdentity = (secret: Buffer | KeyObject, identityCard: string): Buffer =>
  createHmac('sha256', secret).update(identityCard).digest();

/**
 * Hash input for a national ID that an erased person had by mistake. The input includes the membership,
 * because the number alone may belong to a person who was not erased.
 */
export const ownNumber = (memberId: number, identityCard: string): string => `${memberId}+${identityCard}`;

/** Hash input for an erased person's national ID, if another person's membership had this ID by mistake. */
export const numberOfAnother = (memberId: number, identityCard: string): string =>
  `${memberId}-${identityCard}`;

/** @returns a function that hashes a national ID with the registry's own key, for a new erasure */
export function openIdentityHash(db: Connection): (identityCard: string) => Buffer {
  const secret = db.value('SELECT secret FROM main.erasure_secrets WHERE id = 1');
  return (identityCard) => hashIdentity(secret as Buffer, identityCard);
}

/** True if any person was erased. If not, an import need not hash national IDs. */
export const hasErasedPersons = (db: Connection): boolean => db.has('main.erased_persons');

/** Returns the epoch second of the last erasure of the person. */
export function findErasure(db: Connection, identityCard: string): number | undefined {
  const secrets = db.values<Buffer>('SELECT secret FROM main.erasure_secrets');
  const last = db.value<number | null>(
    `SELECT max(erased_at) FROM main.erased_persons
     WHERE identity_hash IN (${secrets.map(() => '?').join(', ')})`,
    secrets.map((secret) => hashIdentity(secret, identityCard)),
  );
  return last ?? undefined;
}

export const isErasedNumber = (db: Connection, identityCard: string): boolean =>
  findErasure(db, identityCard) !== undefined;
