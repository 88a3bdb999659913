/** Store of rows, as the routes of cooperatives, members, loans and payments use it. */
import type { Awaitable, FieldMessages, Page, PageRequest } from '../values/errors.ts';
import type { ResponseToSave } from './idempotent-writes.ts';

/**
 * `Listed` is a row in a list, perhaps with fewer properties than `Row`. `Beside` are the other rows on which
 * an update depends, such as the loan of a payment. `New` are the arguments of `create` before `nowSeconds`.
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
  /** Returns the faults of a write: references to rows that are not visible, and values already in use. */
  conflicts(values: Partial<Values>, exceptId?: number): FieldMessages;
  /**
   * Adds a row, records the creation in the history, and writes one event.
   * @throws RegistryError `repeated` if a response is saved under the same idempotency key, `invalid` for
   *   a conflict, `unavailable` if the database is busy or the disk nearly full
   */
  create(
    ...row: [...New, nowSeconds: number, actor: Actor, keep?: ResponseToSave<Row> | undefined]
  ): Promise<Row>;
  /**
   * Replaces the values, and records each changed value in the history. If no value changes, nothing is
   * written, not even `updatedAt`.
   * @param decide returns the new values of the stored row, inside the transaction; may throw a RegistryError
   * @throws RegistryError `not_found` or `unavailable`; `invalid` for a conflict or a change of a fixed value
   */
  update(
    id: number,
    decide: (stored: Row, ...beside: Beside) => Values,
    nowSeconds: number,
    actor: Actor,
  ): Promise<Row>;
}

export const ACTOR_KINDS = ['key', 'import', 'undo', 'correction'] as const;

/** Source of a change: the kind, and the id of the API key or of the operation. */
export type Actor = `${(typeof ACTOR_KINDS)[number]}:${number}`;
