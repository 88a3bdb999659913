/** The payments on the loans of a registry. */

import type { LoanRecord } from '../../domain/lending/loans.ts';
import type { PaymentFilter, PaymentRecord, PaymentValues } from '../../domain/lending/payments.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';
import type { FieldMessages } from '../../domain/values/errors.ts';
import type { Page, PageRequest } from '../../domain/values/page.ts';
import type { ResponseToKeep } from './idempotent-responses.ts';
import type { Actor } from './journal/history.ts';

export interface PaymentStore {
  find(id: number): Awaitable<PaymentRecord | undefined>;
  /** In order of id. */
  list(filter: PaymentFilter, request: PageRequest): Awaitable<Page<PaymentRecord>>;
  /** What a write of these values would be refused for: an unknown loan, a reference in use. */
  conflicts(values: Partial<PaymentValues>, exceptId?: number): Awaitable<FieldMessages>;
  /**
   * Adds a row and what is paid on its loan, each with its history and event, in one transaction.
   * @param decide accepts the values, from the loan as it is inside the transaction; it may throw a
   * RegistryError
   * @param keep the response to be kept in the same transaction, if there is none under its key
   * @throws RegistryError `repeated` when there is, `invalid` for a conflict, or a total with too many
   * digits; `unavailable` when the database is busy or the disk nearly full
   */
  create(
    values: PaymentValues,
    decide: (loan: LoanRecord) => PaymentValues,
    nowSeconds: number,
    actor: Actor,
    keep?: ResponseToKeep<PaymentRecord>,
  ): Promise<PaymentRecord>;
  /**
   * Replaces the values, and what is paid on the loan; equal values leave both untouched.
   * @param decide gives the new values from the stored row and its loan, inside the transaction; it may throw
   * a RegistryError
   * @throws RegistryError `not_found`, `unavailable`, `invalid`: also for another loan than the stored one
   */
  update(
    id: number,
    decide: (stored: PaymentRecord, loan: LoanRecord) => PaymentValues,
    nowSeconds: number,
    actor: Actor,
  ): Promise<PaymentRecord>;
}
