/** The endpoints of webhooks in a file of their own (docs/decisions/0028-webhooks.md). */
import type { WebhookType } from '../../../domain/webhooks/types.ts';
import type {
  FeedPosition,
  WebhookAttempt,
  WebhookEndpoint,
  WebhookEndpointValues,
  WebhookOutcome,
  WebhookStore,
} from '../../contract/webhooks.ts';
import type { Connection } from '../engine/connection.ts';
import { toStorageError } from '../engine/errors.ts';
import { hasTables, openDatabase } from '../engine/open-database.ts';
import type { FileLock } from '../files/durable-files.ts';
import { lockPrivateFile } from '../files/durable-files.ts';
import { webhooksFileOf, webhooksLockOf } from '../files/registry-files.ts';
import { WEBHOOKS_SCHEMA } from '../schema/migrations/webhooks.ts';
import { type EndpointRow, prepareStatements, type Statements } from './statements.ts';

/** How many attempts are kept of each endpoint that succeeded, and as many that failed. */
const KEPT_ATTEMPTS = 100;

export interface WebhooksOptions {
  /** How long a change may wait for another process. */
  readonly waitMs: number;
  readonly create: boolean;
}

/** Whether an endpoint was ever added. */
export const hasWebhooks = (databaseFile: string): boolean => hasTables(webhooksFileOf(databaseFile));

/** @throws StorageError when the file cannot be used */
export function openWebhooks(
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

/** What commands change. */
function changesOf(db: Connection, statements: Statements) {
  const { selectOne, insert, insertSecret, endSecrets, insertSkip, resume, touch, remove } = statements;
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
        touch.run(id);
        return true;
      }),
    skip: (id: number, sequence: number) =>
      db.transaction.immediate(() => {
        insertSkip.run(id, sequence);
        touch.run(id);
      }),
    resume: (id: number) => void resume.run(id),
    remove: (id: number) => db.transaction.immediate(() => remove.run(id).changes > 0),
    keepAttempt: (id: number, attempt: WebhookAttempt) =>
      db.transaction.immediate(() => keepAttempts(statements, id, [attempt])),
  };
}

/** What the service needs that delivers. */
function serviceOf(db: Connection, statements: Statements, lockPath: string) {
  let lock: FileLock | undefined;
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
      // Last: whoever delivers next reads what was stored.
      lock?.release();
      lock = undefined;
    },
  };
}

/** @returns false when a command has changed or removed the endpoint since it was read */
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
  // Of more than are kept, the first would be removed at once.
  for (const attempt of attempts.slice(-KEPT_ATTEMPTS)) {
    const { webhookId, type, sequence, atMs, durationMs, status, fault } = attempt;
    statements.insertAttempt.run(id, webhookId, type, sequence, atMs, Math.round(durationMs), status, fault);
  }
  for (const isDelivered of [1, 0]) statements.trimAttempts.run({ id, isDelivered, most: KEPT_ATTEMPTS });
}
