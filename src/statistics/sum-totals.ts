/** Computes statistics on one connection from the stored totals of cooperatives. */

import type { Visible } from '../access/api-keys.ts';
import { LOAN_STATUSES, type LoanStatus } from '../registry/loans.ts';
import { toExactInteger } from '../registry/stores/compute-read-model.ts';
import type { Connection } from '../sqlite/connection.ts';
import { activeMembersSql, ERASED_STATUS } from '../sqlite/counts.ts';
import { currentSql, TOTALS, TOTALS_VERSION, type Totals } from '../sqlite/declared-totals.ts';
import type { TimeZone } from '../values/date-time.ts';
import { RegistryError } from '../values/errors.ts';
import { isSameIgnoringCase } from '../values/text.ts';
import {
  addCount,
  type CooperativeTotals,
  type CountryStatistics,
  type GroupTotals,
  inOrder,
  isRepaid,
  type LoanTotals,
  type MemberTotals,
  monthsUntil,
  NO_LOANS,
  noMembers,
  type ProductTotals,
  type Statistics,
  UNKNOWN_GENDER,
} from './statistics.ts';
import { OTHER_TOTALS, totalsVersion } from './stored-totals.ts';

/** Limit of cached sums of several cooperatives, valid until the next write. */
const KEPT_SUMS = 16;

interface StatisticsReader {
  /**
   * @param now epoch seconds
   * @returns undefined for an unknown cooperative
   */
  ofCooperative(id: number, now: number): Statistics | undefined;
  /** @param district case-insensitive */
  ofCountry(visible: Visible, now: number, district?: string): CountryStatistics;
}

interface CooperativeRow {
  readonly id: number;
  readonly district: string | null;
  readonly sector: string | null;
  readonly activeMembers: number;
}

interface Kept {
  readonly dataVersion: number;
  readonly month: string | undefined;
  readonly sums: Omit<CountryStatistics, 'asOf'>;
}

/**
 * Call the methods inside one snapshot. They throw RegistryError `unavailable` if the totals have another
 * version or zone.
 * @param zone in which months and years begin
 */
export function openStatisticsReader(db: Connection, zone: TimeZone): StatisticsReader {
  const version = db.prepare<[], { version: string }>(TOTALS_VERSION, 'one row');
  const dataVersion = db.prepare<[], { data_version: number }>('PRAGMA data_version');
  const sequence = db.prepare<[], { sequence: number }>(
    'SELECT coalesce(max(sequence), 0) AS sequence FROM events',
    'the end of the key',
  );
  const exists = db.prepare<[number], { id: number }>('SELECT id FROM cooperatives WHERE id = ?');
  const list = db.prepare<[{ visible: string | null }], CooperativeRow>(
    `SELECT id, district, sector,
       ${activeMembersSql('c.id')} AS activeMembers
     FROM cooperatives c
     WHERE @visible IS NULL OR id IN (SELECT value FROM json_each(@visible)) ORDER BY id`,
    'a few thousand cooperatives',
  );
  const addUp = openTotals(db);
  const kept = new Map<string, Kept>();

  function assertCurrent(): void {
    if (version.get()?.version === totalsVersion(zone)) return;
    throw new RegistryError('unavailable', OTHER_TOTALS);
  }

  const sum = (ids: readonly number[], now: number) => ({
    sequence: (sequence.get() as { sequence: number }).sequence,
    ...addUp(ids, monthsUntil(now, zone)),
  });

  function sumAll(visible: Visible, now: number, wanted: string | undefined): Kept['sums'] {
    const isWanted = ({ district }: CooperativeRow) =>
      wanted === undefined || (district !== null && isSameIgnoringCase(district, wanted));
    const cooperatives = list.all({ visible: visible && JSON.stringify(visible) }).filter(isWanted);
    return {
      ...sum(
        cooperatives.map(({ id }) => id),
        now,
      ),
      districts: groupsOf(cooperatives, 'district'),
      sectors: groupsOf(cooperatives, 'sector'),
    };
  }

  return {
    ofCooperative(id, now) {
      assertCurrent();
      return exists.get(id) && { asOf: now, ...sum([id], now) };
    },

    ofCountry(visible, now, district) {
      assertCurrent();
      const key = JSON.stringify([visible, district]);
      const seen = (dataVersion.get() as { data_version: number }).data_version;
      const [month] = monthsUntil(now, zone);
      const before = kept.get(key);
      if (before?.dataVersion === seen && before.month === month) return { asOf: now, ...before.sums };
      const sums = sumAll(visible, now, district);
      kept.delete(key);
      kept.set(key, { dataVersion: seen, month, sums });
      if (kept.size > KEPT_SUMS) kept.delete(kept.keys().next().value as string);
      return { asOf: now, ...sums };
    },
  };
}

