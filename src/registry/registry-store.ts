/** Stores of cooperatives, members, entries, loans and payments, limited to rows visible to the caller. */

import type { StoreOf, Visible } from '../access/api-keys.ts';
import type { Connection } from '../sqlite/connection.ts';
import { invalidFields } from '../values/errors.ts';
import type { Searching } from './name-search.ts';
import { openCooperatives } from './stores/cooperative-store.ts';
import { openEntries } from './stores/entry-store.ts';
import { openLoans, openPayments } from './stores/loan-and-payment-store.ts';
import { openMembers } from './stores/member-store.ts';
import type { StoreDependencies } from './stores/row-store.ts';
import { openCooperativeSummaries } from './stores/rows.ts';

export type OwnedRows = ReturnType<ReturnType<typeof openOwnedRows>>;

/** Stores that a caller can get only by stating which rows are visible. */
export interface NarrowableStore<Rows = OwnedRows> {
  /** Returns the stores of the visible rows. Reads and writes treat all other rows as absent. */
  readonly narrowedTo: StoreOf<Rows>;
}

const refuseSearch = (): Promise<never> =>
  Promise.reject(invalidFields({ search: ['This registry has no search by name.'] }));

/** @param searching undefined in a registry without search by name */
export function openOwnedRows(
  db: Connection,
  shared: Omit<StoreDependencies, 'cooperativeSummaries'>,
  searching: Searching | undefined,
) {
  const cooperativeSummaries = openCooperativeSummaries(db, shared.snapshot);
  const dependencies = { ...shared, cooperativeSummaries };
  const cooperatives = openCooperatives(db, dependencies);
  const members = openMembers(db, dependencies, searching?.members ?? refuseSearch);
  const entries = openEntries(db, dependencies, members);
  const loans = openLoans(db, dependencies);
  const payments = openPayments(db, dependencies);
  return (visible: Visible) => ({
    cooperatives: cooperatives(visible),
    members: members(visible),
    entries: entries(visible),
    loans: loans(visible),
    payments: payments(visible),
  });
}
