/** API keys in a file of their own, so that a long import never delays disabling one. */
import type { ApiKey, ApiKeyValues, Scope } from '../../../domain/access/api-keys.ts';
import type { ApiKeyStore, KeySecret } from '../../contract/api-keys.ts';
import type { EndOfIteration } from '../../contract/storage.ts';
import type { Connection } from '../engine/connection.ts';
import { openDatabase } from '../engine/open-database.ts';
import { KEYS_SCHEMA } from '../schema/migrations/keys.ts';
import { openKeyUses } from './key-uses.ts';

interface KeyRow {
  id: number;
  name: string;
  scopes: string;
  allowed_addresses: string;
  allowed_hosts: string;
  is_lookup_only: number;
  may_export: number;
  cooperatives: string | null;
  purpose: string | null;
  requires_purpose: number;
  per_hour: number;
  per_day: number;
  is_active: number;
  expires_at: number | null;
  created_at: number;
  updated_at: number;
}

type Stored = Partial<ApiKeyValues> & { isActive?: boolean };

/** When more keys than this are cached, all are dropped. */
const MAX_CACHED = 1_000;
const ALL_KEYS = 'every key, for the operator';

export interface ApiKeysOptions {
  /** How long a change may wait for another process; the server only adds counts. */
  readonly waitMs: number;
  readonly create: boolean;
  readonly scheduler: EndOfIteration;
}

/** The same methods, but synchronous. */
export type SqliteApiKeys = {
  readonly [method in keyof ApiKeyStore]: (
    ...args: Parameters<ApiKeyStore[method]>
  ) => Awaited<ReturnType<ApiKeyStore[method]>>;
} & { readonly connection: Connection };

/** @throws StorageError when the file cannot be used */
export function openApiKeys(file: string, { waitMs, create, scheduler }: ApiKeysOptions): SqliteApiKeys {
  const db = openDatabase(file, { waitMs, create, cacheKiB: 1024, schema: KEYS_SCHEMA });
  try {
    return createStore(db, scheduler);
  } catch (error) {
    db.close();
    throw error;
  }
}

const NEXT_ID = '(SELECT 1 + max(last_id, (SELECT coalesce(max(id), 0) FROM api_keys)) FROM last_key_id)';

