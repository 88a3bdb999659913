/** Statistics as the service gives them, against sums from scratch over all rows. */
import assert from 'node:assert/strict';
import type { StatisticsStore } from '../../../src/statistics/statistics-store.ts';
import { isErased, type Row, type Rows, rowsOf } from './rows.ts';

/** In the zone of the tests. */
const local = (seconds: unknown): string => new Date(((seconds as number) + 7200) * 1000).toISOString();

const sumOf = (rows: readonly Row[], of: (row: Row) => number): number =>
  rows.reduce((total, row) => total + of(row), 0);
const column = (name: string) => (row: Row) => row[name] as number;

function countsOf(rows: readonly Row[], of: (row: Row) => unknown): { [value: string]: number } {
  const groups = Map.groupBy(rows, (row) => String(of(row)));
  return Object.fromEntries([...groups].map(([value, group]) => [value, group.length]));
}

/** @param cooperatives ids */
function naive(rows: Rows, cooperatives: readonly unknown[], now: number) {
  const of = (entity: Parameters<typeof rowsOf>[1]) =>
    rowsOf(rows, entity).filter(({ cooperative_id }) => cooperatives.includes(cooperative_id));
  const members = of('member').filter((row) => !isErased(row));
  const active = members.filter(({ status }) => status === 'active');
  const [year, month] = local(now).split('-').map(Number) as [number, number];
  const isShown = ({ delivered_at }: Row): boolean => {
    const [itsYear, itsMonth] = local(delivered_at).split('-').map(Number) as [number, number];
    const ago = year * 12 + month - itsYear * 12 - itsMonth;
    return ago >= 0 && ago < 24;
  };
  const groups = Map.groupBy(of('delivery').filter(isShown), ({ delivered_at, product }) =>
    JSON.stringify([local(delivered_at).slice(0, 7), product]),
  );
  const owed = ({ status, amount_minor, paid_amount_minor }: Row): number =>
    status === 'approved' || status === 'defaulted'
      ? Math.max(0, (amount_minor as number) - (paid_amount_minor as number))
      : 0;
  const transactions = (kind: string) => of('transaction').filter((row) => row.kind === kind);
  return {
    members: {
      total: members.length,
      byStatus: countsOf(members, ({ status }) => status),
      byGender: countsOf(active, ({ gender }) => gender ?? 'unknown'),
      byRole: countsOf(active, ({ role }) => role),
      byJoiningYear: countsOf(members, (row) => local(row.registration_date).slice(0, 4)),
    },
    production: [...groups].map(([key, deliveries]) => ({
      ...{ month: JSON.parse(key)[0], product: JSON.parse(key)[1] },
      deliveries: deliveries.length,
      grams: sumOf(deliveries, column('grams')),
    })),
    loans: Object.fromEntries(
      ['pending', 'approved', 'rejected', 'cancelled', 'paid', 'defaulted'].map((status) => {
        const loans = of('loan').filter((row) => row.status === status);
        const amountMinor = sumOf(loans, column('amount_minor'));
        const paidAmountMinor = sumOf(loans, column('paid_amount_minor'));
        return [
          status,
          { count: loans.length, amountMinor, paidAmountMinor, outstandingMinor: sumOf(loans, owed) },
        ];
      }),
    ),
    savings: {
      accounts: of('account').length,
      contributionsMinor: sumOf(transactions('contribution'), column('amount_minor')),
      withdrawalsMinor: sumOf(transactions('withdrawal'), column('amount_minor')),
    },
  };
}

type OfProduct = { readonly month: string; readonly product: string | null };
const keyOf = ({ month, product }: OfProduct): string => JSON.stringify([month, product]);

const inAnyOrder = <T extends { readonly production: readonly OfProduct[] }>(totals: T) => ({
  ...totals,
  production: [...totals.production].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
});

/**
 * @param now epoch seconds
 * @param sequence of the last event
 */
export async function checkStatistics(
  statistics: StatisticsStore,
  rows: Rows,
  now: number,
  sequence: number,
): Promise<void> {
  const cooperatives = rowsOf(rows, 'cooperative');
  const ids = cooperatives.map(({ id }) => id);
  const { districts, sectors, ...country } = statistics.ofCountry(null, now);
  assert.deepEqual(inAnyOrder(country), { asOf: now, sequence, ...inAnyOrder(naive(rows, ids, now)) });
  const active = country.members.byStatus.active ?? 0;
  for (const groups of [districts, sectors]) {
    assert.equal(
      groups.reduce((total, group) => total + group.cooperatives, 0),
      ids.length,
    );
    assert.equal(
      groups.reduce((total, group) => total + group.activeMembers, 0),
      active,
    );
  }
  for (const id of ids) {
    const found = statistics.ofCooperative(id as number, now);
    assert.deepEqual(found && inAnyOrder(found), {
      ...{ asOf: now, sequence, ...inAnyOrder(naive(rows, [id], now)) },
    });
  }
}
