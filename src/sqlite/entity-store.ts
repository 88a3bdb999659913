/** Interface of the stores of cooperatives, members, loans and payments. */
import {
  type Awaitable,
  type FieldMessages,
  type Page,
  type PageRequest,
  RegistryError,
} from '../values/errors.ts';
import type { Connection } from './connection.ts';
import type { GroupCommit, ReadSnapshot } from './group-commit.ts';

/** Seconds for which a response is saved. */
export const SAVED_SECONDS = 86_400;

export interface StoredResponse {
  readonly status: number;
  readonly location: string | null;
  readonly etag: string | null;
  /** JSON that may contain personal data. */
  readonly body: string;
}

export interface SavedResponse extends StoredResponse {
  /** Hash of the request to which this is the response. */
  readonly requestHash: string;
}

/** Response to store with a new row in one transaction, so that a crash loses both or neither. */
export interface ResponseToSave<Created> {
  /** API key of the request. Keys never see responses to other keys. */
  readonly keyId: number;
  readonly idempotencyKey: string;
  readonly requestHash: string;
  /** Composes the response to the created row, inside the transaction. */
  compose(created: Created): StoredResponse;
}

/**
 * Store of rows of one kind, read and written one at a time.
 * @typeParam Listed row as lists show it
 * @typeParam Beside further rows that decide an update, such as the loan of a payment
 * @typeParam New values of a new row
 */
export interface EntityStore<
  Row,
  Values,
  Filter,
  Listed = Row,
  Beside extends readonly unknown[] = [],
  New extends readonly unknown[] = [values: Values],
> {
  find(id: number): Row | undefined;
  /** Lists rows in order of id. */
  list(filter: Filter, request: PageRequest): Awaitable<Page<Listed>>;
  /** Returns the conflicts of a write: references to rows that are not visible, and values already in use. */
  conflicts(values: Partial<Values>, exceptId?: number): FieldMessages;
  /**
   * Adds a row, with its creation in the history and one event.
   * @param row the values, the time in epoch seconds, the actor, and a response to save in the same
   *   transaction
   * @throws RegistryError `repeated` if a response is already saved under the same key, `invalid` for a
   *   conflict, `unavailable` if the database is busy or the disk nearly full
   */
  create(
    ...row: [...New, nowSeconds: number, actor: Actor, keep?: ResponseToSave<Row> | undefined]
  ): Promise<Row>;
  /**
   * Replaces the values, and records each value that differs. Equal values write nothing, not even
   * `updatedAt`.
   * @param decide returns the new values of the stored row, inside the transaction; may throw a RegistryError
   * @throws RegistryError `not_found`, `unavailable`, or `invalid`, also for values that no update may change
   */
  update(
    id: number,
    decide: (stored: Row, ...beside: Beside) => Values,
    nowSeconds: number,
    actor: Actor,
  ): Promise<Row>;
}

/** Kinds of actors, as events name them. */
export const ACTOR_KINDS = ['key', 'import', 'undo', 'correction'] as const;

/** Source of a change: an API key, an import, a correction by a command, or the undo of an operation. */
export type Actor = `${(typeof ACTOR_KINDS)[number]}:${number}`;

// Responses to POST requests, saved in the transaction of the write

/** Expired rows that one write removes: few, but more than a write adds. */
const PURGED_ROWS = 8;

export type IdempotentWrites = ReturnType<typeof openIdempotentWrites>;

export function openIdempotentWrites(
  db: Connection,
  { commits, snapshot }: { readonly commits: GroupCommit; readonly snapshot: ReadSnapshot },
) {
  const select = db.prepare<[keyId: number, key: string, after: number], SavedResponse>(
    `SELECT request_hash AS requestHash, status, location, etag, body FROM idempotent_responses
     WHERE key_id = ? AND idempotency_key = ? AND created_at > ?`,
  );
  // An expired row with the same key may still exist.
  const insert = db.prepare<
    [number, string, string, number, string | null, string | null, string, createdAt: number]
  >(`INSERT OR REPLACE INTO idempotent_responses
       (key_id, idempotency_key, request_hash, status, location, etag, body, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const purge = db.prepare<[until: number]>(
    `DELETE FROM idempotent_responses WHERE (key_id, idempotency_key) IN (
       SELECT key_id, idempotency_key FROM idempotent_responses WHERE created_at <= ?
       ORDER BY created_at LIMIT ${PURGED_ROWS})`,
    `${PURGED_ROWS} rows, found by their age`,
  );

  /** Time up to which no expired rows are left, so that the next write can skip the search. */
  let purgedUntil = Number.NEGATIVE_INFINITY;
  function removeExpired(until: number): void {
    if (until !== purgedUntil && purge.run(until).changes === 0) purgedUntil = until;
  }

  /** Returns undefined for a key that was not used in the last 24 hours. */
  const find = (keyId: number, idempotencyKey: string, nowSeconds: number): SavedResponse | undefined =>
    snapshot.read(() => select.get(keyId, idempotencyKey, nowSeconds - SAVED_SECONDS));

  /** Queues the work of an `update`, and removes a few expired responses. */
  const update = <T>(nowSeconds: number, work: () => T): Promise<T> =>
    commits.write(() => {
      removeExpired(nowSeconds - SAVED_SECONDS);
      return work();
    });

  return {
    find,
    update,
    /**
     * Queues the work of a `create`. If a response is to be saved, the work runs only if the key is unused,
     * and the same transaction saves the response.
     * @throws (as rejection) RegistryError `repeated` for a used key, and errors of the work and the commit
     */
    create: <T>(keep: ResponseToSave<T> | undefined, nowSeconds: number, work: () => T): Promise<T> =>
      update(nowSeconds, () => {
        if (keep === undefined) return work();
        const { keyId, idempotencyKey, requestHash } = keep;
        // Another process may have handled the same request since the first search.
        if (find(keyId, idempotencyKey, nowSeconds) !== undefined) throw repeated();
        const created = work();
        const { status, location, etag, body } = keep.compose(created);
        insert.run(keyId, idempotencyKey, requestHash, status, location, etag, body, nowSeconds);
        return created;
      }),
  };
}

const repeated = (): RegistryError =>
  new RegistryError('repeated', 'A request with this Idempotency-Key is still running.', {
    retryAfterSeconds: 1,
  });
