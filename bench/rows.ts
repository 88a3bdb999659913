/**
 * Invented rows for the benchmarks: the n-th row of a kind is always the same, so that programs agree without
 * sharing a list.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { nameOf } from './names.ts';

export const COOPERATIVES = 6_600;
const ORDER_NUMBERS = 1_000_000;
const BATCH_ROWS = 2_000;
const DAY_MS = 86_400_000;

/** How many entries of each kind a member with entries has. */
export const ENTRIES = { production: 20, savings: 6 } as const;
/** The first of the members with entries deliver milk twice a day for a year. */
export const MILK = { members: 200, production: 730 } as const;

const digits = (n: number, width: number): string => String(n).padStart(width, '0');
const cooperativeCode = (n: number): string => `BENCH-${n % COOPERATIVES}`;
const memberCode = (n: number): string => `M-${digits(n, 7)}`;

/**
 * Of every 200 memberships, 150 belong to people with one membership, 30 to people with two, 12 to people
 * with three and 8 to people with four: 171 people.
 */
export const GROUP = { memberships: 200, persons: 171 } as const;

/** @returns the number of the person that the n-th membership belongs to */
export function personOf(n: number): number {
  const r = n % GROUP.memberships;
  const group = Math.floor(n / GROUP.memberships) * GROUP.persons;
  if (r < 150) return group + r;
  if (r < 180) return group + 150 + Math.floor((r - 150) / 2);
  if (r < 192) return group + 165 + Math.floor((r - 180) / 3);
  return group + 169 + Math.floor((r - 192) / 4);
}

/**
 * The national ID of the person that a membership belongs to. Nobody holds these: order numbers from 9000000
 * up are not issued. They are in no particular order, as in real life.
 */
export function identityCard(membership: number): string {
  const n = personOf(membership);
  const order = 9_000_000 + ((n * 48_271) % ORDER_NUMBERS);
  const sexDigit = n % 2 === 0 ? 8 : 7;
  return `1${1950 + (n % 55)}${sexDigit}${order}${Math.floor(n / ORDER_NUMBERS)}${digits(n % 97, 2)}`;
}

/** `personOf` and `identityCard` in Lua, for wrk. */
export const IDENTITY_CARD_LUA = `local function person_of(n)
  local r = n % ${GROUP.memberships}
  local group = math.floor(n / ${GROUP.memberships}) * ${GROUP.persons}
  if r < 150 then return group + r end
  if r < 180 then return group + 150 + math.floor((r - 150) / 2) end
  if r < 192 then return group + 165 + math.floor((r - 180) / 3) end
  return group + 169 + math.floor((r - 192) / 4)
end
local function identity_card(membership)
  local n = person_of(membership)
  local sex = 7
  if n % 2 == 0 then sex = 8 end
  return string.format("1%d%d%d%d%02d", 1950 + n % 55, sex, 9000000 + (n * 48271) % ${ORDER_NUMBERS},
    math.floor(n / ${ORDER_NUMBERS}), n % 97)
end`;

export interface Population {
  readonly members: number;
  /** How many of the members have entries; these are spread evenly over all. */
  readonly withEntries: number;
  /** Epoch milliseconds; everything happened earlier. */
  readonly nowMs: number;
}

/** The number of the k-th member with entries. */
export const memberWithEntries = (k: number, { members, withEntries }: Population): number =>
  k * Math.floor(members / withEntries);

export const KINDS = ['cooperatives', 'members', 'production', 'loans', 'savings'] as const;
export type Kind = (typeof KINDS)[number];

interface BenchFile {
  readonly header: string;
  readonly count: (population: Population) => number;
  /** @returns one line, or undefined when there is no such row */
  readonly row: (n: number, population: Population) => string | undefined;
}

const isoOf = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');
const second = (ms: number): number => Math.floor(ms / 1000) * 1000;
const owner = (n: number): string => `${cooperativeCode(n)},${memberCode(n)}`;

/** Not in the order of members, like a file that is sorted by date. */
const shuffled = (i: number, count: number): number => (i * 7_919) % count;

function productionRow(i: number, population: Population): string {
  const { withEntries, nowMs } = population;
  const milk = Math.min(MILK.members, withEntries);
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
  return `${owner(n)},P-${digits(i, 8)},${isoOf(at)},${kg},${product}`;
}

export const FILES: { readonly [kind in Kind]: BenchFile } = {
  cooperatives: {
    header: 'code,name,sector',
    count: () => COOPERATIVES,
    row: (n) => `${cooperativeCode(n)},Cooperative ${n},agriculture`,
  },
  members: {
    header:
      'cooperative_code,identity_card,member_code,full_name,first_name,last_name,gender,' +
      'date_of_birth,mobile,role,status,registration_date',
    count: ({ members }) => members,
    row(n) {
      const p = personOf(n);
      const { first, last } = nameOf(p);
      const day = `0${1 + (p % 9)}-1${n % 10}`;
      const gender = p % 2 === 0 ? 'MALE' : 'FEMALE';
      const born = `${1950 + (p % 55)}-0${1 + (p % 9)}-1${p % 10}`;
      const person = `${first} ${last},${first},${last},${gender},${born}`;
      const member = `${cooperativeCode(n)},${identityCard(n)},${memberCode(n)},${person}`;
      return `${member},+25078${digits(p, 7)},MEMBER,active,2015-${day}T08:30:00+02:00`;
    },
  },
  production: {
    header: 'cooperative_code,member_code,reference,delivered_at,kg,product',
    count: ({ withEntries }) =>
      withEntries * ENTRIES.production +
      Math.min(MILK.members, withEntries) * (MILK.production - ENTRIES.production),
    row: productionRow,
  },
  loans: {
    header:
      'cooperative_code,member_code,reference,amount,interest_rate,status,paid_amount,' +
      'loan_start_date,loan_end_date,approved_at',
    count: ({ withEntries }) => withEntries * 3,
    row(i, population) {
      const k = shuffled(i % population.withEntries, population.withEntries);
      const j = Math.floor(i / population.withEntries);
      // 0 to 3 loans.
      if (j >= k % 4) return undefined;
      const start = second(population.nowMs - (30 + j * 300 + (k % 200)) * DAY_MS);
      const status = j === 0 ? 'approved' : 'paid';
      const amount = 50_000 + (k % 100) * 10_000;
      const paid = j === 0 ? 12_500 : amount;
      const dates = [start, start + 365 * DAY_MS, start - DAY_MS].map(isoOf).join(',');
      const reference = `${owner(memberWithEntries(k, population))},L-${digits(i, 8)}`;
      return `${reference},${amount},18.5,${status},${paid},${dates}`;
    },
  },
  savings: {
    header: 'cooperative_code,member_code,account_number,reference,kind,amount,transacted_at',
    count: ({ withEntries }) => withEntries * ENTRIES.savings,
    row(i, population) {
      const k = shuffled(i % population.withEntries, population.withEntries);
      const j = Math.floor(i / population.withEntries);
      const at = second(population.nowMs - (j * 60 + (k % 50) + 1) * DAY_MS);
      const account = `${owner(memberWithEntries(k, population))},A-${digits(k, 7)}`;
      const amount = 2_000 + (i % 50) * 100;
      const saved = `${j === 5 ? 'withdrawal' : 'contribution'},${amount}`;
      return `${account},S-${digits(i, 8)},${saved},${isoOf(at)}`;
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
