/** Stores webhook endpoints and their progress in a separate file (docs/decisions/0028-webhooks.md). */

import type { Connection } from '../sqlite/connection.ts';
import { lockPrivateFile } from '../sqlite/file-use.ts';
import { hasTables, openDatabase } from '../sqlite/open-database.ts';
import { webhooksFileOf, webhooksLockOf } from '../sqlite/registry-files.ts';
import { WEBHOOKS_SCHEMA } from '../sqlite/schemas.ts';
import { toStorageError } from '../sqlite/sqlite-errors.ts';
import { type Storage, type StorageUse, waitMsFor } from '../sqlite/storage.ts';
import type { WebhookType } from './target.ts';

export interface FeedPosition {
  readonly epoch: string;
  /** Sequence number of the last event that was delivered or skipped. */
  readonly sequence: number;
}

interface WebhookEndpointValues {
  /** The receiver's API key, which determines the visible cooperatives. */
  readonly keyId: number;
  readonly url: string;
  /** Null for all types. */
  readonly types: readonly WebhookType[] | null;
  /** Allows plain HTTP and private addresses. */
  readonly allowsPrivate: boolean;
}

export interface WebhookProgress {
  readonly position: FeedPosition;
  /** True from a restart of the sequence until the receiver has accepted `feed.restarted`. */
  readonly isRestarted: boolean;
  /** Number of failed attempts to deliver the next message. */
  readonly failures: number;
  /** Sequence number of the failing message; null for `feed.restarted` and without a failing message. */
  readonly failingSequence: number | null;
  /** Epoch milliseconds of the next attempt; 0 for an immediate attempt. */
  readonly nextAttemptAtMs: number;
  /** Epoch seconds of the 410 response that ended the deliveries; null for an active endpoint. */
  readonly disabledAt: number | null;
}

export interface WebhookEndpoint extends WebhookEndpointValues, WebhookProgress {
  readonly id: number;
  /** Epoch seconds. */
  readonly createdAt: number;
  /** Sequence numbers of the messages to skip. */
  readonly skips: readonly number[];
  /** Incremented by commands that change the progress. */
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
  /** HTTP status; null without a response. */
  readonly status: number | null;
  /** Reason of the failure, without text from the receiver; null on success. */
  readonly fault: string | null;
}

export interface WebhookOutcome {
  readonly id: number;
  /** Revision of the endpoint when it was read. */
  readonly revision: number;
  readonly progress: WebhookProgress;
  readonly attempts: readonly WebhookAttempt[];
}

type EndpointRow = Omit<WebhookEndpoint, 'types' | 'allowsPrivate' | 'isRestarted' | 'position' | 'skips'> &
  FeedPosition & {
    /** JSON array, like `skips`. */
    readonly types: string | null;
    readonly allowsPrivate: number;
    readonly isRestarted: number;
    readonly skips: string;
  };

const toEndpoint = ({ epoch, sequence, ...row }: EndpointRow): WebhookEndpoint => ({
  ...row,
  types: row.types && JSON.parse(row.types),
  allowsPrivate: row.allowsPrivate === 1,
  isRestarted: row.isRestarted === 1,
  position: { epoch, sequence },
  skips: JSON.parse(row.skips),
});

const ENDPOINTS = `SELECT id, key_id AS keyId, url, types, allows_private AS allowsPrivate,
    created_at AS createdAt, disabled_at AS disabledAt, epoch, sequence, is_restarted AS isRestarted,
    failures, failing_sequence AS failingSequence, next_attempt_at AS nextAttemptAtMs, revision,
    (SELECT json_group_array(s.sequence) FROM webhook_skips s WHERE s.endpoint_id = e.id) AS skips
  FROM webhook_endpoints e`;

const FEW = 'of one endpoint';

