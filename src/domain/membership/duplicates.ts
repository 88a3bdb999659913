/** Whether two members may be one person (docs/correcting.md#finding-people-registered-twice). */
import { countTypos } from '../values/typos.ts';
import { compareNames, haveCommonWord } from './names.ts';

/** What is compared of a member. */
export interface Registered {
  readonly identityCard: string;
  readonly fullName: string;
  readonly gender: string | null;
  /** `YYYY-MM-DD` */
  readonly dateOfBirth: string | null;
  /** Null, too, if so many share it that it says nothing of a person. */
  readonly mobile: string | null;
  readonly cooperativeId: number;
}

export interface Likeness {
  /** 0 to 100; a measure, not a probability. */
  readonly score: number;
  /** In words, without personal data; the strongest first. */
  readonly reasons: readonly string[];
}

/** More people with one phone, or one name and date of birth in a cooperative, are no family. */
export const CROWD = 20;

/** Below it, so much speaks against it that nobody should be asked to look. */
const LEAST_SCORE = 40;

type Known = 'same' | 'near' | 'different' | undefined;

/** Of numbers and dates, which have one length. */
const compareDigits = (one: string | null, other: string | null): Known => {
  if (one === null || other === null) return undefined;
  if (one === other) return 'same';
  return countTypos(one, other, 1) <= 1 ? 'near' : 'different';
};

/** Whether the digits are the same ones: two of them were swapped, rather than one mistyped. */
const areSwapped = (one: string, other: string): boolean =>
  [...one].sort().join('') === [...other].sort().join('');

/**
 * Two members whose names are alike and who besides have national IDs one slip apart, or one phone; or one
 * cooperative, name and date of birth. One national ID is one person with several memberships.
 * @returns undefined when they are not likely to be one person under two numbers
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
  const found = evidence.filter(([holds]) => holds);
  const score = Math.min(
    100,
    found.reduce((sum, [, points]) => sum + points, 0),
  );
  return score < LEAST_SCORE ? undefined : { score, reasons: found.map(([, , reason]) => reason) };
}

/** What may contradict that two memberships are of one person. */
export type Described = Pick<Registered, 'fullName' | 'gender' | 'dateOfBirth' | 'mobile'>;

/** Whether both are known and are not the same. */
const differ = (one: string | null, other: string | null): boolean =>
  one !== null && other !== null && one !== other;

const yearOf = (date: string | null): string | null => date?.slice(0, 4) ?? null;

const DIFFERENT_GENDERS = 'different genders';
const DIFFERENT_NAMES = 'names without a common word';

/** What contradicts that two are one person, in words without personal data. */
export const contradictionsOf = (one: Described, other: Described): readonly string[] =>
  wordsFor([
    [differ(one.dateOfBirth, other.dateOfBirth), 'different dates of birth'],
    [differ(one.gender, other.gender), DIFFERENT_GENDERS],
    [!haveCommonWord(one.fullName, other.fullName), DIFFERENT_NAMES],
    [differ(one.mobile, other.mobile), 'different phones'],
  ]);

/**
 * The same of two memberships under one national ID: only what seldom changes or is mistyped. Many days of
 * birth are unknown, and registered as 1 January.
 */
export const gravelyContradict = (one: Described, other: Described): readonly string[] =>
  wordsFor([
    [differ(yearOf(one.dateOfBirth), yearOf(other.dateOfBirth)), 'different years of birth'],
    [differ(one.gender, other.gender), DIFFERENT_GENDERS],
    [!haveCommonWord(one.fullName, other.fullName), DIFFERENT_NAMES],
  ]);

const wordsFor = (found: readonly (readonly [holds: boolean, words: string])[]): string[] =>
  found.flatMap(([holds, words]) => (holds ? [words] : []));

/** All that is said of a pair of which the one is of these and the other of those; each once. */
export function contradictionsBetween<T extends Described>(
  these: readonly T[],
  those: readonly T[],
  compare: (one: T, other: T) => readonly string[],
): string[] {
  return [...new Set(these.flatMap((one) => those.flatMap((other) => compare(one, other))))];
}

/** What a list shows of a member, besides name and phone. */
export interface ListedMember {
  /** Its code. */
  readonly cooperative: string;
  readonly identityCard: string;
  readonly dateOfBirth: string | null;
}

/**
 * Whether two members of one name and phone are most likely one person with a mistyped number. In two
 * cooperatives, different dates of birth speak against it.
 */
export function isMistyped(one: ListedMember, other: ListedMember): boolean {
  const different = [...one.identityCard].filter((digit, place) => digit !== other.identityCard[place]);
  const births = compareDigits(one.dateOfBirth, other.dateOfBirth);
  return (
    different.length === 1 &&
    (one.cooperative === other.cooperative || births === undefined || births === 'same')
  );
}