const IS_WANTED = 'cooperative_id IN (SELECT value FROM json_each(@ids))';
const OF_TOTALS = 'the totals of some cooperatives: tens for each';
/** Two columns of an exact sum. */
const exact = (name: string): string => `sum(${name}_millions), sum(${name}_rest)`;
type Exact = [millions: number, rest: number];
const toExact = (millions: number, rest: number) => toExactInteger({ count: 1, millions, rest });

/** Subquery of the totals of the wanted cooperatives. */
function totalsOf(table: (typeof TOTALS)[number]['table'], where = 'true'): string {
  const totals = TOTALS.find((each) => each.table === table) as Totals;
  return `(${currentSql(totals, `${IS_WANTED} AND ${where}`)})`;
}

/** @returns a function that sums the totals of cooperatives */
function openTotals(db: Connection) {
  const prepare = <Row extends readonly unknown[]>(sql: string) =>
    db.prepareTuples<[{ ids: string; from?: string; until?: string }], Row>(sql, OF_TOTALS);
  const members = prepare<[status: string, gender: string, role: string, year: string, count: number]>(
    `SELECT status, gender, role, joining_year, sum(members) AS members
     FROM ${totalsOf('member_totals', `status <> '${ERASED_STATUS}'`)}
     GROUP BY 1, 2, 3, 4 HAVING sum(members) <> 0`,
  );
  const production = prepare<[month: string, product: string, deliveries: number, ...Exact]>(
    `SELECT month, product, sum(deliveries), ${exact('grams')}
     FROM ${totalsOf('production_totals', 'month BETWEEN @from AND @until')}
     GROUP BY 1, 2 HAVING sum(deliveries) <> 0`,
  );
  const loans = prepare<[status: LoanStatus, count: number, ...Exact, ...Exact, ...Exact]>(
    `SELECT status, sum(loans), ${exact('amount')}, ${exact('paid')}, ${exact('outstanding')}
     FROM ${totalsOf('loan_totals')} GROUP BY 1`,
  );
  const accounts = prepare<[number]>(`SELECT coalesce(sum(accounts), 0) FROM ${totalsOf('account_totals')}`);
  const savings = prepare<[kind: string, ...Exact]>(
    `SELECT kind, ${exact('amount')} FROM ${totalsOf('savings_totals')} GROUP BY 1`,
  );

  function membersOf(ids: string): MemberTotals {
    const totals = noMembers();
    for (const [status, gender, role, year, count] of members.iterate({ ids })) {
      totals.total += count;
      addCount(totals.byStatus, status, count);
      addCount(totals.byJoiningYear, year, count);
      if (status !== 'active') continue;
      addCount(totals.byGender, gender === '' ? UNKNOWN_GENDER : gender, count);
      addCount(totals.byRole, role, count);
    }
    return totals;
  }

  const productionOf = (ids: string, months: readonly string[]): ProductTotals[] =>
    inOrder(
      production
        .all({ ids, from: months[0] as string, until: months.at(-1) as string })
        .map(([month, product, deliveries, ...grams]) => ({
          month,
          product: product === '' ? null : product,
          deliveries,
          grams: toExact(...grams),
        })),
    );

  function loansOf(ids: string): CooperativeTotals['loans'] {
    const found = new Map<LoanStatus, LoanTotals>();
    for (const [status, count, amount, amountRest, paid, paidRest, ...outstanding] of loans.all({ ids }))
      found.set(status, {
        count,
        amountMinor: toExact(amount, amountRest),
        paidAmountMinor: toExact(paid, paidRest),
        outstandingMinor: isRepaid(status) ? toExact(...outstanding) : 0,
      });
    return Object.fromEntries(
      LOAN_STATUSES.map((status) => [status, found.get(status) ?? NO_LOANS]),
    ) as unknown as CooperativeTotals['loans'];
  }

  function savingsOf(ids: string): CooperativeTotals['savings'] {
    const sums = new Map(savings.all({ ids }).map(([kind, ...amount]) => [kind, toExact(...amount)]));
    return {
      accounts: accounts.get({ ids })?.[0] as number,
      contributionsMinor: sums.get('contribution') ?? 0,
      withdrawalsMinor: sums.get('withdrawal') ?? 0,
    };
  }

  return (cooperatives: readonly number[], months: readonly string[]): CooperativeTotals => {
    const ids = JSON.stringify(cooperatives);
    return {
      members: membersOf(ids),
      production: productionOf(ids, months),
      loans: loansOf(ids),
      savings: savingsOf(ids),
    };
  };
}

/** Sorted by name, null last. */
function groupsOf(rows: readonly CooperativeRow[], column: 'district' | 'sector'): GroupTotals[] {
  const groups = [...Map.groupBy(rows, (row) => row[column])].map(([name, members]) => ({
    name,
    cooperatives: members.length,
    activeMembers: members.reduce((total, { activeMembers }) => total + activeMembers, 0),
  }));
  return groups.sort((a, b) => (a.name === null ? 1 : b.name === null ? -1 : a.name < b.name ? -1 : 1));
}
