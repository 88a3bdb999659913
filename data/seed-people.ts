// Generates the invented people of the seed data: national ID, name, birth date, phone and cooperatives.
import type { Cooperative } from './seed-cooperatives.ts';
import { dayOf } from './seed-format.ts';
import { composeName, type PersonName } from './seed-names.ts';
import { createRandom, type Random } from './seed-random.ts';

export interface Person {
  readonly identityCard: string;
  readonly name: PersonName;
  readonly male: boolean;
  readonly birthYear: number;
  readonly birthDay: number;
  readonly mobile: string;
  readonly deceased: boolean;
  /** Indexes in the list of cooperatives, in the order of joining. */
  readonly cooperatives: readonly number[];
  /** `showcase`: the example for readers. `twice-daily`: delivers milk every morning and every evening. */
  readonly part: 'showcase' | 'twice-daily' | 'ordinary';
}

/** The order numbers of real cards are lower. */
const FIRST_ORDER_NUMBER = 9_000_000;

// Of the 2,000 people, 160 belong to two cooperatives, 30 to three and 10 to four.
const JOINERS: readonly (readonly [memberships: number, persons: number])[] = [
  [2, 160],
  [3, 30],
  [4, 10],
];

interface Draw {
  readonly random: Random;
  readonly usedOrders: Set<number>;
  readonly usedMobiles: Set<string>;
}

function fresh<T>(used: Set<T>, next: () => T): T {
  let value = next();
  while (used.has(value)) value = next();
  used.add(value);
  return value;
}

/** Status, birth year, sex, order number, number of times issued, two closing digits. */
function drawIdentityCard({ random, usedOrders }: Draw, birthYear: number, male: boolean): string {
  const status = random.weighted([
    ['1', 96],
    ['2', 3],
    ['3', 1],
  ]);
  const order = fresh(usedOrders, () => FIRST_ORDER_NUMBER + random.int(0, 999_999));
  const issued = random.weighted([
    [0, 85],
    [1, 12],
    [2, 3],
  ]);
  const closing = String(random.int(0, 99)).padStart(2, '0');
  return `${status}${birthYear}${male ? 8 : 7}${order}${issued}${closing}`;
}

/** With zeros after the prefix of the network, so that the numbers look as made-up as they are. */
function drawMobile({ random, usedMobiles }: Draw): string {
  const next = () =>
    `+250${random.pick([78, 78, 79, 72, 73])}000${String(random.int(0, 9999)).padStart(4, '0')}`;
  return fresh(usedMobiles, next);
}

function drawBirthDay(random: Random, birthYear: number): number {
  const firstOfYear = dayOf(`${birthYear}-01-01`);
  return random.chance(0.4) ? firstOfYear : firstOfYear + random.int(0, 364);
}

function drawPerson(draw: Draw, cooperatives: readonly number[], part: Person['part']): Person {
  const { random } = draw;
  const male = part === 'showcase' ? false : random.chance(0.56);
  const birthYear = part === 'ordinary' ? random.int(1945, 1985) + random.int(0, 20) : random.int(1975, 1984);
  return {
    identityCard: drawIdentityCard(draw, birthYear, male),
    name: part === 'showcase' ? { first: 'Espérance', last: 'Mukatuzeru' } : composeName(random, male),
    male,
    birthYear,
    birthDay: drawBirthDay(random, birthYear),
    mobile: drawMobile(draw),
    deceased: part === 'ordinary' && random.chance(0.01),
    cooperatives,
    part,
  };
}

/** Further cooperatives for somebody whose first one is `home`: active ones, mostly in the same province. */
function drawFurther(random: Random, all: readonly Cooperative[], home: number, count: number): number[] {
  const open = all.map((_, index) => index).filter((i) => i !== home && all[i]?.status === 'active');
  const near = random.shuffled(open.filter((index) => all[index]?.province === all[home]?.province));
  const far = random.shuffled(open);
  const chosen = new Set<number>();
  while (chosen.size < count) {
    const next = (random.chance(0.7) ? near.pop() : undefined) ?? far.pop();
    if (next === undefined) throw new Error('not enough cooperatives to join');
    chosen.add(next);
  }
  return [...chosen];
}

export function drawPeople(cooperatives: readonly Cooperative[]): Person[] {
  const random = createRandom('people');
  const draw: Draw = { random, usedOrders: new Set(), usedMobiles: new Set() };
  const homes = cooperatives.flatMap((one, index) => Array.from({ length: one.homeMembers }, () => index));
  const firstMilk = cooperatives.findIndex((one) => one.crops.includes('milk'));
  const showcaseHome = 0;
  // The twice-daily person, with 730 production entries, is the first member of the first milk cooperative.
  const twiceDaily = homes.indexOf(firstMilk);
  const extra = new Map<number, number>();
  const mixed = random.shuffled(homes.map((_, index) => index));
  const ordinary = mixed.filter((index) => index !== showcaseHome && index !== twiceDaily);
  for (const [memberships, persons] of JOINERS) {
    const others = memberships === 2 ? persons - 1 : persons; // One of the 160 is the showcase person.
    for (const index of ordinary.splice(0, others)) extra.set(index, memberships - 1);
  }
  return homes.map((home, index) => {
    if (index === showcaseHome) return drawPerson(draw, [0, 1], 'showcase');
    if (index === twiceDaily) return drawPerson(draw, [home], 'twice-daily');
    const further = drawFurther(random, cooperatives, home, extra.get(index) ?? 0);
    return drawPerson(draw, [home, ...further], 'ordinary');
  });
}