const prepareStatements = (db: Connection) => ({
  selectAll: db.prepare<[], EndpointRow>(`${ENDPOINTS} ORDER BY id`, 'every endpoint'),
  selectOne: db.prepare<[id: number], EndpointRow>(`${ENDPOINTS} WHERE id = ?`, FEW),
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
  insert: db.prepare<[object]>(
    `INSERT INTO webhook_endpoints (key_id, url, types, allows_private, created_at, epoch, sequence)
     VALUES (@keyId, @url, @types, @allowsPrivate, @nowSeconds, @epoch, @sequence)`,
  ),
  insertSecret: db.prepare<[id: number, secret: Uint8Array]>(
    'INSERT INTO webhook_secrets (endpoint_id, secret) VALUES (?, ?)',
  ),
  removeEndedSecrets: db.prepare<[id: number, nowSeconds: number]>(
    'DELETE FROM webhook_secrets WHERE endpoint_id = ? AND ends_at <= ?',
  ),
  endSecrets: db.prepare<[{ id: number; endsAt: number }]>(
    `UPDATE webhook_secrets SET ends_at = @endsAt
     WHERE endpoint_id = @id AND (ends_at IS NULL OR ends_at > @endsAt)`,
  ),
  insertSkip: db.prepare<[id: number, sequence: number]>(
    'INSERT INTO webhook_skips (endpoint_id, sequence) VALUES (?, ?) ON CONFLICT DO NOTHING',
  ),
  removePassedSkips: db.prepare<[id: number, sequence: number]>(
    'DELETE FROM webhook_skips WHERE endpoint_id = ? AND sequence <= ?',
  ),
  resume: db.prepare<[id: number]>(
    `UPDATE webhook_endpoints SET next_attempt_at = 0, disabled_at = NULL, revision = revision + 1
     WHERE id = ?`,
  ),
  remove: db.prepare<[id: number]>('DELETE FROM webhook_endpoints WHERE id = ?'),
  update: db.prepare<[object]>(
    `UPDATE webhook_endpoints SET epoch = @epoch, sequence = @sequence, is_restarted = @isRestarted,
       failures = @failures, failing_sequence = @failingSequence, next_attempt_at = @nextAttemptAtMs,
       disabled_at = @disabledAt
     WHERE id = @id AND revision = @revision`,
  ),
  insertAttempt: db.prepare<[object]>(
    `INSERT INTO webhook_attempts (endpoint_id, webhook_id, type, sequence, at, duration_ms, status, fault)
     VALUES (@id, @webhookId, @type, @sequence, @atMs, round(@durationMs), @status, @fault)`,
  ),
  trimAttempts: db.prepare<[{ id: number; isDelivered: number; most: number }]>(
    `DELETE FROM webhook_attempts WHERE endpoint_id = @id AND (fault IS NULL) = @isDelivered AND id <= (
       SELECT id FROM webhook_attempts WHERE endpoint_id = @id AND (fault IS NULL) = @isDelivered
       ORDER BY id DESC LIMIT 1 OFFSET @most)`,
    FEW,
  ),
});

/** Maximum number of stored successes, and of stored failures, for each endpoint. */
const KEPT_ATTEMPTS = 100;

export class WebhookStore {
  readonly connection: Connection;
  private readonly statements: ReturnType<typeof prepareStatements>;
  private readonly lockPath: string;
  private lock: ReturnType<typeof lockPrivateFile>;
  private dataVersion: number | undefined;

  /** @throws StorageError if the file cannot be used */
  constructor(databaseFile: string, options: { readonly waitMs: number; readonly create: boolean }) {
    const settings = { ...options, cacheKiB: 1024, schema: WEBHOOKS_SCHEMA };
    this.connection = openDatabase(webhooksFileOf(databaseFile), settings);
    this.statements = prepareStatements(this.connection);
    this.lockPath = webhooksLockOf(databaseFile);
  }

  list(): readonly WebhookEndpoint[] {
    return this.statements.selectAll.all().map(toEndpoint);
  }

  find(id: number): WebhookEndpoint | undefined {
    const row = this.statements.selectOne.get(id);
    return row && toEndpoint(row);
  }

  /** Returns the valid secrets, newest first. */
  listSecrets(id: number, nowSeconds: number): readonly Uint8Array[] {
    return this.statements.selectSecrets.all(id, nowSeconds).map(({ secret }) => secret);
  }

  /** Returns attempts, newest first. @param limit by default, all stored attempts */
  listAttempts(id: number, limit = 2 * KEPT_ATTEMPTS): readonly WebhookAttempt[] {
    return this.statements.selectAttempts.all(id, limit);
  }

  // Changes made by commands

