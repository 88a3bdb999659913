/** Compares two members who may be the same person (docs/correcting.md#finding-people-registered-twice). */

import { compareDigits, haveCommonWord, lettersOf, wordsOf } from '../import/checks/compare-people.ts';
import type { FoundMember } from '../registry/stored/stored-data-types.ts';
import { countTypos } from '../values/search-words-and-typos.ts';

export interface Registered {
  readonly identityCard: string;
  readonly fullName: string;
  readonly gender: string | null;
  /** `YYYY-MM-DD` */
  readonly dateOfBirth: string | null;
  /** Null if unknown, or if too many people share the number. */
  readonly mobile: string | null;
  readonly cooperativeId: number;
}

export interface Likeness {
  /** From 0 to 100; not a probability. */
  readonly score: number;
  /** Phrases without personal data, strongest first. */
  readonly reasons: readonly string[];
}

const LEAST_SCORE = 40;

/** True if both texts consist of the same digits. Digits were then swapped, not mistyped. */
const areSwapped = (one: string, other: string): boolean =>
  [...one].sort().join('') === [...other].sort().join('');

/**
 * Scores two members with similar names. The two must also have the same phone, or national IDs that are one
 * slip apart, or the same cooperative, name and date of birth.
 * @returns undefined if the members are unlikely to be one person with two numbers
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

/** Values whose differences suggest that two memberships belong to two people. */
export type Described = Pick<Registered, 'fullName' | 'gender' | 'dateOfBirth' | 'mobile'>;

/** True if both values are known and differ. */
const differ = (one: string | null, other: string | null): boolean =>
  one !== null && other !== null && one !== other;

const yearOf = (date: string | null): string | null => date?.slice(0, 4) ?? null;

const DIFFERENT_GENDERS = 'different genders';
const DIFFERENT_NAMES = 'names without a common word';

export const contradictionsOf = (one: Described, other: Described): readonly string[] =>
  wordsFor([
    [differ(one.dateOfBirth, other.dateOfBirth), 'different dates of birth'],
    [differ(one.gender, other.gender), DIFFERENT_GENDERS],
    [!haveCommonWord(one.fullName, other.fullName), DIFFERENT_NAMES],
    [differ(one.mobile, other.mobile), 'different phones'],
  ]);

/**
 * Names the conflicts between two memberships with one national ID. Compares only values that rarely change
 * and are rarely mistyped: of a date of birth only the year, because an unknown day is often registered as
 * 1 January.
 */
export const gravelyContradict = (one: Described, other: Described): readonly string[] =>
  wordsFor([
    [differ(yearOf(one.dateOfBirth), yearOf(other.dateOfBirth)), 'different years of birth'],
    [differ(one.gender, other.gender), DIFFERENT_GENDERS],
    [!haveCommonWord(one.fullName, other.fullName), DIFFERENT_NAMES],
  ]);

export const wordsFor = (facts: readonly (readonly [holds: boolean, words: string])[]): string[] =>
  facts.flatMap(([holds, words]) => (holds ? [words] : []));

export const contradictionsBetween = (
  these: readonly Described[],
  those: readonly Described[],
  compare: (one: Described, other: Described) => readonly string[],
): string[] => [...new Set(these.flatMap((one) => those.flatMap((other) => compare(one, other))))];

// Names

const NUMBER = /\p{N}/u;
/** Minimum length of a word with a typo. In a shorter word, a different letter means a different name. */
const LETTERS_FOR_A_TYPO = 4;

/**
 * Compares two names that may be spellings of one name.
 * `same`: the same words in any order.
 * `similar`: the shorter name has at least two words, and each matches a word of the longer name. One word
 * may have a typo and others may be initials, but at least one word of two or more letters is equal.
 */
export function compareNames(one: string, other: string): 'same' | 'similar' | undefined {
  const [shorter, longer] = [wordsOf(one), wordsOf(other)].sort((a, b) => a.length - b.length) as [
    string[],
    string[],
  ];
  const rest = [...longer];
  const take = (isMatch: (word: string) => boolean): boolean => {
    const place = rest.findIndex(isMatch);
    if (place >= 0) rest.splice(place, 1);
    return place >= 0;
  };
  const unequal = shorter.filter((word) => !take((each) => each === word));
  if (unequal.length === 0 && rest.length === 0) return shorter.length > 0 ? 'same' : undefined;
  if (shorter.length < 2 || !shorter.some((word) => isWord(word) && !unequal.includes(word)))
    return undefined;
  const misspelt = unequal.filter((word) => !take((each) => isInitialOf(word, each)));
  return misspelt.length === 0 || (misspelt.length === 1 && take((each) => isTypoOf(misspelt[0] ?? '', each)))
    ? 'similar'
    : undefined;
}

const isWord = (word: string): boolean => lettersOf(word).length > 0;
const isInitialOf = (one: string, other: string): boolean =>
  (one.length === 1 || other.length === 1) && one[0] === other[0] && !NUMBER.test(one + other);
const isTypoOf = (one: string, other: string): boolean =>
  Math.min(one.length, other.length) >= LETTERS_FOR_A_TYPO &&
  !NUMBER.test(one + other) &&
  countTypos(one, other, 1) <= 1;

// Findings

export interface LikelyDuplicate extends Likeness {
  /** Member to merge into `into`: the inactive one, else the one with fewer entries, else the newer one. */
  readonly from: FoundMember;
  readonly into: FoundMember;
}

/** Groups of members who are not compared, because too many people share a value. */
export interface Crowd {
  readonly shared: 'phone' | 'name';
  readonly groups: number;
  readonly members: number;
}

export interface LikelyDuplicates {
  /** The most likely pair first. Two people appear only once, even if they share several cooperatives. */
  readonly pairs: readonly LikelyDuplicate[];
  /** Number of omitted pairs, which are the least likely. A pair may count several times. */
  readonly dropped: number;
  /** Number of pairs that an operator has declared to be different people. */
  readonly dismissed: number;
  readonly crowds: readonly Crowd[];
}

export interface ContradictoryMember extends FoundMember, Described {}

export interface ContradictoryPerson {
  /** All memberships of the person, in id order. */
  readonly members: readonly ContradictoryMember[];
  readonly contradictions: readonly string[];
}

export interface Contradictions {
  /** Most contradictions first. */
  readonly persons: readonly ContradictoryPerson[];
  /** Number of persons omitted because an operator has confirmed them, with a still valid acceptance. */
  readonly accepted: number;
  /** Number of persons omitted because of the limit. */
  readonly dropped: number;
}
