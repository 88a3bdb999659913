/**
 * Statistics from one connection: the first ones of the country read every row, later ones what has changed
 * since. Nothing is stored, so that writes and imports cost what they cost without them.
 */
import type { Visible } from '../../../domain/access/visible.ts';
import {
  type CountryStatistics,
  type GroupTotals,
  type Statistics,
  sumTotals,
} from '../../../domain/statistics.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import type { Connection } from '../engine/connection.ts';
import { KeptTotals } from './kept-totals.ts';

/** After so many milliseconds others get their turn, and no snapshot keeps the log from being emptied. */
const SLICE_MS = 250;
/** Sums of several cooperatives that are kept. */
const KEPT_SUMS = 16;

export interface StatisticsReader {
  /** @param now epoch seconds @returns undefined when there is no such cooperative */
  ofCooperative(id: number, now: number): Statistics | undefined;
  /** @returns undefined when a part of the work was done: it is called again for the next */
  ofCountry(visible: Visible, now: number): CountryStatistics | undefined;
}

interface CooperativeRow {
  readonly id: number;
  readonly district: string | null;
  readonly sector: string | null;
  readonly activeMembers: number;
}

/** @param zone in which months and years begin */
export function openStatisticsReader(db: Connection, zone: TimeZone, sliceMs = SLICE_MS): StatisticsReader {
  const exists = db.prepare<[number], { id: number }>('SELECT id FROM cooperatives WHERE id = ?');
  const list = db.prepare<[{ visible: string | null }], CooperativeRow>(
    `SELECT id, district, sector,
       coalesce((SELECT members FROM member_counts WHERE cooperative_id = c.id AND status = 'active'), 0)
         AS activeMembers
     FROM cooperatives c
     WHERE @visible IS NULL OR id IN (SELECT value FROM json_each(@visible)) ORDER BY id`,
    'a few thousand cooperatives',
  );
  const totals = new KeptTotals(db, zone);
  const sums = new Map<string, Omit<CountryStatistics, 'asOf'>>();

  /** @returns the last event of the snapshot */
  function follow(now: number): number {
    const { sequence, isChanged } = totals.follow(now);
    if (isChanged) sums.clear();
    return sequence;
  }

  /** @param visible JSON of it */
  function sum(visible: string, sequence: number): Omit<CountryStatistics, 'asOf'> | undefined {
    const cooperatives = list.all({ visible: visible === 'null' ? null : visible });
    const endsMs = performance.now() + sliceMs;
    for (const { id } of cooperatives) {
      if (totals.has(id)) continue;
      totals.of(id);
      if (performance.now() > endsMs) return undefined;
    }
    return {
      sequence,
      ...sumTotals(cooperatives.map(({ id }) => totals.of(id))),
      districts: groupsOf(cooperatives, 'district'),
      sectors: groupsOf(cooperatives, 'sector'),
    };
  }

  return {
    ofCooperative: (id, now) =>
      db.transaction.deferred(() => {
        const sequence = follow(now);
        return exists.get(id) && { asOf: now, sequence, ...totals.of(id) };
      }),

    ofCountry: (visible, now) =>
      db.transaction.deferred(() => {
        const sequence = follow(now);
        const key = JSON.stringify(visible);
        const summed = sums.get(key) ?? sum(key, sequence);
        if (summed === undefined) return undefined;
        sums.set(key, summed);
        if (sums.size > KEPT_SUMS) sums.delete(sums.keys().next().value as string);
        return { asOf: now, ...summed };
      }),
  };
}

/** By name; those without one last. */
function groupsOf(rows: readonly CooperativeRow[], column: 'district' | 'sector'): GroupTotals[] {
  const groups = [...Map.groupBy(rows, (row) => row[column])].map(([name, members]) => ({
    name,
    cooperatives: members.length,
    activeMembers: members.reduce((total, { activeMembers }) => total + activeMembers, 0),
  }));
  return groups.sort((a, b) => (a.name === null ? 1 : b.name === null ? -1 : a.name < b.name ? -1 : 1));
}
