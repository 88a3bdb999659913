/** Replaces a national ID that was wrong or was reissued, in every membership of the person or in one. */

import type { OperationScope } from '../../journal/command-transaction.ts';
import { isErasedNumber } from '../../registry/stored/erasures.ts';
import { addRedirect, endRedirect, REPLACED_NUMBERS, redirectOf } from '../../registry/stored/former-ids.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { formatDate } from '../../values/date-time.ts';
import { asMessage, type Message, say } from '../../values/message.ts';
import type { ComparedPeople, CorrectionRefused } from '../correction-result.ts';
import { contradictionsBetween, contradictionsOf, type Described, wordsFor } from '../likeness.ts';
import { type MemberPair, mergePairs, notePairs, stagePairs, TOUCHED_BY_MERGE } from './merges.ts';
import {
  type AgreedOptions,
  type Correction,
  type CorrectionPlan,
  type MemberFate,
  refuse,
} from './run-correction.ts';

/** Sixth digit of a national ID, by gender. */
const SEX_DIGITS: { readonly [gender: string]: string } = { MALE: '8', FEMALE: '7' };

/** Earliest plausible year of birth of a living person. */
const FIRST_YEAR = 1900;

/**
 * Returns reasons why a national ID may be mistyped, without personal data. Rwandan national IDs contain a
 * status digit from 1 to 3, the year of birth and the sex. These digits are never stored as data, since
 * numbers change on re-issue.
 * @param registered registered data of the persons who are to get the number
 */
export function doubtIdentityCard(
  number: string,
  registered: readonly { readonly gender: string | null; readonly dateOfBirth: string | null }[],
  year: number,
): string[] {
  const [born, sex] = [number.slice(1, 5), number[5] ?? ''];
  const sexDigits: readonly string[] = Object.values(SEX_DIGITS);
  const isOther = (values: readonly (string | undefined)[], digits: string) =>
    values.some((value) => value !== undefined && value !== digits);
  const years = registered.map(({ dateOfBirth }) => dateOfBirth?.slice(0, 4));
  const sexes = registered.map(({ gender }) => SEX_DIGITS[gender ?? '']);
  return wordsFor([
    [!'123'.includes(number[0] ?? ''), 'No national ID begins with the first digit of the new number.'],
    [Number(born) > year, 'By its digits, the holder of the new number is not born yet.'],
    [Number(born) < FIRST_YEAR, 'By its digits, the holder of the new number was born before 1900.'],
    [
      Number(born) >= FIRST_YEAR && Number(born) <= year && isOther(years, born),
      'By its digits, the holder of the new number was born in a year other than registered.',
    ],
    [!sexDigits.includes(sex), 'The sixth digit of the new number is neither 7 nor 8.'],
    [
      sexDigits.includes(sex) && isOther(sexes, sex),
      'By its digits, the holder of the new number has a gender other than registered.',
    ],
  ]);
}

interface Holder extends Described {
  readonly id: number;
  readonly cooperativeId: number;
}

interface NewNumber {
  readonly old: string;
  readonly current: string;
  /** The only membership that gets the new number; undefined to give all memberships the number. */
  readonly memberId?: number | undefined;
}

/**
 * Replaces `old`, which still finds the person. If another person has or had `current`, the operator has to
 * agree to one of these options:
 * `samePerson`: the two people become one person. Memberships in the same cooperative are merged.
 * `releases`: a former holder loses `current`. If `current` has no former holder, this option instead
 * releases `old`, which then finds no person.
 */
export function replaceNumber(
  { db, format }: OperationScope,
  values: NewNumber,
  { releases = false, samePerson = false, nowSeconds }: AgreedOptions,
): Correction {
  const year = Number(formatDate(nowSeconds, format.zone).slice(0, 4));
  return {
    kind: 'nid_replace',
    options: { release: releases, ...(samePerson && { same_person: true }) },
    decide() {
      const replacement = readReplacement(db, { ...values, releases, samePerson, year });
      return findFault(db, replacement) ?? planReplacement(db, replacement);
    },
  };
}

const holdersOf = (db: Connection, number: string): Holder[] =>
  db.rows<Holder>(
    `SELECT id, cooperative_id AS cooperativeId, full_name AS fullName, gender, date_of_birth AS dateOfBirth,
       mobile FROM main.members WHERE identity_card = ? ORDER BY id`,
    [number],
  );

type Replacement = ReturnType<typeof readReplacement>;

function readReplacement(
  db: Connection,
  replacement: NewNumber & {
    readonly releases: boolean;
    readonly samePerson: boolean;
    readonly year: number;
  },
) {
  const { old, current, memberId, samePerson } = replacement;
  // A redirect of `current` exists only if it is a former number, and the number that replaced it was not
  // changed over HTTP.
  const leadsTo = redirectOf<string>(db, REPLACED_NUMBERS, current) ?? old;
  const isFormer = leadsTo !== old;
  const otherHolders = old === current ? [] : holdersOf(db, isFormer ? leadsTo : current);
  const { holders = [], staying = [] } = Object.groupBy(holdersOf(db, old), ({ id }) =>
    memberId === undefined || id === memberId ? 'holders' : 'staying',
  );
  return {
    ...replacement,
    /** Memberships that get the new number. */
    holders,
    /** Memberships of the same person that keep the old number. */
    staying,
    /** Memberships of another person who has, or had, the new number. */
    otherHolders,
    /** True if the new number, `current`, was once replaced by a number other than `old`. */
    isFormer,
    /**
     * Number that the holders get: `current`, or, if `current` is a former number of the same person, the
     * number that replaced it.
     */
    assigned: isFormer && samePerson && otherHolders.length > 0 ? leadsTo : current,
  };
}

