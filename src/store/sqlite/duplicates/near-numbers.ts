/**
 * Members whose national IDs are one slip apart: one digit differs, or two neighbours are swapped. Both are
 * within three neighbouring places, so that eight comparisons of the other places find them.
 */
import { wordsOf } from '../../../domain/membership/names.ts';
import type { Connection } from '../engine/connection.ts';
import { ERASED_STATUS } from '../schema/counts.ts';

const DIGITS = 16;
/** Odd, without a pattern. */
const MIXER = 0x9e3779b1;

/** What is kept in memory of every member: 28 bytes, and a dozen while they are compared. */
interface Numbered {
  readonly ids: Float64Array;
  /** Of national IDs, 16 for each member. */
  readonly digits: Uint8Array;
  /** A bit for each word of the name: names that share a word share a bit. */
  readonly words: Int32Array;
}

const ALL = `main.members WHERE status <> '${ERASED_STATUS}'`;

function readNumbered(db: Connection): Numbered {
  const count = db.count(ALL);
  const ids = new Float64Array(count);
  const digits = new Uint8Array(count * DIGITS);
  const words = new Int32Array(count);
  const read = db.raw.prepare(`SELECT id, identity_card, full_name FROM ${ALL}`).raw();
  let member = 0;
  for (const [id, card, name] of read.iterate() as Iterable<readonly [number, string, string]>) {
    ids[member] = id;
    for (let place = 0; place < DIGITS; place++)
      digits[member * DIGITS + place] = card.charCodeAt(place) - 48;
    for (const word of wordsOf(name)) words[member] = (words[member] as number) | bitOf(word);
    member++;
  }
  return { ids, digits, words };
}

function bitOf(word: string): number {
  let hash = 0;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash, 31) + word.charCodeAt(i);
  return 1 << (Math.imul(hash, MIXER) >>> 27);
}

/** The first of the three places that are left out; the last of three is the first of the next. */
const FIRST_PLACES = [0, 2, 4, 6, 8, 10, 12, 14];

/** Calls back with ids of members whose numbers are one slip apart and whose names may share a word. */
export function findNearNumbers(db: Connection, visit: (one: number, other: number) => void): void {
  const { ids, digits, words } = readNumbered(db);
  const mayBeAlike = (one: number, other: number) =>
    ((words[one] as number) & (words[other] as number)) !== 0;
  for (const first of FIRST_PLACES) {
    for (const group of groupByRest(digits, first)) {
      group.forEach((one, i) => {
        for (const other of group.slice(0, i))
          if (mayBeAlike(one, other) && areOneSlipApart(digits, one, other))
            visit(ids[one] as number, ids[other] as number);
      });
    }
  }
}

/** @returns members whose numbers agree in all but three places, and a few whose do not */
function groupByRest(digits: Uint8Array, first: number): Iterable<readonly number[]> {
  // Small integers: a hash of the other places is enough.
  const rests = new Int32Array(digits.length / DIGITS);
  for (let member = 0; member < rests.length; member++) {
    let rest = 0;
    for (let place = 0; place < DIGITS; place++)
      if (place < first || place > first + 2)
        rest = Math.imul(rest, MIXER) + (digits[member * DIGITS + place] as number);
    rests[member] = rest;
  }
  // Sorted, equal ones are beside each other; most have none.
  const sorted = rests.toSorted();
  const shared = new Set(sorted.filter((rest, i) => rest === sorted[i - 1]));
  const groups = new Map<number, number[]>();
  for (let member = 0; member < rests.length; member++) {
    const rest = rests[member] as number;
    if (!shared.has(rest)) continue;
    const group = groups.get(rest);
    if (group === undefined) groups.set(rest, [member]);
    else group.push(member);
  }
  return groups.values();
}

const PLACES = Array.from({ length: DIGITS }, (_, place) => place);

function areOneSlipApart(digits: Uint8Array, one: number, other: number): boolean {
  const at = (member: number, place: number) => digits[member * DIGITS + place];
  const different = PLACES.filter((place) => at(one, place) !== at(other, place));
  const [left = 0, right = 0] = different;
  if (different.length !== 2) return different.length === 1;
  return right === left + 1 && at(one, left) === at(other, right) && at(one, right) === at(other, left);
}
