/**
 * Invented rows for the benchmarks: the n-th row of a kind is always the same, so that programs agree without
 * sharing a list.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { nameOf } from './names.ts';
import {
  COOPERATIVES,
  cooperativeOf,
  digits,
  firstEntry,
  identityCard,
  memberWithEntries,
  type Population,
  personOf,
} from './population.ts';

const BATCH_ROWS = 2_000;
const DAY_MS = 86_400_000;

/** How many entries of each kind a member with entries has, of loans at most. */
export const ENTRIES = { production: 20, loans: 3, savings: 6 } as const;
/** The first of the members with entries deliver milk twice a day for a year. */
export const MILK = { members: 200, production: 730 } as const;

const memberCode = (n: number): string => `M-${digits(n, 7)}`;

const cooperativeCode = (n: number, population: Partial<Population>): string =>
  `BENCH-${cooperativeOf(n, population)}`;

/** What a command calls a membership. */
export const memberName = (n: number, population: Partial<Population>): string =>
  `${cooperativeCode(n, population)}/${memberCode(n)}`;

export const KINDS = ['cooperatives', 'members', 'production', 'loans', 'savings'] as const;
/** What a country has besides: a payment on every loan that is being repaid. */
export type Kind = (typeof KINDS)[number] | 'payments';

interface BenchFile {
  readonly header: string;
  readonly count: (population: Population) => number;
  /** @returns one line, or undefined when there is no such row */
  readonly row: (n: number, population: Population) => string | undefined;
}

const isoOf = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');
const second = (ms: number): number => Math.floor(ms / 1000) * 1000;
const owner = (n: number, population: Population): string =>
  `${cooperativeCode(n, population)},${memberCode(n)}`;

/** Not in the order of members, like a file that is sorted by date. */
const shuffled = (i: number, count: number): number => (i * 7_919) % count;

const milkMembers = ({ withEntries, country }: Population): number =>
  country === undefined ? Math.min(MILK.members, withEntries) : 0;

/** Those of one operator have seven digits: from 10,000,000 people on there are others. */
const mobileOf = (p: number): string =>
  `+2507${[8, 9, 2, 3][Math.floor(p / 10_000_000) % 4]}${digits(p % 10_000_000, 7)}`;

const loanReference = (i: number, population: Population): string =>
  `L-${digits(firstEntry(ENTRIES.loans, population) + i, 8)}`;

function productionRow(i: number, population: Population): string {
  const { withEntries, nowMs } = population;
  const milk = milkMembers(population);
  const usual = withEntries * ENTRIES.production;
  const isExtra = i >= usual;
  const k = isExtra ? (i - usual) % milk : shuffled(i % withEntries, withEntries);
  const j = isExtra ? ENTRIES.production + Math.floor((i - usual) / milk) : Math.floor(i / withEntries);
  const each = k < milk ? MILK.production : ENTRIES.production;
  const spacing = (365 * DAY_MS) / each;
  const at = second(nowMs - (j + ((k * 37) % 101) / 102) * spacing - 1000);
  const n = memberWithEntries(k, population);
  const kg = `${1 + (i % 40)}.${i % 2 === 0 ? '5' : '25'}`;
  const product = k < milk ? 'milk' : 'coffee cherries';
  const reference = `P-${digits(firstEntry(ENTRIES.production, population) + i, 8)}`;
  return `${owner(n, population)},${reference},${isoOf(at)},${kg},${product}`;
}

