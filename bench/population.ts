/** Who belongs to which cooperative, in registries of invented data, the same each time. */

export const COOPERATIVES = 6_600;
const ORDER_NUMBERS = 1_000_000;
/** Multiples of it, without their whole parts, are spread evenly, and neighbours are far from each other. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

export const digits = (n: number, width: number): string => String(n).padStart(width, '0');

export interface Population {
  readonly members: number;
  /** How many of the members have entries; these are spread evenly over all. */
  readonly withEntries: number;
  /** Epoch milliseconds; everything happened earlier. */
  readonly nowMs: number;
  /** The number of the first member, where this is one part of a registry; its members come after others. */
  readonly first?: number;
  /** Cooperatives of very different sizes, and nobody who delivers milk; else there are `COOPERATIVES`. */
  readonly country?: CountryShape;
}

export interface CountryShape {
  readonly cooperatives: number;
  /** Of all cooperatives: those of a part, too, belong to people of the entire country. */
  readonly memberships: number;
}

/** How many people of a group have how many memberships, in the order in which these are numbered. */
export type Sharing = readonly (readonly [memberships: number, persons: number])[];

/** 200 memberships of 171 people. */
const SHARING: Sharing = [
  [1, 150],
  [2, 15],
  [3, 4],
  [4, 2],
];

/** 230 memberships of 200 people. */
const COUNTRY_SHARING: Sharing = [
  [1, 176],
  [2, 20],
  [3, 2],
  [4, 2],
];

const groupOf = (sharing: Sharing) => ({
  memberships: sharing.reduce((sum, [each, persons]) => sum + each * persons, 0),
  persons: sharing.reduce((sum, [, persons]) => sum + persons, 0),
});

export const GROUP = groupOf(SHARING);
export const COUNTRY_GROUP = groupOf(COUNTRY_SHARING);

/** A number near that share of another and without a common divisor: its multiples are spread over all. */
function spreading(count: number): number {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  let factor = Math.round(count * GOLDEN);
  while (divisor(factor, count) !== 1) factor++;
  return factor;
}

/** @returns what undoes the multiplication by a factor, modulo a count */
function inverse(factor: number, count: number): number {
  let [rest, next, of, ofNext] = [count, factor, 0, 1];
  while (next !== 0) {
    const times = Math.floor(rest / next);
    [rest, next, of, ofNext] = [next, rest - times * next, ofNext, of - times * ofNext];
  }
  return ((of % count) + count) % count;
}

const unspread = new Map<number, number>();

/** The factor by which the memberships of a country are put into the order of people; products are exact. */
function orderFactor({ memberships }: CountryShape): number {
  const known = unspread.get(memberships) ?? inverse(spreading(memberships), memberships);
  unspread.set(memberships, known);
  return known;
}

/**
 * The place of a membership in the order of people, in which those of one person follow each other. In a
 * country, cooperatives have consecutive memberships, and those of one person are far from each other.
 */
export const inOrderOfPeople = (n: number, { country }: Partial<Population>): number =>
  country === undefined ? n : (n * orderFactor(country)) % country.memberships;

/** @returns the number of the person that the n-th membership belongs to */
export function personOf(n: number, population: Partial<Population> = {}): number {
  const { country } = population;
  const sharing = country === undefined ? SHARING : COUNTRY_SHARING;
  const group = country === undefined ? GROUP : COUNTRY_GROUP;
  const place = inOrderOfPeople(n, population);
  let rest = place % group.memberships;
  let person = Math.floor(place / group.memberships) * group.persons;
  for (const [each, persons] of sharing) {
    if (rest < each * persons) return person + Math.floor(rest / each);
    rest -= each * persons;
    person += persons;
  }
  return person;
}

/**
 * The national ID of the person that a membership belongs to. Nobody holds these: order numbers from 9000000
 * up are not issued. They are in no particular order, as in real life, and differ up to 110,000,000 people.
 */
