/** Computes statistics from the stored totals of cooperatives. */

import type { Visible } from '../access/api-keys.ts';
import type { CooperativeSummary } from '../registry/cooperatives.ts';
import { LOAN_STATUSES, type LoanStatus } from '../registry/loans.ts';
import { toExactInteger } from '../registry/stores/read-model.ts';
import { type Connection, WAIT_MS } from '../sqlite/connection.ts';
import { activeMembersSql, ERASED_STATUS } from '../sqlite/counts.ts';
import { currentSql, TOTALS, type Totals } from '../sqlite/declared-totals.ts';
import { openDatabase } from '../sqlite/open-database.ts';
import { zoneIn } from '../sqlite/registry-facts.ts';
import { REGISTRY_SCHEMA } from '../sqlite/schemas.ts';
import type { Storage } from '../sqlite/storage.ts';
import { hasTotals, OTHER_TOTALS } from '../sqlite/stored-totals.ts';
import { formatDate, type TimeZone } from '../values/date-time.ts';
import type { ExactInteger } from '../values/decimal.ts';
import { RegistryError } from '../values/errors.ts';
import { isSameIgnoringCase } from '../values/text.ts';

/** Number of calendar months of production, including the current month. */
export const STATISTICS_MONTHS = 24;

/** Returns the months of production, such as `2026-10`, oldest first. */
export function monthsUntil(now: number, zone: TimeZone): readonly string[] {
  const [year, number] = formatDate(now, zone).split('-').map(Number) as [number, number];
  const last = year * 12 + number - 1;
  return Array.from({ length: STATISTICS_MONTHS }, (_, i) => {
    const at = last - STATISTICS_MONTHS + 1 + i;
    return `${String(Math.floor(at / 12)).padStart(4, '0')}-${String((at % 12) + 1).padStart(2, '0')}`;
  });
}

const CACHED_SUMS = 16;
/** Seconds for `Retry-After`. In this time, an operator may refresh the totals. */
const RETRY_AFTER_SECONDS = 60;

interface CooperativeRow {
  readonly id: number;
  readonly district: string | null;
  readonly sector: string | null;
  readonly activeMembers: number;
}

type Sums = Omit<CountryStatistics, 'asOf'>;

/**
 * The methods must be called in a transaction. They throw RegistryError `unavailable` if the totals were
 * stored by another release or in another time zone.
 */
