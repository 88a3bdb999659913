/** Stores API keys in their own file, so that an operator can disable a key during a long import. */

import type { Scheduler } from '../runtime/scheduler.ts';
import type { Connection } from '../sqlite/connection.ts';
import { openDatabase } from '../sqlite/open-database.ts';
import { exists, keysFileOf } from '../sqlite/registry-files.ts';
import { KEYS_SCHEMA } from '../sqlite/schemas.ts';
import { toStorageError } from '../sqlite/sqlite-errors.ts';
import { type Storage, type StorageUse, waitMsFor } from '../sqlite/storage.ts';
import { DAY_SECONDS } from '../values/date-time.ts';
import { type ApiKey, type ApiKeyValues, NEW_KEY } from './api-keys.ts';

export interface KeySecret {
  /** SHA-256. */
  readonly hash: Uint8Array;
  readonly prefix: string;
}

export interface KeyUse {
  readonly keyId: number;
  /**
   * `admitted`: requests whose key was not refused, counted when the request is logged.
   * `deprecated`: admitted requests that use a deprecated feature. `refused`: refusals of the last day.
   */
  readonly kind: 'admitted' | 'deprecated' | 'refused';
  /** Deprecated feature, such as `GET /api/v1/things, parameter old`; reason of a refusal; else empty. */
  readonly name: string;
  readonly requests: number;
  /** Epoch seconds of the last request. */
  readonly lastAt: number;
}

// Uses of keys: counted in memory, and stored at intervals

/** Interval between commits. Each commit costs a disk write and invalidates the caches of other processes. */
const WRITE_MS = 60_000;
const HOUR_SECONDS = 3_600;

/** `hour`: for refusals, the hours since the epoch, so that old refusals can be deleted; otherwise 0. */
type UseRow = [
  keyId: number,
  kind: KeyUse['kind'],
  name: string,
  hour: number,
  requests: number,
  lastAt: number,
];

function openKeyUses(db: Connection) {
  const selectAll = db.prepare<[number], KeyUse>(
    `SELECT key_id AS keyId, kind, name, sum(requests) AS requests, max(last_at) AS lastAt
     FROM key_uses WHERE kind <> 'refused' OR hour > ? GROUP BY key_id, kind, name
     ORDER BY key_id, kind, name`,
    'one for each key and thing, and for each hour of the last day, for the operator',
  );
  const add = db.prepare<UseRow>(
    `INSERT INTO key_uses (key_id, kind, name, hour, requests, last_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (key_id, kind, name, hour) DO UPDATE
       SET requests = requests + excluded.requests, last_at = excluded.last_at`,
  );
  const removeOld = db.prepare<[number]>("DELETE FROM key_uses WHERE kind = 'refused' AND hour <= ?");
  const dayBefore = (seconds: number): number => hourOf(seconds - DAY_SECONDS);
  /**
   * Uses by key id, then by a text of kind, hour and name. For admitted requests (nearly all uses), the
   * text is empty, because an empty text costs nothing to build.
   */
  const unwritten = new Map<number, Map<string, UseRow>>();
  let timer: NodeJS.Timeout | undefined;
  let lastAt = 0;
  let isClosed = false;

  function schedule(): void {
    timer ??= setTimeout(write, WRITE_MS).unref();
  }

  function write(): void {
    clearTimeout(timer);
    timer = undefined;
    if (unwritten.size === 0) return;
    try {
      db.transaction.immediate(() => {
        for (const uses of unwritten.values()) for (const use of uses.values()) add.run(...use);
        removeOld.run(dayBefore(lastAt));
      });
      unwritten.clear();
    } catch (error) {
      // A command has locked the database, or the disk is full. The counts are stored later.
      if (toStorageError(error) === undefined) throw error;
      schedule();
    }
  }

  return {
    count(keyId: number, kind: KeyUse['kind'], name: string, nowSeconds: number): void {
      // A program that embeds the registry in its own server may end a response after `close`.
      if (isClosed) return;
      lastAt = nowSeconds;
      let uses = unwritten.get(keyId);
      if (uses === undefined) {
        uses = new Map();
        unwritten.set(keyId, uses);
        schedule();
      }
      const hour = kind === 'refused' ? hourOf(nowSeconds) : 0;
      const at = kind === 'admitted' ? '' : `${kind} ${hour} ${name}`;
      const use = uses.get(at);
      if (use === undefined) uses.set(at, [keyId, kind, name, hour, 1, nowSeconds]);
      else {
        use[4]++;
        use[5] = nowSeconds;
      }
    },
    list: (nowSeconds: number): KeyUse[] => selectAll.all(dayBefore(nowSeconds)),
    close(): void {
      isClosed = true;
      write();
      clearTimeout(timer);
    },
  };
}

