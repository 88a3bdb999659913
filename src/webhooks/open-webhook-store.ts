/**
 * Stores webhook endpoints and the progress of their deliveries, in a file of their own (docs/webhooks.md,
 * docs/decisions/0028-webhooks.md).
 */

import type { Connection } from '../sqlite/connection.ts';
import { lockPrivateFile } from '../sqlite/durable-files.ts';
import { hasTables, openDatabase } from '../sqlite/open-database.ts';
import { webhooksFileOf, webhooksLockOf } from '../sqlite/registry-files.ts';
import { WEBHOOKS_SCHEMA } from '../sqlite/schemas.ts';
import { toStorageError } from '../sqlite/sqlite-errors.ts';
import { type Storage, type StorageUse, waitMsFor } from '../sqlite/storage.ts';
import type { WebhookType } from './target.ts';

export interface FeedPosition {
  readonly epoch: string;
  /** All events up to this one were delivered or skipped. */
  readonly sequence: number;
}

/** Settings that an operator chooses. */
interface WebhookEndpointValues {
  /** Key of the receiver, which determines the visible cooperatives. */
  readonly keyId: number;
  readonly url: string;
  /** Null: all types. */
  readonly types: readonly WebhookType[] | null;
  /** Allows plain HTTP and private addresses. */
  readonly allowsPrivate: boolean;
}

export interface WebhookProgress {
  readonly position: FeedPosition;
  /** True while the receiver has yet to be notified that it must restart from the position. */
  readonly isRestarted: boolean;
  /** Number of failures of the next message. */
  readonly failures: number;
  /** Sequence number of that message; null while nothing fails, and for `feed.restarted`. */
  readonly failingSequence: number | null;
  /** Time of the next attempt, in epoch milliseconds; 0: immediately. */
  readonly nextAttemptAtMs: number;
  /** Epoch seconds; nothing is delivered from then on. */
  readonly disabledAt: number | null;
}

export interface WebhookEndpoint extends WebhookEndpointValues, WebhookProgress {
  readonly id: number;
  /** Epoch seconds. */
  readonly createdAt: number;
  /** Sequence numbers to skip. */
  readonly skips: readonly number[];
  /** Increased when a command changes the progress. */
  readonly revision: number;
}

export interface WebhookAttempt {
  readonly webhookId: string;
  readonly type: string;
  /** Null for a test. */
  readonly sequence: number | null;
  /** Epoch milliseconds. */
  readonly atMs: number;
  readonly durationMs: number;
  /** Status of the response; null without one. */
  readonly status: number | null;
  /** Reason of the failure, free of anything the receiver sent; null on success. */
  readonly fault: string | null;
}

/** Results of an endpoint's deliveries, to be stored. */
export interface WebhookOutcome {
  readonly id: number;
  /** Revision of the endpoint when it was read. */
  readonly revision: number;
  readonly progress: WebhookProgress;
  readonly attempts: readonly WebhookAttempt[];
}

export interface WebhookStore {
  list(): readonly WebhookEndpoint[];
  find(id: number): WebhookEndpoint | undefined;
  /** Returns the secrets that currently sign, newest first. */
  listSecrets(id: number, nowSeconds: number): readonly Uint8Array[];
  /** Returns the last attempts, newest first. */
  listAttempts(id: number, limit: number): readonly WebhookAttempt[];
  /** @param position start of the deliveries */
  add(
    values: WebhookEndpointValues,
    secret: Uint8Array,
    position: FeedPosition,
    nowSeconds: number,
  ): WebhookEndpoint;
  /**
   * Adds a secret, and lets the earlier ones end.
   * @param overlapSeconds time for which the earlier ones continue to sign
   * @returns false if there is no such endpoint
   */
  rotate(id: number, secret: Uint8Array, overlapSeconds: number, nowSeconds: number): boolean;
  /** Skips the message with this sequence number when its turn comes. */
  skip(id: number, sequence: number): void;
  /** Retries a failing message at once, and reactivates an endpoint that its receiver has disabled. */
  resume(id: number): void;
  /** @returns false if there is no such endpoint */
  remove(id: number): boolean;
  keepAttempt(id: number, attempt: WebhookAttempt): void;
  /**
   * Stores results in one transaction.
   * @returns ids of endpoints that were not stored because a command has changed or removed them
   * @throws StorageError `failed` while another process has the lock
   */
  store(outcomes: readonly WebhookOutcome[]): readonly number[];
  /** True if another process has made changes since the last call. */
  hasChanged(): boolean;
  /**
   * Claims all deliveries for this store, until it is closed or its process ends.
   * @returns false while another store holds them
   */
  claim(): boolean;
  close(): void;
}

