/** Keeps the loan history of one member fresh in the write that changes it: imports refresh set by set. */
import type { Connection } from '../engine/connection.ts';
import { pack, type ReadModelFormat } from './columns.ts';
import { openFinancials } from './compute.ts';

/**
 * @returns what computes and stores the loan history of a member; called inside the transaction, after the
 * rows were written: their triggers mark it as stale
 */
export function openLoanHistoryRefresh(
  db: Connection,
  { version, zone }: ReadModelFormat,
): (memberId: number) => void {
  const financials = openFinancials(db, zone);
  const store = db.prepare<[loans: string, id: number]>('UPDATE members SET loans = ? WHERE id = ?');
  return (memberId) => {
    store.run(pack(financials.loanHistoryOf(memberId), version), memberId);
  };
}
