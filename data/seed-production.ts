// Generates a year of deliveries by crop and season for the cooperatives that collect produce.
import type { Crop } from './seed-cooperatives.ts';
import {
  csvText,
  dayOf,
  FIRST_YEAR_DAY,
  formatGrams,
  formatTime,
  LAST_DAY,
  monthOf,
  SEED_YEAR,
} from './seed-format.ts';
import type { Member } from './seed-members.ts';
import { createRandom, type Random } from './seed-random.ts';

interface Delivery {
  readonly member: Member;
  readonly day: number;
  readonly minute: number;
  readonly grams: number;
  readonly product: string;
}

type DayAndGrams = readonly [day: number, grams: number];

const PRODUCTS: Readonly<Record<Crop, string>> = {
  coffee: 'coffee cherries',
  tea: 'green tea leaf',
  milk: 'milk',
  maize: 'maize',
  rice: 'paddy rice',
  beans: 'dry beans',
  honey: 'honey',
  sambaza: 'sambaza',
  tilapia: 'tilapia',
};

function seasonDay(monthAndDay: string): number {
  return dayOf(`${SEED_YEAR}-${monthAndDay}`);
}

/** Rounds to a multiple of `step` grams, at least one step. */
function toStep(grams: number, step: number): number {
  return Math.max(step, Math.round(grams / step) * step);
}

/** About 730 kg of cherries in 15 to 60 deliveries, March to July. */
function coffee(random: Random): DayAndGrams[] {
  const days = random.distinct(random.int(15, 60), seasonDay('03-01'), seasonDay('07-31'));
  const yearGrams = random.int(430_000, 1_030_000);
  return days.map((day) => [day, toStep((yearGrams / days.length) * (0.6 + random.unit() * 0.8), 500)]);
}

/** 50 to 800 kg of leaf per month, in two to eight deliveries. */
function tea(random: Random): DayAndGrams[] {
  const perMonth = random.int(2, 8);
  const usualGrams = random.int(80_000, 330_000) + random.int(0, 270_000);
  const months = Array.from({ length: 12 }, (_, index) =>
    dayOf(`${SEED_YEAR}-${String(index + 1).padStart(2, '0')}-01`),
  );
  return months.flatMap((firstDay) => {
    const monthGrams = usualGrams * (0.8 + random.unit() * 0.4);
    return random
      .distinct(perMonth, firstDay, firstDay + 27)
      .map((day): DayAndGrams => [day, toStep((monthGrams / perMonth) * (0.9 + random.unit() * 0.2), 100)]);
  });
}

/** Cows give half as much milk in the dry months of July and August. */
function milkGrams(random: Random, day: number, dayGrams: number): number {
  const dry = monthOf(day) === 7 || monthOf(day) === 8 ? 0.5 : 1;
  return toStep(dayGrams * dry * (0.85 + random.unit() * 0.3), 100);
}

/** About 10 kg per delivery day: one member in six comes on most days, the others now and then. */
function milk(random: Random): DayAndGrams[] {
  const count = random.chance(0.17) ? random.int(200, 365) : random.int(10, 36);
  const dayGrams = random.int(6_000, 14_000);
  const days = random.distinct(count, FIRST_YEAR_DAY, LAST_DAY);
  return days.map((day) => [day, milkGrams(random, day, dayGrams)]);
}

/** One to four deliveries from the two harvests of a field crop. */
function harvest(
  random: Random,
  seasons: readonly (readonly [string, string])[],
  low: number,
  high: number,
): DayAndGrams[] {
  return seasons.flatMap(([from, to], index) => {
    const count = index === 0 ? random.int(1, 2) : random.int(0, 2);
    const days = random.distinct(count, seasonDay(from), seasonDay(to));
    return days.map((day): DayAndGrams => [day, toStep(random.int(low, high), 500)]);
  });
}

/** Ten to forty-five landings throughout the year, weighed to the gram. */
function fish(random: Random, low: number, high: number): DayAndGrams[] {
  const days = random.distinct(random.int(10, 45), FIRST_YEAR_DAY, LAST_DAY);
  return days.map((day) => [day, random.int(low, high)]);
}

const DRAWS: Readonly<Record<Crop, (random: Random) => DayAndGrams[]>> = {
  coffee,
  tea,
  milk,
  maize: (random) =>
    harvest(
      random,
      [
        ['01-15', '02-28'],
        ['06-20', '07-31'],
      ],
      120_000,
      900_000,
    ),
  rice: (random) =>
    harvest(
      random,
      [
        ['05-20', '06-30'],
        ['11-20', '12-28'],
      ],
      200_000,
      1_200_000,
    ),
  beans: (random) =>
    harvest(
      random,
      [
        ['01-05', '01-31'],
        ['06-01', '06-30'],
      ],
      40_000,
      250_000,
    ),
  honey: (random) =>
    harvest(
      random,
      [
        ['04-10', '05-20'],
        ['09-15', '10-25'],
      ],
      8_000,
      40_000,
    ),
  sambaza: (random) => fish(random, 3_000, 26_000),
  tilapia: (random) => fish(random, 1_500, 14_000),
};

/** A delivery on each morning and evening of 365 days: 730 entries. */
function twiceDailyMilk(random: Random, member: Member): Delivery[] {
  return Array.from({ length: 365 }, (_, index) => FIRST_YEAR_DAY + index).flatMap((day) =>
    [6 * 60, 16 * 60 + 30].map((start) => ({
      member,
      day,
      minute: start + random.int(0, 59),
      grams: milkGrams(random, day, 5_000),
      product: PRODUCTS.milk,
    })),
  );
}

function drawDeliveries(random: Random, member: Member): Delivery[] {
  if (member.person.part === 'twice-daily') return twiceDailyMilk(random, member);
  if (member.status !== 'active' || (member.person.part === 'ordinary' && random.chance(0.08))) return [];
  return member.cooperative.crops.flatMap((crop) =>
    DRAWS[crop](random)
      .filter(([day]) => day > member.joinedDay)
      .map(([day, grams]) => ({
        member,
        day,
        minute: random.int(6 * 60, 17 * 60 + 59),
        grams,
        product: PRODUCTS[crop],
      })),
  );
}

function byTime(left: Delivery, right: Delivery): number {
  return (
    left.day - right.day || left.minute - right.minute || (left.member.code < right.member.code ? -1 : 1)
  );
}

/** @param groups the members of each cooperative, one group per cooperative */
export function productionCsv(groups: readonly (readonly Member[])[]): string {
  const random = createRandom('production');
  const rows = groups.flatMap((members) =>
    members
      .flatMap((member) => drawDeliveries(random, member))
      .sort(byTime)
      .map((delivery, index) => [
        delivery.member.cooperative.code,
        delivery.member.code,
        `P-${String(index + 1).padStart(5, '0')}`,
        formatTime(delivery.day, delivery.minute),
        formatGrams(delivery.grams),
        delivery.product,
      ]),
  );
  return csvText(['cooperative_code', 'member_code', 'reference', 'delivered_at', 'kg', 'product'], rows);
}