interface EndpointRow {
  readonly id: number;
  readonly key_id: number;
  readonly url: string;
  readonly types: string | null;
  readonly allows_private: number;
  readonly created_at: number;
  readonly disabled_at: number | null;
  readonly epoch: string;
  readonly sequence: number;
  readonly is_restarted: number;
  readonly failures: number;
  readonly failing_sequence: number | null;
  readonly next_attempt_at: number;
  readonly revision: number;
}

const FEW = 'of one endpoint';

export const prepareStatements = (db: Connection) => ({
  selectAll: db.prepare<[], EndpointRow>('SELECT * FROM webhook_endpoints ORDER BY id', 'every endpoint'),
  selectOne: db.prepare<[number], EndpointRow>('SELECT * FROM webhook_endpoints WHERE id = ?'),
  selectSkips: db.prepare<[number], { sequence: number }>(
    'SELECT sequence FROM webhook_skips WHERE endpoint_id = ? ORDER BY sequence',
    FEW,
  ),
  selectSecrets: db.prepare<[id: number, nowSeconds: number], { secret: Uint8Array }>(
    `SELECT secret FROM webhook_secrets WHERE endpoint_id = ? AND (ends_at IS NULL OR ends_at > ?)
     ORDER BY id DESC`,
    FEW,
  ),
  selectAttempts: db.prepare<[id: number, limit: number], WebhookAttempt>(
    `SELECT webhook_id AS webhookId, type, sequence, at AS atMs, duration_ms AS durationMs, status, fault
     FROM webhook_attempts WHERE endpoint_id = ? ORDER BY id DESC LIMIT ?`,
    FEW,
  ),
  insert: db.prepare<unknown[]>(
    `INSERT INTO webhook_endpoints (key_id, url, types, allows_private, created_at, epoch, sequence)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  ),
  insertSecret: db.prepare<[id: number, secret: Uint8Array]>(
    'INSERT INTO webhook_secrets (endpoint_id, secret) VALUES (?, ?)',
  ),
  removeEndedSecrets: db.prepare<[id: number, nowSeconds: number]>(
    'DELETE FROM webhook_secrets WHERE endpoint_id = ? AND ends_at <= ?',
  ),
  endSecrets: db.prepare<[endsAt: number, id: number, endsAtToo: number]>(
    'UPDATE webhook_secrets SET ends_at = ? WHERE endpoint_id = ? AND (ends_at IS NULL OR ends_at > ?)',
  ),
  insertSkip: db.prepare<[id: number, sequence: number]>(
    'INSERT INTO webhook_skips (endpoint_id, sequence) VALUES (?, ?) ON CONFLICT DO NOTHING',
  ),
  removePassedSkips: db.prepare<[id: number, sequence: number]>(
    'DELETE FROM webhook_skips WHERE endpoint_id = ? AND sequence <= ?',
  ),
  resume: db.prepare<[number]>(
    `UPDATE webhook_endpoints SET next_attempt_at = 0, disabled_at = NULL, revision = revision + 1
     WHERE id = ?`,
  ),
  remove: db.prepare<[number]>('DELETE FROM webhook_endpoints WHERE id = ?'),
  update: db.prepare<unknown[]>(
    `UPDATE webhook_endpoints SET epoch = ?, sequence = ?, is_restarted = ?, failures = ?,
       failing_sequence = ?, next_attempt_at = ?, disabled_at = ? WHERE id = ? AND revision = ?`,
  ),
  insertAttempt: db.prepare<unknown[]>(
    `INSERT INTO webhook_attempts (endpoint_id, webhook_id, type, sequence, at, duration_ms, status, fault)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  trimAttempts: db.prepare<[{ id: number; isDelivered: number; most: number }]>(
    `DELETE FROM webhook_attempts WHERE endpoint_id = @id AND (fault IS NULL) = @isDelivered AND id <= (
       SELECT id FROM webhook_attempts WHERE endpoint_id = @id AND (fault IS NULL) = @isDelivered
       ORDER BY id DESC LIMIT 1 OFFSET @most)`,
    FEW,
  ),
  dataVersion: db.prepare<[], { data_version: number }>('PRAGMA data_version'),
});

export type Statements = ReturnType<typeof prepareStatements>;

/** Number of successful attempts, and of failed ones, kept for each endpoint. */
const KEPT_ATTEMPTS = 100;

interface WebhooksOptions {
  /** Maximum wait of a change for another process. */
  readonly waitMs: number;
  readonly create: boolean;
}

/** True if an endpoint was ever added. */
export const hasWebhooksAt = (databaseFile: string): boolean => hasTables(webhooksFileOf(databaseFile));

/** @throws StorageError when the file cannot be used */
export function openWebhooksAt(
  databaseFile: string,
  { waitMs, create }: WebhooksOptions,
): WebhookStore & { readonly connection: Connection } {
  const db = openDatabase(webhooksFileOf(databaseFile), {
    waitMs,
    create,
    cacheKiB: 1024,
    schema: WEBHOOKS_SCHEMA,
  });
  try {
    const statements = prepareStatements(db);
    return {
      connection: db,
      ...readsOf(statements),
      ...changesOf(db, statements),
      ...serviceOf(db, statements, webhooksLockOf(databaseFile)),
    };
  } catch (error) {
    db.close();
    throw error;
  }
}

function readsOf(statements: Statements) {
  const { selectAll, selectOne, selectSkips, selectSecrets, selectAttempts } = statements;
  const toEndpoint = (row: EndpointRow): WebhookEndpoint => ({
    id: row.id,
    keyId: row.key_id,
    url: row.url,
    types: row.types === null ? null : (JSON.parse(row.types) as WebhookType[]),
    allowsPrivate: row.allows_private === 1,
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
    position: { epoch: row.epoch, sequence: row.sequence },
    isRestarted: row.is_restarted === 1,
    failures: row.failures,
    failingSequence: row.failing_sequence,
    nextAttemptAtMs: row.next_attempt_at,
    skips: selectSkips.all(row.id).map(({ sequence }) => sequence),
    revision: row.revision,
  });
  return {
    list: () => selectAll.all().map(toEndpoint),
    find(id: number) {
      const row = selectOne.get(id);
      return row && toEndpoint(row);
    },
    listSecrets: (id: number, nowSeconds: number) =>
      selectSecrets.all(id, nowSeconds).map(({ secret }) => secret),
    listAttempts: (id: number, limit: number): WebhookAttempt[] => selectAttempts.all(id, limit),
  };
}

/** Changes made by commands. */
function changesOf(db: Connection, statements: Statements) {
  const { selectOne, insert, insertSecret, endSecrets, insertSkip, resume, remove } = statements;
  const { find } = readsOf(statements);
  return {
    add: (values: WebhookEndpointValues, secret: Uint8Array, position: FeedPosition, nowSeconds: number) =>
      db.transaction.immediate(() => {
        const { keyId, url, types, allowsPrivate } = values;
        const { lastInsertRowid } = insert.run(
          ...[keyId, url, types === null ? null : JSON.stringify(types), allowsPrivate ? 1 : 0],
          ...[nowSeconds, position.epoch, position.sequence],
        );
        const id = Number(lastInsertRowid);
        insertSecret.run(id, secret);
        return find(id) as WebhookEndpoint;
      }),
    rotate: (id: number, secret: Uint8Array, overlapSeconds: number, nowSeconds: number) =>
      db.transaction.immediate(() => {
        if (selectOne.get(id) === undefined) return false;
        const endsAt = nowSeconds + overlapSeconds;
        statements.removeEndedSecrets.run(id, nowSeconds);
        endSecrets.run(endsAt, id, endsAt);
        insertSecret.run(id, secret);
        return true;
      }),
    skip: (id: number, sequence: number) => void insertSkip.run(id, sequence),
    resume: (id: number) => void resume.run(id),
    remove: (id: number) => db.transaction.immediate(() => remove.run(id).changes > 0),
    keepAttempt: (id: number, attempt: WebhookAttempt) =>
      db.transaction.immediate(() => keepAttempts(statements, id, [attempt])),
  };
}

/** Operations of the delivering service. */
function serviceOf(db: Connection, statements: Statements, lockPath: string) {
  let lock: ReturnType<typeof lockPrivateFile>;
  let seenVersion: number | undefined;
  return {
    store(outcomes: readonly WebhookOutcome[]) {
      try {
        return db.transaction.immediate(() =>
          outcomes.filter((outcome) => !storeOutcome(statements, outcome)).map(({ id }) => id),
        );
      } catch (error) {
        throw toStorageError(error) ?? error;
      }
    },
    hasChanged() {
      const before = seenVersion;
      seenVersion = (statements.dataVersion.get() as { data_version: number }).data_version;
      return before !== seenVersion;
    },
    claim() {
      if (lock !== undefined) return true;
      lock = lockPrivateFile(lockPath);
      return lock !== undefined;
    },
    close() {
      db.close();
      // Released last: the next holder has to read what was stored.
      lock?.close();
      lock = undefined;
    },
  };
}

/** @returns false if a command has changed or removed the endpoint since it was read */
function storeOutcome(statements: Statements, { id, revision, progress, attempts }: WebhookOutcome): boolean {
  const { position, isRestarted, failures, failingSequence, nextAttemptAtMs, disabledAt } = progress;
  const { changes } = statements.update.run(
    ...[position.epoch, position.sequence, isRestarted ? 1 : 0, failures, failingSequence],
    ...[nextAttemptAtMs, disabledAt, id, revision],
  );
  if (changes === 0) return false;
  statements.removePassedSkips.run(id, position.sequence);
  keepAttempts(statements, id, attempts);
  return true;
}

function keepAttempts(statements: Statements, id: number, attempts: readonly WebhookAttempt[]): void {
  // Skips attempts that trimming would remove at once.
  for (const attempt of attempts.slice(-KEPT_ATTEMPTS)) {
    const { webhookId, type, sequence, atMs, durationMs, status, fault } = attempt;
    statements.insertAttempt.run(id, webhookId, type, sequence, atMs, Math.round(durationMs), status, fault);
  }
  for (const isDelivered of [1, 0]) statements.trimAttempts.run({ id, isDelivered, most: KEPT_ATTEMPTS });
}

/** True if an endpoint was ever added; cheap enough to check every second. */
export const hasWebhooks = ({ location }: Storage): boolean => hasWebhooksAt(location);

/**
 * @param use `serve` delivers, and needs an existing file; `issue` and `manage` as for `openKeys`
 * @throws StorageError
 */
export const openWebhooks = (storage: Storage, use: StorageUse): WebhookStore =>
  openWebhooksAt(storage.readable(), { waitMs: waitMsFor(use), create: use === 'issue' });