function findFault(db: Connection, replacement: Replacement): CorrectionRefused | undefined {
  const { old, current, memberId, releases, samePerson, holders, staying, otherHolders, isFormer } =
    replacement;
  if (old === current) return refuse('Both national IDs are the same.');
  if (holders.length + staying.length === 0) {
    return redirectOf(db, REPLACED_NUMBERS, old) === undefined
      ? refuse('No person has the national ID to be replaced.')
      : refuse('This national ID was replaced before. Name the current one of the person.');
  }
  if (holders.length === 0)
    return refuse(say('Member {id} does not have the national ID to be replaced.', { id: memberId ?? '' }));
  if ((isFormer || otherHolders.length === 0) && isErasedNumber(db, current))
    return refuse('The new national ID is that of a person who was erased.');
  if (isFormer && !releases && (!samePerson || otherHolders.length === 0))
    return asking(
      replacement,
      'The new national ID is a former one of another person. Use --same-person if both are one person; ' +
        '--release takes it from them.',
    );
  if (!isFormer && otherHolders.length > 0 && !samePerson)
    return asking(
      replacement,
      'The new national ID is that of another person. Use --same-person if both are one person; ' +
        'if not, check the number.',
    );
  return undefined;
}

const asking = (people: Replacement, message: string): CorrectionRefused => ({
  ...refuse(message),
  ...(people.otherHolders.length > 0 && { compared: compare(people) }),
});

const compare = ({ holders, otherHolders }: Replacement): ComparedPeople => ({
  memberIds: [holders.map(({ id }) => id), otherHolders.map(({ id }) => id)],
  contradictions: contradictionsBetween(holders, otherHolders, contradictionsOf),
});

function planReplacement(db: Connection, replacement: Replacement): CorrectionPlan {
  const { old, current, releases, memberId, year } = replacement;
  const { holders, staying, otherHolders, isFormer, assigned } = replacement;
  const isJoined = otherHolders.length > 0 && (!isFormer || assigned !== current);
  const pairs = holders.flatMap(({ id, cooperativeId }) => {
    const same = isJoined ? otherHolders.find((other) => other.cooperativeId === cooperativeId) : undefined;
    return same === undefined ? [] : [{ from: id, into: same.id }];
  });
  stagePairs(db, pairs);
  // If `current` is a former number of another person, `--release` takes `current` from this person.
  // Otherwise, `--release` releases `old`.
  const isTaken = isFormer && !isJoined;
  const ids = holders.map(({ id }) => `SELECT ${id}`).join(' UNION ALL ');
  const compared = otherHolders.length === 0 ? undefined : compare(replacement);
  return {
    touched: { ...TOUCHED_BY_MERGE, members: `${ids} UNION ${TOUCHED_BY_MERGE.members}` },
    members: showHolders(holders, pairs),
    ...(compared && { compared, seen: [holders, otherHolders] }),
    // The option tells an undo that other memberships still use the old number.
    ...(staying.length > 0 && { options: { member: memberId } }),
    notes: [
      ...doubtIdentityCard(assigned, holders, year),
      ...(isJoined && isFormer
        ? [say('The new number is a former one of the same person, who keeps the one that replaced it.')]
        : []),
      ...(isJoined && compared !== undefined && compared.contradictions.length > 0
        ? [
            say('One person, in spite of {contradictions}.', {
              contradictions: compared.contradictions.map(asMessage),
            }),
          ]
        : []),
      ...(pairs.length === 0 ? [] : [mergedNote(pairs.length), ...notePairs(db)]),
    ],
    work(correctionId) {
      mergePairs(db, correctionId);
      db.run(`UPDATE main.members SET identity_card = ? WHERE identity_card = ? AND id IN (${ids})`, [
        assigned,
        old,
      ]);
      endRedirect(db, REPLACED_NUMBERS, assigned, correctionId);
      if (staying.length > 0) return;
      addRedirect(db, REPLACED_NUMBERS, [old, assigned], correctionId, !releases || isTaken);
    },
  };
}

/** Returns the memberships that get a new number, and the memberships into which some are merged. */
const showHolders = (holders: readonly Holder[], pairs: readonly MemberPair[]): MemberFate[] =>
  holders.flatMap(({ id }): MemberFate[] => {
    const pair = pairs.find(({ from }) => from === id);
    if (pair === undefined) return [{ id, fate: 'changes' }];
    return [
      { id, fate: 'goes' },
      { id: pair.into, fate: 'stays' },
    ];
  });

const mergedNote = (n: number): Message =>
  say(
    'The person has {n|a membership under both numbers in # cooperative|' +
      'memberships under both numbers in # cooperatives}: they are merged.',
    { n },
  );

/** Releases a former number, which then finds no person and can be given to another person. */
export const releaseNumber = (
  { db }: OperationScope,
  { former }: { readonly former: string },
): Correction => ({
  kind: 'nid_release',
  options: {},
  decide: () =>
    redirectOf(db, REPLACED_NUMBERS, former) === undefined
      ? refuse('This national ID is not a former one.')
      : {
          touched: {},
          notes: [say('This number finds no person now, and can be given to another person.')],
          work: (correctionId) => void endRedirect(db, REPLACED_NUMBERS, former, correctionId),
        },
});