export function identityCard(membership: number, population?: Partial<Population>): string {
  const n = personOf(membership, population);
  const order = 9_000_000 + ((n * 48_271) % ORDER_NUMBERS);
  const sexDigit = n % 2 === 0 ? 8 : 7;
  const issue = Math.floor(n / ORDER_NUMBERS) % 10;
  return `1${1950 + (n % 55)}${sexDigit}${order}${issue}${digits(n % 97, 2)}`;
}

/** `personOf` and `identityCard` in Lua, for wrk. */
export function identityCardLua({ country }: Partial<Population>): string {
  const sharing = country === undefined ? SHARING : COUNTRY_SHARING;
  const group = groupOf(sharing);
  const cases = sharing.map(
    ([each, persons]) => `  if r < ${each * persons} then return p + math.floor(r / ${each}) end
  r, p = r - ${each * persons}, p + ${persons}`,
  );
  const place = country === undefined ? 'n' : `(n * ${orderFactor(country)}) % ${country.memberships}`;
  return `local function person_of(n)
  n = ${place}
  local r, p = n % ${group.memberships}, math.floor(n / ${group.memberships}) * ${group.persons}
${cases.join('\n')}
  return p
end
local function identity_card(membership)
  local n = person_of(membership)
  local sex = 7
  if n % 2 == 0 then sex = 8 end
  return string.format("1%d%d%d%d%02d", 1950 + n % 55, sex, 9000000 + (n * 48271) % ${ORDER_NUMBERS},
    math.floor(n / ${ORDER_NUMBERS}) % 10, n % 97)
end`;
}

/** Every how many members one has entries. */
const strideOf = ({ members, withEntries }: Population): number => Math.floor(members / withEntries);

/** The number of the k-th member with entries. */
export const memberWithEntries = (k: number, population: Population): number =>
  (population.first ?? 0) + k * strideOf(population);

/** Where the numbers of entries begin. @param each how many a member has */
export const firstEntry = (each: number, population: Population): number =>
  ((population.first ?? 0) / strideOf(population)) * each;

/**
 * How much larger than others the largest cooperatives are: of 20,000, the largest has a thousandth of all
 * members, and half of them have less than 43 % of the average. None has a seventh of all, within which two
 * memberships of one person may be.
 */
const flattening = (cooperatives: number): number => Math.max(4, cooperatives / 100);

const starts = new Map<CountryShape, readonly number[]>();

/** The first membership of each cooperative of a country, then how many there are: sizes are mixed. */
function startsOf(country: CountryShape): readonly number[] {
  const known = starts.get(country);
  if (known !== undefined) return known;
  const { cooperatives, memberships } = country;
  const flat = flattening(cooperatives);
  const factor = spreading(cooperatives);
  const shares = Array.from({ length: cooperatives }, (_, c) => 1 / (((c * factor) % cooperatives) + flat));
  const all = shares.reduce((sum, share) => sum + share, 0);
  const found = [0];
  let sum = 0;
  for (const share of shares) {
    sum += share;
    found.push(Math.round((sum / all) * memberships));
  }
  starts.set(country, found);
  return found;
}

/** @returns the number of the cooperative of the n-th membership, from 0 */
export function cooperativeOf(n: number, { country }: Partial<Population>): number {
  if (country === undefined) return n % COOPERATIVES;
  const firsts = startsOf(country);
  let [low, high] = [0, country.cooperatives - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((firsts[middle] as number) <= n) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** @returns the number of a cooperative among the first memberships that has about as many as the average */
export function averageCooperative(country: CountryShape, memberships: number): number {
  const firsts = startsOf(country);
  const average = country.memberships / country.cooperatives;
  const distance = (c: number) => Math.abs((firsts[c + 1] as number) - (firsts[c] as number) - average);
  const last = cooperativeOf(memberships - 1, { country });
  return Array.from({ length: last }, (_, c) => c).sort((a, b) => distance(a) - distance(b))[0] ?? 0;
}
