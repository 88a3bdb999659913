/** Responses to POST that are kept in the transaction of the write they answer. */
import { RegistryError } from '../../../domain/values/errors.ts';
import {
  type IdempotentResponses,
  KEPT_SECONDS,
  type KeptResponse,
  type ResponseToKeep,
} from '../../contract/entity-store.ts';
import type { Connection } from '../engine/connection.ts';
import type { GroupCommit } from '../engine/group-commit.ts';
import type { ReadSnapshot } from '../engine/read-snapshot.ts';

/** Expired rows that one write removes: few enough not to be noticed, and more than it adds. */
const PURGED_ROWS = 8;

export interface ResponseKeeper extends IdempotentResponses {
  /**
   * Queues the work of a `create`. With a response to keep, the work runs only if its key is unused, and the
   * response is kept in the same transaction. Each one removes a few expired responses, too.
   * @throws (as rejection) RegistryError `repeated` for a key that was used, and what the work and the
   * commit throw
   */
  create<T>(keep: ResponseToKeep<T> | undefined, nowSeconds: number, work: () => T): Promise<T>;
  /** Queues the work of an `update`, which removes a few expired responses. */
  update<T>(nowSeconds: number, work: () => T): Promise<T>;
}

export function openIdempotentResponses(
  db: Connection,
  { commits, snapshot }: { readonly commits: GroupCommit; readonly snapshot: ReadSnapshot },
): ResponseKeeper {
  const select = db.prepare<[keyId: number, key: string, after: number], KeptResponse>(
    `SELECT request_hash AS requestHash, status, location, etag, body FROM idempotent_responses
     WHERE key_id = ? AND idempotency_key = ? AND created_at > ?`,
  );
  // An expired row of the same key may still be there.
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

  /** The last instant up to which nothing was left to be removed: it is not looked for again. */
  let purgedUntil = Number.NEGATIVE_INFINITY;
  function removeExpired(until: number): void {
    if (until !== purgedUntil && purge.run(until).changes === 0) purgedUntil = until;
  }

  const find = (keyId: number, idempotencyKey: string, nowSeconds: number): KeptResponse | undefined =>
    snapshot.read(() => select.get(keyId, idempotencyKey, nowSeconds - KEPT_SECONDS));

  const write = <T>(nowSeconds: number, work: () => T): Promise<T> =>
    commits.write(() => {
      removeExpired(nowSeconds - KEPT_SECONDS);
      return work();
    });

  return {
    find,
    update: write,
    create: (keep, nowSeconds, work) =>
      write(nowSeconds, () => {
        if (keep === undefined) return work();
        const { keyId, idempotencyKey, requestHash } = keep;
        // Another process may have answered the same request since it was looked for.
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
