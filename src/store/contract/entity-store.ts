/** What the stores of cooperatives, members, loans and payments have in common. */
import type { Awaitable } from '../../domain/values/awaitable.ts';
import type { FieldMessages } from '../../domain/values/errors.ts';
import type { Page, PageRequest } from '../../domain/values/page.ts';
import type { Actor } from './journal/history.ts';

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
  find(keyId: number, idempotencyKey: string, nowSeconds: number): KeptResponse | undefined;
}

/**
 * Rows of one kind, read and written one by one.
 * @typeParam Listed what a list shows of a row
 * @typeParam Beside what an update is decided with beside the row, such as the loan of a payment
 * @typeParam New what a row is added from
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
  /** In order of id. */
  list(filter: Filter, request: PageRequest): Awaitable<Page<Listed>>;
  /** What a write of these values would be refused for: what they refer to and is not seen, or is in use. */
  conflicts(values: Partial<Values>, exceptId?: number): FieldMessages;
  /**
   * Adds a row, with its origin in the history and one event.
   * @param row what it is added from; the time in epoch seconds; who adds it; and the response to be kept in
   * the same transaction, if there is none under its key
   * @throws RegistryError `repeated` when there is, `invalid` for a conflict, `unavailable` when the database
   * is busy or the disk nearly full
   */
  create(
    ...row: [...New, nowSeconds: number, actor: Actor, keep?: ResponseToKeep<Row> | undefined]
  ): Promise<Row>;
  /**
   * Replaces the values, and records each that differs; equal ones leave the row untouched, `updatedAt`
   * included.
   * @param decide gives the new values from the stored row, inside the transaction; it may throw a
   * RegistryError
   * @throws RegistryError `not_found`, `unavailable`, `invalid`: also for what no update may change
   */
  update(
    id: number,
    decide: (stored: Row, ...beside: Beside) => Values,
    nowSeconds: number,
    actor: Actor,
  ): Promise<Row>;
}
