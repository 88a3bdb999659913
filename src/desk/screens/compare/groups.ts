/** What is compared: cooperatives that somebody names, or all of them by district or province. */
import type { Cooperative } from '../../../domain/membership/cooperatives.ts';
import type { CountryStatistics } from '../../../domain/statistics.ts';
import { formatDate, type TimeZone } from '../../../domain/values/date-time.ts';
import type { RegistryStore } from '../../../store/contract/registry.ts';

/** Read at once of a list: more pages follow. */
const PAGE_SIZE = 200;

export type GroupedBy = 'district' | 'province';

/** A cooperative, or those of a district or province; without a name, those that have none. */
export interface ComparedGroup {
  readonly name: string | null;
  /** Of a cooperative. */
  readonly code?: string;
  readonly cooperatives: number;
  readonly activeMembers: number;
  /** Members who joined in the year before and in this year. */
  readonly joined: YearAndBefore;
  /** Grams delivered from January to the current month, of both years. */
  readonly grams: YearAndBefore;
  /** Of loans that are being repaid. */
  readonly outstandingMinor: bigint;
  readonly balanceMinor: bigint;
}

export interface YearAndBefore {
  readonly before: bigint;
  readonly now: bigint;
}

/** @param codes in the order in which they are shown; unknown ones are left out */
export async function compareCooperatives(
  registry: RegistryStore,
  codes: readonly string[],
  now: number,
  zone: TimeZone,
): Promise<ComparedGroup[]> {
  const groups: ComparedGroup[] = [];
  for (const code of codes) {
    const [found] = (await registry.cooperatives.list({ code }, { page: 1, pageSize: 1 })).rows;
    if (found === undefined) continue;
    const sums = await registry.narrowedTo([found.id]).statistics.ofCountry(now);
    groups.push({ ...groupOf(found.name, sums, now, zone), code: found.code, cooperatives: 1 });
  }
  return groups;
}

/** All cooperatives, in order of the name of the group; those without one last. */
export async function compareAll(
  registry: RegistryStore,
  by: GroupedBy,
  now: number,
  zone: TimeZone,
): Promise<ComparedGroup[]> {
  const ids = Map.groupBy(await listAll(registry), (cooperative) => cooperative[by]);
  const names = [...ids.keys()].sort((one, other) =>
    one === null ? 1 : other === null ? -1 : one.localeCompare(other),
  );
  const groups: ComparedGroup[] = [];
  for (const name of names) {
    const own = ids.get(name) ?? [];
    const sums = await registry.narrowedTo(own.map(({ id }) => id)).statistics.ofCountry(now);
    groups.push({ ...groupOf(name, sums, now, zone), cooperatives: own.length });
  }
  return groups;
}

async function listAll(registry: RegistryStore): Promise<Cooperative[]> {
  const all: Cooperative[] = [];
  for (let page = 1; ; page++) {
    const { rows, count } = await registry.cooperatives.list({}, { page, pageSize: PAGE_SIZE });
    all.push(...rows);
    if (all.length >= count || rows.length === 0) return all;
  }
}

function groupOf(
  name: string | null,
  { members, production, loans, savings }: CountryStatistics,
  now: number,
  zone: TimeZone,
): Omit<ComparedGroup, 'cooperatives'> {
  const today = formatDate(now, zone);
  const [year, month] = [Number(today.slice(0, 4)), today.slice(5, 7)];
  const joinedIn = (of: number) => BigInt(members.byJoiningYear[of] ?? 0);
  const gramsOf = (of: number) =>
    production
      .filter((each) => each.month >= `${of}-01` && each.month <= `${of}-${month}`)
      .reduce((sum, { grams }) => sum + BigInt(grams), 0n);
  return {
    name,
    activeMembers: members.byStatus.active ?? 0,
    joined: { before: joinedIn(year - 1), now: joinedIn(year) },
    grams: { before: gramsOf(year - 1), now: gramsOf(year) },
    outstandingMinor: Object.values(loans).reduce((sum, each) => sum + BigInt(each.outstandingMinor), 0n),
    balanceMinor: BigInt(savings.contributionsMinor) - BigInt(savings.withdrawalsMinor),
  };
}
