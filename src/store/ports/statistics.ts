/** Sums over cooperatives, as of one snapshot. */
import type { CooperativeSummary } from '../../domain/membership/cooperatives.ts';
import type { CountryStatistics, Statistics } from '../../domain/statistics.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';

export interface StatisticsStore {
  /** @param now epoch seconds @returns undefined when there is no such cooperative */
  ofCooperative(id: number, now: number): Awaitable<Statistics | undefined>;
  /** All cooperatives that are seen. */
  ofCountry(now: number): Awaitable<CountryStatistics>;
}

/** For the operator's command. */
export interface CommandStatistics extends StatisticsStore {
  findCooperative(code: string): Awaitable<CooperativeSummary | undefined>;
  close(): Awaitable<void>;
}
