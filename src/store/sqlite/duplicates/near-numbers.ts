/**
 * Members whose national IDs are one slip apart: one digit differs, or two neighbours are swapped. For each
 * place, members are equal who differ there only; equal ones are found by hashing, in linear time even where
 * numbers are dense. In SQL, each of the 31 comparisons would sort all members.
 */
import { wordsOf } from '../../../domain/membership/names.ts';
import type { Connection } from '../engine/connection.ts';
import { ERASED_STATUS } from '../identity/erased-rows.ts';

const DIGITS = 16;
const PLACES = Array.from({ length: DIGITS }, (_, place) => place);
/** Odd numbers without a pattern: a hash is the sum of the digits times these. */
const FACTORS = PLACES.map((place) => (Math.imul(place + 1, 0x9e3779b1) ^ 0x5bd1e995) | 1);

/** What is kept of every member while numbers are compared: 28 bytes, and 12 to 20 of the table. */
interface Numbers {
  readonly count: number;
  readonly ids: Float64Array;
  /** 16 for each member. */
  readonly digits: Uint8Array;
  readonly hashes: Int32Array;
  /** A bit for each word of the name: names that share a word share a bit. */
  readonly words: Int32Array;
}

/** Calls back with each pair of ids whose numbers are one slip apart and whose names may share a word. */
export function findNearNumbers(db: Connection, visit: (one: number, other: number) => void): void {
  const numbers = readNumbers(db);
  const group = openGrouping(numbers.count);
  const { ids, words, hashes, digits } = numbers;
  const visitPairs = (
    members: readonly number[],
    areApart: (one: number, other: number) => boolean,
  ): void => {
    members.forEach((one, i) => {
      for (const other of members.slice(0, i)) {
        const mayBeAlike = ((words[one] as number) & (words[other] as number)) !== 0;
        if (mayBeAlike && areApart(one, other)) visit(ids[other] as number, ids[one] as number);
      }
    });
  };
  const at = (member: number, place: number): number => digits[member * DIGITS + place] as number;
  const areEqualBut = (one: number, other: number, first: number, last: number): boolean => {
    for (let place = DIGITS - 1; place >= 0; place--)
      if (at(one, place) !== at(other, place) && (place < first || place > last)) return false;
    return true;
  };
  for (const place of PLACES) {
    const factor = FACTORS[place] as number;
    group(
      (member) => (hashes[member] as number) - Math.imul(at(member, place), factor),
      (one, other) => areEqualBut(one, other, place, place),
      (members) => visitPairs(members, (one, other) => at(one, place) !== at(other, place)),
    );
  }
  for (const place of PLACES.slice(1)) {
    const before = place - 1;
    const difference = ((FACTORS[place] as number) - (FACTORS[before] as number)) | 0;
    // The same for both orders: as if the larger digit came second.
    group(
      (member) => {
        const [first, second] = [at(member, before), at(member, place)];
        return first > second
          ? (hashes[member] as number) + Math.imul(first - second, difference)
          : (hashes[member] as number);
      },
      (one, other) =>
        areEqualBut(one, other, before, place) &&
        at(one, before) + at(one, place) === at(other, before) + at(other, place) &&
        at(one, before) * at(one, place) === at(other, before) * at(other, place),
      (members) => visitPairs(members, (one, other) => at(one, place) !== at(other, place)),
    );
  }
}

function readNumbers(db: Connection): Numbers {
  const rows = `main.members WHERE status <> '${ERASED_STATUS}'`;
  const count = db.count(rows);
  const numbers: Numbers = {
    count,
    ids: new Float64Array(count),
    digits: new Uint8Array(count * DIGITS),
    hashes: new Int32Array(count),
    words: new Int32Array(count),
  };
  const read = db.raw.prepare(`SELECT id, identity_card, full_name FROM ${rows} ORDER BY id`).raw();
  let member = 0;
  for (const [id, card, name] of read.iterate() as Iterable<[number, string, string]>) {
    numbers.ids[member] = id;
    let hash = 0;
    for (const place of PLACES) {
      const digit = card.charCodeAt(place) - 48;
      numbers.digits[member * DIGITS + place] = digit;
      hash += Math.imul(digit, FACTORS[place] as number);
    }
    numbers.hashes[member] = hash;
    numbers.words[member] = wordsOf(name).reduce((bits, word) => bits | bitOf(word), 0);
    member++;
  }
  return numbers;
}

function bitOf(word: string): number {
  let hash = 0;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash, 31) + word.charCodeAt(i);
  return 1 << (scramble(hash) >>> 27);
}

const scramble = (hash: number): number => {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
};

/** @returns what calls back with each group of two or more equal ones of so many */
function openGrouping(count: number) {
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * count + 2)));
  const mask = slots.length - 1;
  /** The one before of its group, or -1. */
  const before = new Int32Array(count);
  return (
    hashOf: (member: number) => number,
    areEqual: (one: number, other: number) => boolean,
    visit: (group: readonly number[]) => void,
  ): void => {
    slots.fill(-1);
    for (let member = 0; member < count; member++) {
      let slot = scramble(hashOf(member)) & mask;
      let last = slots[slot] as number;
      while (last !== -1 && !areEqual(last, member)) {
        slot = (slot + 1) & mask;
        last = slots[slot] as number;
      }
      before[member] = last;
      slots[slot] = member;
    }
    for (const last of slots) {
      if (last === -1 || before[last] === -1) continue;
      const group: number[] = [];
      for (let member = last; member !== -1; member = before[member] as number) group.push(member);
      visit(group);
    }
  };
}