const prepareStatements = (db: Connection) => ({
  selectOne: db.prepare<[number], KeyRow>('SELECT * FROM api_keys WHERE id = ?'),
  selectAll: db.prepare<[], KeyRow>('SELECT * FROM api_keys ORDER BY id', ALL_KEYS),
  selectSecret: db.prepare<[Uint8Array], { key_id: number; ends_at: number | null }>(
    'SELECT key_id, ends_at FROM api_key_secrets WHERE hash = ?',
  ),
  selectPrefixes: db.prepare<[number, number], { prefix: string }>(
    `SELECT prefix FROM api_key_secrets WHERE key_id = ? AND (ends_at IS NULL OR ends_at > ?)
     ORDER BY created_at, hash`,
    'the secrets of one key',
  ),
  insert: db.prepare<unknown[]>(
    `INSERT INTO api_keys (id, name, scopes, allowed_addresses, allowed_hosts, is_lookup_only, may_export,
       cooperatives, purpose, requires_purpose, per_hour, per_day, is_active, expires_at, created_at,
       updated_at)
     VALUES (${NEXT_ID}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  replace: db.prepare<unknown[]>(
    `UPDATE api_keys SET name = ?, scopes = ?, allowed_addresses = ?, allowed_hosts = ?, is_lookup_only = ?,
       may_export = ?, cooperatives = ?, purpose = ?, requires_purpose = ?, per_hour = ?, per_day = ?,
       is_active = ?, expires_at = ?, updated_at = ? WHERE id = ?`,
  ),
  insertSecret: db.prepare<[Uint8Array, number, string, number]>(
    'INSERT INTO api_key_secrets (hash, key_id, prefix, created_at, ends_at) VALUES (?, ?, ?, ?, NULL)',
  ),
  endSecrets: db.prepare<[endsAt: number, keyId: number, endsAtToo: number]>(
    'UPDATE api_key_secrets SET ends_at = ? WHERE key_id = ? AND (ends_at IS NULL OR ends_at > ?)',
  ),
  dataVersion: db.prepare<[], { data_version: number }>('PRAGMA data_version'),
});

type Statements = ReturnType<typeof prepareStatements>;

const toColumns = (key: ApiKeyValues & { isActive: boolean }) => [
  key.name,
  JSON.stringify(key.scopes),
  JSON.stringify(key.allowedAddresses),
  JSON.stringify(key.allowedHosts),
  key.isLookupOnly ? 1 : 0,
  key.mayExport ? 1 : 0,
  key.cooperatives === null ? null : JSON.stringify(key.cooperatives),
  key.purpose,
  key.requiresPurpose ? 1 : 0,
  key.limits.perHour,
  key.limits.perDay,
  key.isActive ? 1 : 0,
  key.expiresAt,
];

function openReads({ selectOne, selectAll, selectPrefixes }: Statements) {
  const toKey = (row: KeyRow, nowSeconds: number): ApiKey => ({
    id: row.id,
    name: row.name,
    scopes: JSON.parse(row.scopes) as Scope[],
    allowedAddresses: JSON.parse(row.allowed_addresses) as string[],
    allowedHosts: JSON.parse(row.allowed_hosts) as string[],
    isLookupOnly: row.is_lookup_only === 1,
    mayExport: row.may_export === 1,
    cooperatives: row.cooperatives === null ? null : (JSON.parse(row.cooperatives) as number[]),
    purpose: row.purpose,
    requiresPurpose: row.requires_purpose === 1,
    limits: { perHour: row.per_hour, perDay: row.per_day },
    isActive: row.is_active === 1,
    expiresAt: row.expires_at,
    prefixes: selectPrefixes.all(row.id, nowSeconds).map(({ prefix }) => prefix),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  });

  function find(id: number, nowSeconds: number): ApiKey | undefined {
    const row = selectOne.get(id);
    return row && toKey(row, nowSeconds);
  }

  return {
    find,
    list: (nowSeconds: number): ApiKey[] => selectAll.all().map((row) => toKey(row, nowSeconds)),
  };
}

interface CachedKey {
  readonly key: ApiKey;
  /** Of the secret. */
  readonly endsAt: number | null;
}

/**
 * Keys by the hash of a secret. What was read stays right until SQLite's data version shows that another
 * connection has committed; this connection's own changes clear it. Never by age: a disabled key must be
 * refused by the very next request.
 */
function openCache({ dataVersion }: Statements, scheduler: EndOfIteration) {
  const cached = new Map<string, CachedKey>();
  // A program with a wrong key asks with it again and again. Apart from the others: a flood of different ones
  // must not push out the keys that are in use.
  const unknown = new Set<string>();
  let cachedVersion = -1;
  // Asked once per iteration of the event loop: the requests of an iteration had arrived when it began.
  let isRevalidated = false;

  const expire = (): void => {
    isRevalidated = false;
  };

  function revalidate(): void {
    if (isRevalidated) return;
    isRevalidated = true;
    scheduler.atEnd('storage', expire);
    const version = (dataVersion.get() as { data_version: number }).data_version;
    if (version !== cachedVersion || cached.size >= MAX_CACHED) cached.clear();
    if (version !== cachedVersion || unknown.size >= MAX_CACHED) unknown.clear();
    cachedVersion = version;
  }

  function clear(): void {
    cached.clear();
    unknown.clear();
  }

  return {
    get(hash: string): CachedKey | undefined {
      revalidate();
      return cached.get(hash);
    },
    set: (hash: string, found: CachedKey) => void cached.set(hash, found),
    isUnknown: (hash: string) => unknown.has(hash),
    addUnknown: (hash: string) => void unknown.add(hash),
    clear,
  };
}

function createStore(db: Connection, scheduler: EndOfIteration): SqliteApiKeys {
  const statements = prepareStatements(db);
  const { selectOne, selectSecret, insert, replace, insertSecret, endSecrets } = statements;
  const { find, list } = openReads(statements);
  const cached = openCache(statements, scheduler);
  const uses = openKeyUses(db);

  return {
    connection: db,
    find,
    list,

    findBySecret(hash, nowSeconds) {
      let found = cached.get(hash);
      if (found === undefined) {
        if (cached.isUnknown(hash)) return undefined;
        const secret = selectSecret.get(Buffer.from(hash, 'hex'));
        const key = secret && find(secret.key_id, nowSeconds);
        if (secret === undefined || key === undefined) {
          cached.addUnknown(hash);
          return undefined;
        }
        found = { key, endsAt: secret.ends_at };
        cached.set(hash, found);
      }
      return found.endsAt !== null && found.endsAt <= nowSeconds ? undefined : found.key;
    },

    create: (values: ApiKeyValues, secret: KeySecret, nowSeconds: number) =>
      db.transaction.immediate(() => {
        const added = insert.run(...toColumns({ ...values, isActive: true }), nowSeconds, nowSeconds);
        const id = Number(added.lastInsertRowid);
        insertSecret.run(secret.hash, id, secret.prefix, nowSeconds);
        cached.clear();
        return find(id, nowSeconds) as ApiKey;
      }),

    update: (id: number, changes: Stored, nowSeconds: number) =>
      db.transaction.immediate(() => {
        const stored = find(id, nowSeconds);
        if (stored === undefined) return undefined;
        replace.run(...toColumns({ ...stored, ...changes }), nowSeconds, id);
        cached.clear();
        return find(id, nowSeconds);
      }),

    rotate: (id: number, secret: KeySecret, overlapSeconds: number, nowSeconds: number) =>
      db.transaction.immediate(() => {
        if (selectOne.get(id) === undefined) return undefined;
        const endsAt = nowSeconds + overlapSeconds;
        endSecrets.run(endsAt, id, endsAt);
        insertSecret.run(secret.hash, id, secret.prefix, nowSeconds);
        cached.clear();
        return find(id, nowSeconds);
      }),

    countUse: uses.count,
    uses: uses.list,

    close() {
      uses.close();
      db.close();
    },
  };
}
