/** Passes HTTP writes to the group commit, and saves responses (docs/api.md#repeating-a-request). */

import { RegistryError } from '../values/errors.ts';
import type { Connection } from './connection.ts';
import type { GroupCommit, ReadSnapshot } from './group-commit.ts';

export const SAVED_SECONDS = 86_400;

export interface StoredResponse {
  readonly status: number;
  readonly location: string | null;
  readonly etag: string | null;
  /** JSON that may contain personal data. */
  readonly body: string;
}

export interface SavedResponse extends StoredResponse {
  readonly requestHash: string;
}

/** Response to save in the transaction that creates a row, so that a crash never loses only the response. */
export interface ResponseToSave<Created> {
  /** Id of the API key of the request. No other API key gets the saved response. */
  readonly keyId: number;
  readonly idempotencyKey: string;
  readonly requestHash: string;
  /** Called inside the transaction. */
  compose(created: Created): StoredResponse;
}

/** Maximum number of expired rows that one write removes. A write adds at most one row. */
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
  // REPLACE, because an expired row with the same idempotency key may still exist.
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

  /** All rows created up to this second are gone. Further writes in the same second skip the search. */
  let purgedUntil = Number.NEGATIVE_INFINITY;
  function removeExpired(until: number): void {
    if (until !== purgedUntil && purge.run(until).changes === 0) purgedUntil = until;
  }

  const find = (keyId: number, idempotencyKey: string, nowSeconds: number): SavedResponse | undefined =>
    snapshot.read(() => select.get(keyId, idempotencyKey, nowSeconds - SAVED_SECONDS));

  const write = <T>(nowSeconds: number, work: () => T): Promise<T> =>
    commits.write(() => {
      removeExpired(nowSeconds - SAVED_SECONDS);
      return work();
    });

  return {
    find,
    update: write,
    /**
     * With `keep`, the work runs only if the idempotency key is unused, and the same transaction saves the
     * response.
     * @throws (as rejection) RegistryError `repeated` for a used key, and errors of the work and the commit
     */
    create: <T>(keep: ResponseToSave<T> | undefined, nowSeconds: number, work: () => T): Promise<T> =>
      write(nowSeconds, () => {
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

/** Properties by which saved responses are found: the row that the request created, or the content. */
interface ResponsesWith {
  /** SELECT of created rows' paths, as `path`. A response is found if its Location ends with a path. */
  readonly paths: string;
  /** Texts that the body contains, such as national IDs. A text must contain no quote: it is put into SQL. */
  readonly texts: readonly string[];
  /** Finds responses without Location whose body has the property `field`, and an `id` that `ids` selects. */
  readonly entries: readonly { readonly field: string; readonly ids: string }[];
}

/** Returns the SQL after FROM for saved responses with any of these properties. */
export function responsesWithSql({ paths, texts, entries }: ResponsesWith): string {
  const containing = texts.map((text) => ` OR instr(body, '${text}') > 0`).join('');
  const ofEntries = entries.map(
    ({ field, ids }) =>
      ` OR location IS NULL AND body ->> '$.${field}' IS NOT NULL
        AND CAST(body ->> '$.id' AS INTEGER) IN (${ids})`,
  );
  return `main.idempotent_responses WHERE EXISTS (SELECT 1 FROM (${paths})
      WHERE substr(location, -length(path)) = path)${containing}${ofEntries.join('')}`;
}
