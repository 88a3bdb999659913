/** Responses that a repeated request gets again (docs/api.md#repeating-a-request). */
import type { Awaitable } from '../../domain/values/awaitable.ts';

/** For how long a response is kept. */
export const KEPT_SECONDS = 86_400;

/** A successful response as it was sent first. */
export interface StoredResponse {
  readonly status: number;
  readonly location: string | null;
  readonly etag: string | null;
  /** JSON; it may hold personal data. */
  readonly body: string;
}

export interface KeptResponse extends StoredResponse {
  /** Of the request that it answered. */
  readonly requestHash: string;
}

/**
 * What a store writes beside a new row, in the same transaction: after a crash there are either both or
 * neither.
 */
export interface ResponseToKeep<Created> {
  /** Of the API key: two of them never see each other's responses. */
  readonly keyId: number;
  readonly idempotencyKey: string;
  readonly requestHash: string;
  /** Composes the response to what was created, inside the transaction. */
  compose(created: Created): StoredResponse;
}

export interface IdempotentResponses {
  /** @returns undefined for a key that was not used in the last 24 hours */
  find(keyId: number, idempotencyKey: string, nowSeconds: number): Awaitable<KeptResponse | undefined>;
}
