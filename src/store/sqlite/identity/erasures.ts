/** Who was erased, as the registry and the file of erasures know (docs/decisions/0022-erasure.md). */
import type { Connection } from '../engine/connection.ts';
import { hasTables, withDatabase } from '../engine/open-database.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import { erasuresFileOf } from '../files/registry-files.ts';
import { ERASURES_SCHEMA } from '../schema/migrations/erasures.ts';

export interface Erasures {
  /** The keys of the hashes, in hexadecimal digits; a registry's own one is first. */
  readonly secrets: readonly string[];
  /** Epoch seconds, by the hash of a national ID in hexadecimal digits. */
  readonly erasedAt: ReadonlyMap<string, number>;
}

/** @returns no secrets for a file without these tables */
export function readErasures({ raw }: Connection): Erasures {
  const isTable = "SELECT 1 FROM main.sqlite_schema WHERE name = 'erasure_secrets'";
  if (raw.prepare(isTable).get() === undefined) return { secrets: [], erasedAt: new Map() };
  const persons = raw
    .prepare('SELECT lower(hex(identity_hash)), erased_at FROM main.erased_persons')
    .raw()
    .all() as [string, number][];
  const secrets = raw.prepare('SELECT lower(hex(secret)) FROM main.erasure_secrets ORDER BY id').pluck();
  return { secrets: secrets.all() as string[], erasedAt: new Map(persons) };
}

/** Whether they are of the registry in a file: they have its own secret. */
export const isOfRegistry = ({ secrets }: Erasures, databaseFile: string): boolean =>
  secrets.length === 0 ||
  withDatabase(databaseFile, { readOnly: true, waitMs: 0 }, (db) =>
    secrets.includes(db.value<string>('SELECT lower(hex(secret)) FROM main.erasure_secrets WHERE id = 1')),
  );

/** Of a person who was erased several times, the last time counts. */
export function mergeErasures(...all: readonly Erasures[]): Erasures {
  const erasedAt = new Map<string, number>();
  for (const each of all)
    for (const [hash, at] of each.erasedAt) erasedAt.set(hash, Math.max(at, erasedAt.get(hash) ?? at));
  return { secrets: [...new Set(all.flatMap(({ secrets }) => secrets))], erasedAt };
}

/** The hashes of those who were erased, or erased again, since somebody knew this much. */
export const erasedSince = (newest: Erasures, known: Erasures): string[] =>
  [...newest.erasedAt].filter(([hash, at]) => at > (known.erasedAt.get(hash) ?? -1)).map(([hash]) => hash);

/** The registry has no data of these people: there is nothing to clear. */
const INSERT = {
  registry: 'INSERT INTO main.erased_persons (identity_hash, erased_at, cleared_at) VALUES (@hash, @at, @at)',
  file: 'INSERT INTO main.erased_persons (identity_hash, erased_at) VALUES (@hash, @at)',
};

/** Adds what it does not have, in one transaction. @param to what the connection is open on */
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
 * What a file of erasures has.
 * @returns undefined when it does not exist
 * @throws StorageError when it cannot be read, or is another kind of file
 */
export function readErasuresFile(file: string): Erasures | undefined {
  if (!hasTables(file)) return undefined;
  return withErasuresFile(file, readErasures);
}

const withErasuresFile = <T>(file: string, use: (db: Connection) => T): T =>
  withDatabase(file, { create: true, schema: ERASURES_SCHEMA, waitMs: WAIT_MS.command }, use);

/**
 * Adds to a file of erasures, which is created with the first.
 * @returns whether there was anything to add
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
 * Brings the file of erasures up to what its registry knows: a command may have been killed between the two.
 * @throws StorageError
 */
export const keepErasures = (registry: Connection, databaseFile: string): boolean =>
  addToErasuresFile(erasuresFileOf(databaseFile), readErasures(registry));
