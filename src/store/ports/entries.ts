/** The entries of single members, as the API lists them. */
import type {
  DeliveryFilter,
  Period,
  ProductionEntry,
  SavingsTransaction,
} from '../../domain/entries/entries.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';
import type { Page, PageRequest } from '../../domain/values/page.ts';

/** Lists are in order of the instant, newest first; of equal ones the higher id comes first. */
export interface EntryStore {
  /** Empty for a member that does not exist. */
  listDeliveries(
    memberId: number,
    filter: DeliveryFilter,
    request: PageRequest,
  ): Awaitable<Page<ProductionEntry>>;
  /** Of all savings accounts of the member; empty for one that does not exist. */
  listSavingsTransactions(
    memberId: number,
    filter: Period,
    request: PageRequest,
  ): Awaitable<Page<SavingsTransaction>>;
}
