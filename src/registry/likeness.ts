/** Compares two members who may be the same person (docs/correcting.md#finding-people-registered-twice). */

import { countTypos } from '../values/search-words.ts';
import { compareNames, haveCommonWord } from './members.ts';

/** Compared values of a member. */
export interface Registered {
  readonly identityCard: string;
  readonly fullName: string;
  readonly gender: string | null;
  /** `YYYY-MM-DD` */
  readonly dateOfBirth: string | null;
  /** Also null if too many members share the number for it to identify anyone. */
  readonly mobile: string | null;
  readonly cooperativeId: number;
}

export interface Likeness {
  /** From 0 to 100; a measure, not a probability. */
  readonly score: number;
  /** Worded without personal data; strongest first. */
  readonly reasons: readonly string[];
}

/**
 * Largest group with one phone, or with one name and date of birth in a cooperative, that may be a family.
 */
export const CROWD = 20;

/** Pairs below this score have too much evidence against them to be worth a review. */
const LEAST_SCORE = 40;

type Known = 'same' | 'near' | 'different' | undefined;

/** Compares numbers or dates of equal length. */
const compareDigits = (one: string | null, other: string | null): Known => {
  if (one === null || other === null) return undefined;
  if (one === other) return 'same';
  return countTypos(one, other, 1) <= 1 ? 'near' : 'different';
};

/** True if both consist of the same digits: a swap rather than a typo. */
const areSwapped = (one: string, other: string): boolean =>
  [...one].sort().join('') === [...other].sort().join('');

/**
 * Scores two members with similar names who also have national IDs one slip apart, the same phone, or the
 * same cooperative, name and date of birth. Members with the same national ID are one person with several
 * memberships.
 * @returns undefined if they are unlikely to be one person under two numbers
 */
export function judgePair(one: Registered, other: Registered): Likeness | undefined {
  if (one.identityCard === other.identityCard) return undefined;
  const names = compareNames(one.fullName, other.fullName);
  if (names === undefined) return undefined;
  const numbers = compareDigits(one.identityCard, other.identityCard);
  const births = compareDigits(one.dateOfBirth, other.dateOfBirth);
  const isOnePhone = one.mobile !== null && one.mobile === other.mobile;
  const isOneList = one.cooperativeId === other.cooperativeId;
  if (numbers !== 'near' && !isOnePhone && !(isOneList && names === 'same' && births === 'same'))
    return undefined;
  const isSwapped = areSwapped(one.identityCard, other.identityCard);
  const evidence: readonly (readonly [holds: boolean, points: number, reason: string])[] = [
    [numbers === 'near' && isSwapped, 50, 'national IDs with two digits swapped'],
    [numbers === 'near' && !isSwapped, 45, 'national IDs that differ in one digit'],
    [isOnePhone, 30, 'same phone'],
    [births === 'same', 25, 'same date of birth'],
    [names === 'same', 20, 'same name'],
    [names === 'similar', 10, 'similar names'],
    [isOneList, 10, 'same cooperative'],
    [births === 'near', 0, 'dates of birth one digit apart'],
    [births === 'different', -35, 'but different dates of birth'],
    [differ(one.gender, other.gender), -20, 'but different genders'],
  ];
  const facts = evidence.filter(([holds]) => holds);
  const score = Math.min(
    100,
    facts.reduce((sum, [, points]) => sum + points, 0),
  );
  return score < LEAST_SCORE ? undefined : { score, reasons: facts.map(([, , reason]) => reason) };
}

/** Values that may contradict that two memberships belong to one person. */
export type Described = Pick<Registered, 'fullName' | 'gender' | 'dateOfBirth' | 'mobile'>;

/** True if both values are known and differ. */
export const differ = (one: string | null, other: string | null): boolean =>
  one !== null && other !== null && one !== other;

const yearOf = (date: string | null): string | null => date?.slice(0, 4) ?? null;

const DIFFERENT_GENDERS = 'different genders';
const DIFFERENT_NAMES = 'names without a common word';

/** Contradictions between two memberships of supposedly one person, worded without personal data. */
export const contradictionsOf = (one: Described, other: Described): readonly string[] =>
  wordsFor([
    [differ(one.dateOfBirth, other.dateOfBirth), 'different dates of birth'],
    [differ(one.gender, other.gender), DIFFERENT_GENDERS],
    [!haveCommonWord(one.fullName, other.fullName), DIFFERENT_NAMES],
    [differ(one.mobile, other.mobile), 'different phones'],
  ]);

/**
 * Contradictions between two memberships under one national ID, limited to values that are rarely mistyped or
 * changed. Unknown days of birth are often registered as 1 January, so only the years are compared.
 */
export const gravelyContradict = (one: Described, other: Described): readonly string[] =>
  wordsFor([
    [differ(yearOf(one.dateOfBirth), yearOf(other.dateOfBirth)), 'different years of birth'],
    [differ(one.gender, other.gender), DIFFERENT_GENDERS],
    [!haveCommonWord(one.fullName, other.fullName), DIFFERENT_NAMES],
  ]);

const wordsFor = (facts: readonly (readonly [holds: boolean, words: string])[]): string[] =>
  facts.flatMap(([holds, words]) => (holds ? [words] : []));

/** Distinct contradictions over all pairs of one from each list. */
export function contradictionsBetween<T extends Described>(
  these: readonly T[],
  those: readonly T[],
  compare: (one: T, other: T) => readonly string[],
): string[] {
  return [...new Set(these.flatMap((one) => those.flatMap((other) => compare(one, other))))];
}

/** Compared values of members of a file who share name and phone. */
export interface MemberOfFile {
  /** Code of the cooperative. */
  readonly cooperative: string;
  readonly identityCard: string;
  readonly dateOfBirth: string | null;
}

/**
 * True if two members with the same name and phone are most likely one person with a mistyped number.
 * Different dates of birth count as evidence against it unless both are in one cooperative.
 */
export function isMistyped(one: MemberOfFile, other: MemberOfFile): boolean {
  const different = [...one.identityCard].filter((digit, place) => digit !== other.identityCard[place]);
  const births = compareDigits(one.dateOfBirth, other.dateOfBirth);
  return (
    different.length === 1 &&
    (one.cooperative === other.cooperative || births === undefined || births === 'same')
  );
}
