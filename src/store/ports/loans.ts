/** The loans of a registry. */

import type { LoanFilter, LoanRecord, LoanValues } from '../../domain/lending/loans.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';
import type { FieldMessages } from '../../domain/values/errors.ts';
import type { Page, PageRequest } from '../../domain/values/page.ts';
import type { ResponseToKeep } from './idempotent-responses.ts';
import type { Actor } from './journal/history.ts';

export interface LoanStore {
  find(id: number): Awaitable<LoanRecord | undefined>;
  /** In order of id. */
  list(filter: LoanFilter, request: PageRequest): Awaitable<Page<LoanRecord>>;
  /** What a write of these values would be refused for: an unknown member, a reference in use. */
  conflicts(values: Partial<LoanValues>, exceptId?: number): Awaitable<FieldMessages>;
  /**
   * Adds a row, with its origin in the history and one event.
   * @param keep the response to be kept in the same transaction, if there is none under its key
   * @throws RegistryError `repeated` when there is, `invalid` for a conflict, `unavailable` when the database
   * is busy or the disk nearly full
   */
  create(
    values: LoanValues,
    nowSeconds: number,
    actor: Actor,
    keep?: ResponseToKeep<LoanRecord>,
  ): Promise<LoanRecord>;
  /**
   * Replaces the values, and records each that differs; equal ones leave the row untouched, `updatedAt`
   * included.
   * @param decide gives the new values from the stored row, inside the transaction; it may throw a
   * RegistryError
   * @throws RegistryError `not_found`, `unavailable`, `invalid`: also for another member than the stored one
   */
  update(
    id: number,
    decide: (stored: LoanRecord) => LoanValues,
    nowSeconds: number,
    actor: Actor,
  ): Promise<LoanRecord>;
}