const hourOf = (seconds: number): number => Math.floor(seconds / HOUR_SECONDS);

/** A cache with this number of entries is emptied. */
const MAX_CACHED = 1_000;

const toColumns = (key: ApiKeyValues & { readonly isActive: boolean }) => ({
  name: key.name,
  scopes: JSON.stringify(key.scopes),
  allowed_addresses: JSON.stringify(key.allowedAddresses),
  allowed_hosts: JSON.stringify(key.allowedHosts),
  is_lookup_only: key.isLookupOnly ? 1 : 0,
  may_export: key.mayExport ? 1 : 0,
  cooperatives: key.cooperatives === null ? null : JSON.stringify(key.cooperatives),
  purpose: key.purpose,
  requires_purpose: key.requiresPurpose ? 1 : 0,
  per_hour: key.limits.perHour,
  per_day: key.limits.perDay,
  is_active: key.isActive ? 1 : 0,
  expires_at: key.expiresAt,
});

type KeyColumns = ReturnType<typeof toColumns>;
type KeyRow = KeyColumns & { readonly id: number; readonly created_at: number; readonly updated_at: number };

const COLUMNS = Object.keys(toColumns({ ...NEW_KEY, isActive: true }));

const toKey = (row: KeyRow, secrets: readonly { readonly prefix: string }[]): ApiKey => ({
  id: row.id,
  name: row.name,
  scopes: JSON.parse(row.scopes),
  allowedAddresses: JSON.parse(row.allowed_addresses),
  allowedHosts: JSON.parse(row.allowed_hosts),
  isLookupOnly: row.is_lookup_only === 1,
  mayExport: row.may_export === 1,
  cooperatives: row.cooperatives === null ? null : JSON.parse(row.cooperatives),
  purpose: row.purpose,
  requiresPurpose: row.requires_purpose === 1,
  limits: { perHour: row.per_hour, perDay: row.per_day },
  isActive: row.is_active === 1,
  expiresAt: row.expires_at,
  prefixes: secrets.map(({ prefix }) => prefix),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

const NEXT_ID = '(SELECT 1 + max(last_id, (SELECT coalesce(max(id), 0) FROM api_keys)) FROM last_key_id)';

const prepareStatements = (db: Connection) => ({
  selectOne: db.prepare<[number], KeyRow>('SELECT * FROM api_keys WHERE id = ?'),
  selectAll: db.prepare<[], KeyRow>('SELECT * FROM api_keys ORDER BY id', 'every key, for the operator'),
  selectSecret: db.prepare<[Uint8Array], { key_id: number; ends_at: number | null }>(
    'SELECT key_id, ends_at FROM api_key_secrets WHERE hash = ?',
  ),
  selectPrefixes: db.prepare<[number, number], { prefix: string }>(
    `SELECT prefix FROM api_key_secrets WHERE key_id = ? AND (ends_at IS NULL OR ends_at > ?)
     ORDER BY created_at, hash`,
    'the secrets of one key',
  ),
  insert: db.prepare<[KeyColumns & { readonly now: number }]>(
    `INSERT INTO api_keys (id, ${COLUMNS.join(', ')}, created_at, updated_at)
     VALUES (${NEXT_ID}, ${COLUMNS.map((name) => `@${name}`).join(', ')}, @now, @now)`,
  ),
  replace: db.prepare<[KeyColumns & { readonly now: number; readonly id: number }]>(
    `UPDATE api_keys SET ${COLUMNS.map((name) => `${name} = @${name}`).join(', ')}, updated_at = @now
     WHERE id = @id`,
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

interface CachedKey {
  readonly key: ApiKey;
  /** Epoch seconds from which the secret is invalid; null before a rotation. */
  readonly endsAt: number | null;
}

/**
 * Caches keys by the hash of a secret. Every change clears the cache, because a disabled key must be refused
 * from the next request on. SQLite's data version reveals changes by other connections.
 */
function openCache({ dataVersion }: Statements, scheduler: Scheduler) {
  const keys = new Map<string, CachedKey>();
  // Unknown secrets are cached too, because programs with a wrong key retry often. Their cache is separate:
  // many wrong secrets must not displace valid keys.
  const unknown = new Set<string>();
  let cachedVersion = -1;
  // The version is read once per event-loop iteration. A later change need not affect the requests of this
  // iteration, because all of them arrived before the iteration began.
  let isRevalidated = false;

  const expire = (): void => {
    isRevalidated = false;
  };

  return {
    keys,
    unknown,
    revalidate(): void {
      if (isRevalidated) return;
      isRevalidated = true;
      scheduler.atEnd('storage', expire);
      const version = (dataVersion.get() as { data_version: number }).data_version;
      if (version !== cachedVersion || keys.size >= MAX_CACHED) keys.clear();
      if (version !== cachedVersion || unknown.size >= MAX_CACHED) unknown.clear();
      cachedVersion = version;
    },
    clear(): void {
      keys.clear();
      unknown.clear();
    },
  };
}

function createStore(db: Connection, scheduler: Scheduler) {
  const statements = prepareStatements(db);
  const { selectOne, selectSecret, insert, replace, insertSecret, endSecrets } = statements;
  const cache = openCache(statements, scheduler);
  const uses = openKeyUses(db);

  const read = (row: KeyRow, now: number) => toKey(row, statements.selectPrefixes.all(row.id, now));

  function find(id: number, nowSeconds: number): ApiKey | undefined {
    const row = selectOne.get(id);
    return row && read(row, nowSeconds);
  }

  return {
    connection: db,
    find,
    list: (nowSeconds: number) => statements.selectAll.all().map((row) => read(row, nowSeconds)),

    /**
     * Finds the key of a secret that has not ended. The key may be disabled or expired. If the secret ends
     * before the key, because of a rotation, `expiresAt` is the end of the secret.
     * @param hash SHA-256 of the entire key in hexadecimal
     */
    findBySecret(hash: string, nowSeconds: number): ApiKey | undefined {
      cache.revalidate();
      let cached = cache.keys.get(hash);
      if (cached === undefined) {
        if (cache.unknown.has(hash)) return undefined;
        const secret = selectSecret.get(Buffer.from(hash, 'hex'));
        const key = secret && find(secret.key_id, nowSeconds);
        if (secret === undefined || key === undefined) {
          cache.unknown.add(hash);
          return undefined;
        }
        const { ends_at: endsAt } = secret;
        const isEnding = endsAt !== null && endsAt < (key.expiresAt ?? Number.POSITIVE_INFINITY);
        cached = { key: isEnding ? { ...key, expiresAt: endsAt } : key, endsAt };
        cache.keys.set(hash, cached);
      }
      return cached.endsAt !== null && cached.endsAt <= nowSeconds ? undefined : cached.key;
    },

    create: (values: ApiKeyValues, secret: KeySecret, nowSeconds: number): ApiKey =>
      db.transaction.immediate(() => {
        const added = insert.run({ ...toColumns({ ...values, isActive: true }), now: nowSeconds });
        const id = Number(added.lastInsertRowid);
        insertSecret.run(secret.hash, id, secret.prefix, nowSeconds);
        cache.clear();
        return find(id, nowSeconds) as ApiKey;
      }),

    update: (
      id: number,
      changes: Partial<ApiKeyValues> & { readonly isActive?: boolean },
      nowSeconds: number,
    ): ApiKey | undefined =>
      db.transaction.immediate(() => {
        const stored = find(id, nowSeconds);
        if (stored === undefined) return undefined;
        replace.run({ ...toColumns({ ...stored, ...changes }), now: nowSeconds, id });
        cache.clear();
        return find(id, nowSeconds);
      }),

    /** @param overlapSeconds time for which earlier secrets stay valid */
    rotate: (id: number, secret: KeySecret, overlapSeconds: number, nowSeconds: number): ApiKey | undefined =>
      db.transaction.immediate(() => {
        if (selectOne.get(id) === undefined) return undefined;
        const endsAt = nowSeconds + overlapSeconds;
        endSecrets.run(endsAt, id, endsAt);
        insertSecret.run(secret.hash, id, secret.prefix, nowSeconds);
        cache.clear();
        return find(id, nowSeconds);
      }),

    /** Counts a request in memory. The count is stored within a minute, or by `close`. */
    countUse: uses.count,
    uses: uses.list,

    close(): void {
      uses.close();
      db.close();
    },
  };
}

export type ApiKeyStore = ReturnType<typeof createStore>;

export interface ApiKeysOptions {
  readonly waitMs: number;
  readonly create: boolean;
  readonly scheduler: Scheduler;
}

export function openApiKeys(file: string, { waitMs, create, scheduler }: ApiKeysOptions): ApiKeyStore {
  const db = openDatabase(file, { waitMs, create, cacheKiB: 1024, schema: KEYS_SCHEMA });
  try {
    return createStore(db, scheduler);
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Creates a missing file, unless `use` is `manage`. @throws StorageError */
export const openKeys = (storage: Storage, use: StorageUse): ApiKeyStore =>
  openApiKeys(keysFileOf(storage.pathForOpening()), {
    waitMs: waitMsFor(use),
    create: use !== 'manage',
    scheduler: storage.scheduler,
  });

/** True if the file of keys exists: a key was issued, or a service has started. */
export const hasKeys = ({ location }: Storage): boolean => exists(keysFileOf(location));