export const FILES: { readonly [kind in Kind]: BenchFile } = {
  cooperatives: {
    header: 'code,name,sector',
    count: ({ country }) => country?.cooperatives ?? COOPERATIVES,
    row: (n) => `BENCH-${n},Cooperative ${n},agriculture`,
  },
  members: {
    header:
      'cooperative_code,identity_card,member_code,full_name,first_name,last_name,gender,' +
      'date_of_birth,mobile,role,status,registration_date',
    count: ({ members }) => members,
    row(i, population) {
      const n = (population.first ?? 0) + i;
      const p = personOf(n, population);
      const { first, last } = nameOf(p);
      const day = `0${1 + (p % 9)}-1${n % 10}`;
      const gender = p % 2 === 0 ? 'MALE' : 'FEMALE';
      const born = `${1950 + (p % 55)}-0${1 + (p % 9)}-1${p % 10}`;
      const person = `${first} ${last},${first},${last},${gender},${born}`;
      const cooperative = cooperativeCode(n, population);
      const member = `${cooperative},${identityCard(n, population)},${memberCode(n)},${person}`;
      return `${member},${mobileOf(p)},MEMBER,active,2015-${day}T08:30:00+02:00`;
    },
  },
  production: {
    header: 'cooperative_code,member_code,reference,delivered_at,kg,product',
    count: (population) =>
      population.withEntries * ENTRIES.production +
      milkMembers(population) * (MILK.production - ENTRIES.production),
    row: productionRow,
  },
  loans: {
    header:
      'cooperative_code,member_code,reference,amount,interest_rate,status,paid_amount,' +
      'loan_start_date,loan_end_date,approved_at',
    count: ({ withEntries }) => withEntries * ENTRIES.loans,
    row(i, population) {
      const k = shuffled(i % population.withEntries, population.withEntries);
      const j = Math.floor(i / population.withEntries);
      // 0 to 3 loans.
      if (j >= k % 4) return undefined;
      const start = second(population.nowMs - (30 + j * 300 + (k % 200)) * DAY_MS);
      const status = j === 0 ? 'approved' : 'paid';
      const amount = 50_000 + (k % 100) * 10_000;
      // Those of a country come as payments.
      const begun = population.country === undefined ? 12_500 : 0;
      const paid = j === 0 ? begun : amount;
      const dates = [start, start + 365 * DAY_MS, start - DAY_MS].map(isoOf).join(',');
      const reference = loanReference(i, population);
      const lent = `${amount},18.5,${status},${paid},${dates}`;
      return `${owner(memberWithEntries(k, population), population)},${reference},${lent}`;
    },
  },
  savings: {
    header: 'cooperative_code,member_code,account_number,reference,kind,amount,transacted_at',
    count: ({ withEntries }) => withEntries * ENTRIES.savings,
    row(i, population) {
      const k = shuffled(i % population.withEntries, population.withEntries);
      const j = Math.floor(i / population.withEntries);
      const at = second(population.nowMs - (j * 60 + (k % 50) + 1) * DAY_MS);
      const n = memberWithEntries(k, population);
      const account = `${owner(n, population)},A-${digits(firstEntry(1, population) + k, 7)}`;
      const amount = 2_000 + (i % 50) * 100;
      const saved = `${j === 5 ? 'withdrawal' : 'contribution'},${amount}`;
      const reference = `S-${digits(firstEntry(ENTRIES.savings, population) + i, 8)}`;
      return `${account},${reference},${saved},${isoOf(at)}`;
    },
  },
  payments: {
    header: 'cooperative_code,loan_reference,reference,amount,method,paid_at',
    count: ({ withEntries }) => withEntries,
    // The first so many loans are those that are being repaid.
    row(i, population) {
      const k = shuffled(i, population.withEntries);
      if (k % 4 === 0) return undefined;
      const loan = `${cooperativeCode(memberWithEntries(k, population), population)}`;
      const reference = `R-${digits(firstEntry(1, population) + i, 8)}`;
      const paidAt = isoOf(second(population.nowMs - (1 + (i % 25)) * DAY_MS));
      const paid = `${1_000 + (i % 40) * 500},mobile_money,${paidAt}`;
      return `${loan},${loanReference(i, population)},${reference},${paid}`;
    },
  },
};

/**
 * Writes a CSV file.
 * @returns the number of rows, without the header
 */
export function writeCsv(path: string, kind: Kind, population: Population): number {
  const { header, count, row } = FILES[kind];
  const total = count(population);
  const file = openSync(path, 'w');
  let rows = 0;
  writeSync(file, `${header}\n`);
  for (let start = 0; start < total; start += BATCH_ROWS) {
    let text = '';
    for (let i = start; i < Math.min(total, start + BATCH_ROWS); i++) {
      const line = row(i, population);
      if (line === undefined) continue;
      text += `${line}\n`;
      rows++;
    }
    writeSync(file, text);
  }
  closeSync(file);
  return rows;
}