export function openStatisticsReader(db: Connection, zone: TimeZone) {
  const list = db.prepare<[{ visible: string | null }], CooperativeRow>(
    `SELECT id, district, sector,
       ${activeMembersSql('c.id')} AS activeMembers
     FROM cooperatives c
     WHERE @visible IS NULL OR id IN (SELECT value FROM json_each(@visible)) ORDER BY id`,
    'a few thousand cooperatives',
  );
  const addUp = openTotals(db);
  /** Sums by visible cooperatives and district. They are valid until the next write or month. */
  const cache = new Map<string, Sums>();
  let cacheState = '';

  function sum(cooperatives: readonly { readonly id: number }[], now: number) {
    if (!hasTotals(db, zone))
      throw new RegistryError('unavailable', OTHER_TOTALS, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    const ids = cooperatives.map(({ id }) => id);
    const sequence = db.value<number>('SELECT coalesce(max(sequence), 0) FROM events');
    return { sequence, ...addUp(ids, monthsUntil(now, zone)) };
  }

  function sumAll(visible: Visible, now: number, district: string | undefined): Sums {
    const isWanted = (row: CooperativeRow) =>
      district === undefined || (row.district !== null && isSameIgnoringCase(row.district, district));
    const cooperatives = list.all({ visible: visible && JSON.stringify(visible) }).filter(isWanted);
    return {
      ...sum(cooperatives, now),
      districts: groupsOf(cooperatives, 'district'),
      sectors: groupsOf(cooperatives, 'sector'),
    };
  }

  return {
    /** @returns undefined for an unknown cooperative */
    ofCooperative(id: number, now: number): Statistics | undefined {
      if (db.count('cooperatives WHERE id = ?', [id]) === 0) return undefined;
      return { asOf: now, ...sum([{ id }], now) };
    },

    /** @param district case-insensitive */
    ofCountry(visible: Visible, now: number, district?: string): CountryStatistics {
      const state = `${db.value('PRAGMA data_version')} ${monthsUntil(now, zone)[0]}`;
      if (state !== cacheState || cache.size >= CACHED_SUMS) cache.clear();
      cacheState = state;
      const key = JSON.stringify([visible, district]);
      const sums = cache.get(key) ?? sumAll(visible, now, district);
      cache.set(key, sums);
      return { asOf: now, ...sums };
    },
  };
}

/** Numbers of members by value, such as a status. A value that no member has may be missing. */
export interface Counts {
  [value: string]: number;
}

export const UNKNOWN_GENDER = 'unknown';

type CooperativeTotals = ReturnType<ReturnType<typeof openTotals>>;

export interface Statistics extends CooperativeTotals {
  /** Epoch seconds. */
  readonly asOf: number;
  /** Number of the last event that the sums include. */
  readonly sequence: number;
}

/** Returns SQL for the two parts of an exact sum: millions and the rest. */
const exact = (name: string): string => `sum(${name}_millions), sum(${name}_rest)`;
type Exact = [millions: number, rest: number];
const toExact = (millions: number, rest: number) => toExactInteger({ count: 1, millions, rest });

/** Returns a subquery for the totals of the cooperatives in the parameter `@ids`, a JSON array. */
function totalsOf(table: (typeof TOTALS)[number]['table'], where = 'true'): string {
  const totals = TOTALS.find((declared) => declared.table === table) as Totals;
  return `(${currentSql(totals, `cooperative_id IN (SELECT value FROM json_each(@ids)) AND ${where}`)})`;
}

interface MemberCount {
  readonly status: string;
  readonly gender: string;
  readonly role: string;
  readonly year: string;
  readonly count: number;
}

function countBy(rows: readonly MemberCount[], column: 'status' | 'gender' | 'role' | 'year'): Counts {
  const counts: Counts = {};
  for (const row of rows) counts[row[column]] = (counts[row[column]] ?? 0) + row.count;
  return counts;
}

function openTotals(db: Connection) {
  const bound = 'the totals of some cooperatives: tens for each';
  const prepare = <Row extends readonly unknown[]>(sql: string) =>
    db.prepareTuples<[{ ids: string; from?: string; until?: string }], Row>(sql, bound);
  const members = db.prepare<[{ ids: string }], MemberCount>(
    `SELECT status, CASE gender WHEN '' THEN '${UNKNOWN_GENDER}' ELSE gender END AS gender, role,
       joining_year AS year, sum(members) AS count
     FROM ${totalsOf('member_totals', `status <> '${ERASED_STATUS}'`)}
     GROUP BY 1, 2, 3, 4 HAVING sum(members) <> 0`,
    bound,
  );
  const production = prepare<[month: string, product: string, deliveries: number, ...Exact]>(
    `SELECT month, product, sum(deliveries), ${exact('grams')}
     FROM ${totalsOf('production_totals', 'month BETWEEN @from AND @until')}
     GROUP BY 1, 2 HAVING sum(deliveries) <> 0 ORDER BY month, product = '', product`,
  );
  const loans = prepare<[status: LoanStatus, count: number, ...Exact, ...Exact, ...Exact]>(
    `SELECT status, sum(loans), ${exact('amount')}, ${exact('paid')}, ${exact('outstanding')}
     FROM ${totalsOf('loan_totals')} GROUP BY 1`,
  );
  const accounts = prepare<[number]>(`SELECT coalesce(sum(accounts), 0) FROM ${totalsOf('account_totals')}`);
  const savings = prepare<[kind: string, ...Exact]>(
    `SELECT kind, ${exact('amount')} FROM ${totalsOf('savings_totals')} GROUP BY 1`,
  );

  /** Excludes erased members. */
  function membersOf(ids: string) {
    const rows = members.all({ ids });
    const active = rows.filter(({ status }) => status === 'active');
    return {
      total: rows.reduce((sum, { count }) => sum + count, 0),
      byStatus: countBy(rows, 'status'),
      byGender: countBy(active, 'gender'),
      byRole: countBy(active, 'role'),
      byJoiningYear: countBy(rows, 'year'),
    };
  }

  /** Returns deliveries by month and product, including deliveries of erased members. */
  const productionOf = (ids: string, months: readonly string[]) =>
    production
      .all({ ids, from: months[0] as string, until: months.at(-1) as string })
      .map(([month, product, deliveries, ...grams]) => ({
        month,
        product: product === '' ? null : product,
        deliveries,
        grams: toExact(...grams),
      }));

  function loansOf(ids: string) {
    const none = { count: 0, amountMinor: 0, paidAmountMinor: 0, outstandingMinor: 0 } as LoanTotals;
    const sums = Object.fromEntries(LOAN_STATUSES.map((status) => [status, none]));
    for (const [status, count, amount, amountRest, paid, paidRest, ...outstanding] of loans.all({ ids }))
      sums[status] = {
        count,
        amountMinor: toExact(amount, amountRest),
        paidAmountMinor: toExact(paid, paidRest),
        // Loans of other statuses need not be repaid.
        outstandingMinor: status === 'approved' || status === 'defaulted' ? toExact(...outstanding) : 0,
      };
    return sums as { readonly [status in LoanStatus]: LoanTotals };
  }

  function savingsOf(ids: string) {
    const sums = new Map(savings.all({ ids }).map(([kind, ...amount]) => [kind, toExact(...amount)]));
    return {
      accounts: accounts.get({ ids })?.[0] as number,
      contributionsMinor: sums.get('contribution') ?? 0,
      withdrawalsMinor: sums.get('withdrawal') ?? 0,
    };
  }

  return (cooperatives: readonly number[], months: readonly string[]) => {
    const ids = JSON.stringify(cooperatives);
    return {
      members: membersOf(ids),
      production: productionOf(ids, months),
      loans: loansOf(ids),
      savings: savingsOf(ids),
    };
  };
}

interface LoanTotals {
  readonly count: number;
  readonly amountMinor: ExactInteger;
  readonly paidAmountMinor: ExactInteger;
  /** Sum of the amounts that are left to pay, for loans in repayment. An overpaid loan counts as 0. */
  readonly outstandingMinor: ExactInteger;
}

export interface GroupTotals {
  /** Null for cooperatives without a district or sector. */
  readonly name: string | null;
  readonly cooperatives: number;
  readonly activeMembers: number;
}

export interface CountryStatistics extends Statistics {
  readonly districts: readonly GroupTotals[];
  readonly sectors: readonly GroupTotals[];
}

/** Returns the groups sorted by name; null is last. */
function groupsOf(rows: readonly CooperativeRow[], column: 'district' | 'sector'): GroupTotals[] {
  const groups = [...Map.groupBy(rows, (row) => row[column])].map(([name, members]) => ({
    name,
    cooperatives: members.length,
    activeMembers: members.reduce((total, { activeMembers }) => total + activeMembers, 0),
  }));
  return groups.sort((a, b) => (a.name === null ? 1 : b.name === null ? -1 : a.name < b.name ? -1 : 1));
}

export type StatisticsStore = ReturnType<typeof openStatistics>;

/** @throws StorageError `unusable` if there is no registry of this release */
export function openStatistics(
  file: string,
  configured: TimeZone | undefined,
  waitMs: number = WAIT_MS.command,
) {
  const db = openDatabase(file, { readOnly: true, schema: REGISTRY_SCHEMA, waitMs });
  const zone = zoneIn(db, configured);
  const reader = openStatisticsReader(db, zone);
  return {
    hasTotals: () => hasTotals(db, zone),
    listCooperatives: () => db.rows<ListedCooperative>(`${COOPERATIVES} ORDER BY code`),
    findCooperative: (code: string) => db.row<ListedCooperative>(`${COOPERATIVES} WHERE code = ?`, [code]),
    ofCooperative: (id: number, now: number) => db.transaction.deferred(() => reader.ofCooperative(id, now)),
    /** Sums the visible cooperatives, or only those in a district. */
    ofCountry: (visible: Visible, now: number, district?: string) =>
      db.transaction.deferred(() => reader.ofCountry(visible, now, district)),
    close: () => db.close(),
  };
}

const COOPERATIVES = 'SELECT id, code, name, district, province FROM cooperatives';

interface ListedCooperative extends CooperativeSummary {
  readonly district: string | null;
  readonly province: string | null;
}

export const openStatisticsOf = (storage: Storage): StatisticsStore =>
  openStatistics(storage.pathForOpening(), storage.configuredZone);