  /** @param position event after which the deliveries start */
  add(
    { types, allowsPrivate, ...values }: WebhookEndpointValues,
    secret: Uint8Array,
    position: FeedPosition,
    nowSeconds: number,
  ): WebhookEndpoint {
    return this.connection.transaction.immediate(() => {
      const columns = { types: types && JSON.stringify(types), allowsPrivate: Number(allowsPrivate) };
      const row = { ...values, ...columns, ...position, nowSeconds };
      const { lastInsertRowid } = this.statements.insert.run(row);
      const id = Number(lastInsertRowid);
      this.statements.insertSecret.run(id, secret);
      return this.find(id) as WebhookEndpoint;
    });
  }

  /** @param overlapSeconds time for which earlier secrets continue to sign */
  rotate(id: number, secret: Uint8Array, overlapSeconds: number, nowSeconds: number): void {
    this.connection.transaction.immediate(() => {
      if (this.find(id) === undefined) return;
      this.statements.removeEndedSecrets.run(id, nowSeconds);
      this.statements.endSecrets.run({ id, endsAt: nowSeconds + overlapSeconds });
      this.statements.insertSecret.run(id, secret);
    });
  }

  /** Skips the message with this sequence number when it becomes the next message. */
  skip(id: number, sequence: number): void {
    this.statements.insertSkip.run(id, sequence);
  }

  /** Lets the service retry a failing message at once, even if a 410 response has disabled the endpoint. */
  resume(id: number): void {
    this.statements.resume.run(id);
  }

  remove(id: number): void {
    this.statements.remove.run(id);
  }

  keepAttempt(id: number, attempt: WebhookAttempt): void {
    this.connection.transaction.immediate(() => this.keepAttempts(id, [attempt]));
  }

  // Operations of the delivering service

  /**
   * @returns ids of endpoints whose results were not stored: a command has changed or removed these endpoints
   * @throws StorageError `failed` while another process has the lock
   */
  store(outcomes: readonly WebhookOutcome[]): readonly number[] {
    try {
      return this.connection.transaction.immediate(() =>
        outcomes.filter((outcome) => !this.storeOutcome(outcome)).map(({ id }) => id),
      );
    } catch (error) {
      throw toStorageError(error) ?? error;
    }
  }

  private storeOutcome({ id, revision, progress, attempts }: WebhookOutcome): boolean {
    const { position, isRestarted, ...columns } = progress;
    const values = { ...columns, ...position, isRestarted: Number(isRestarted), id, revision };
    if (this.statements.update.run(values).changes === 0) return false;
    this.statements.removePassedSkips.run(id, position.sequence);
    this.keepAttempts(id, attempts);
    return true;
  }

  private keepAttempts(id: number, attempts: readonly WebhookAttempt[]): void {
    // Earlier attempts are not stored, because most would be deleted below.
    for (const attempt of attempts.slice(-KEPT_ATTEMPTS))
      this.statements.insertAttempt.run({ ...attempt, id });
    for (const isDelivered of [1, 0])
      this.statements.trimAttempts.run({ id, isDelivered, most: KEPT_ATTEMPTS });
  }

  /** Returns all endpoints at the first call, and after another process has changed the file. */
  listIfChanged(): readonly WebhookEndpoint[] | undefined {
    const version = this.connection.value<number>('PRAGMA data_version');
    if (version === this.dataVersion) return undefined;
    const endpoints = this.list();
    // The version is set last: after an error, the next call reads the endpoints again.
    this.dataVersion = version;
    return endpoints;
  }

  /** Takes the lock until `close` or the end of the process. @returns false if another store has the lock */
  claim(): boolean {
    this.lock ??= lockPrivateFile(this.lockPath);
    return this.lock !== undefined;
  }

  close(): void {
    this.connection.close();
    // The lock is released last, so that its next owner reads all stored results.
    this.lock?.close();
    this.lock = undefined;
  }
}

/** True if an endpoint was ever added. The service calls this every second, so it must be cheap. */
export const hasWebhooks = (databaseFile: string): boolean => hasTables(webhooksFileOf(databaseFile));

/** @param use `issue` creates a missing file @throws StorageError */
export const openWebhooks = (storage: Storage, use: StorageUse): WebhookStore =>
  new WebhookStore(storage.pathForOpening(), { waitMs: waitMsFor(use), create: use === 'issue' });
