/**
 * Members whose national IDs are one slip apart: one digit differs, or two neighbours are swapped. Both are
 * within three neighbouring places, so that eight comparisons of the other places find them; in SQL, each
 * would sort all members.
 */
import { type ComparedMembers, DIGITS, FACTORS, PLACES } from './compared-members.ts';
import type { Grouping } from './grouping.ts';

/** Calls back with each pair whose numbers are one slip apart and whose names may share a word. */
export function findNearNumbers(
  { digits, hashes, words }: ComparedMembers,
  group: Grouping,
  visit: (one: number, other: number) => void,
): void {
  const at = (member: number, place: number): number => digits[member * DIGITS + place] as number;
  const differAt = (one: number, other: number, place: number): boolean =>
    at(one, place) !== at(other, place);
  for (const first of PLACES.filter((place) => place % 2 === 0)) {
    // The first place of the next three is the last of these.
    const places = PLACES.slice(first, first + 3);
    const others = PLACES.filter((place) => !places.includes(place)).reverse();
    const isOneSlip = (one: number, other: number): boolean => {
      const different = places.filter((place) => differAt(one, other, place));
      const [left = 0, right = 0] = different;
      if (different.length !== 2) return different.length === 1;
      return right === left + 1 && at(one, left) === at(other, right) && at(one, right) === at(other, left);
    };
    group(
      (member) =>
        places.reduce((hash, place) => hash - product(at(member, place), place), hashes[member] ?? 0),
      (one, other) => !others.some((place) => differAt(one, other, place)),
      (members) => {
        members.forEach((one, i) => {
          for (let j = 0; j < i; j++) {
            const other = members[j] as number;
            const mayBeAlike = ((words[one] as number) & (words[other] as number)) !== 0;
            if (mayBeAlike && isOneSlip(one, other)) visit(one, other);
          }
        });
      },
    );
  }
}

const product = (digit: number, place: number): number => Math.imul(digit, FACTORS[place] as number);
