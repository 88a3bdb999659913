/** Replaces a national ID that was wrong or was reissued, in every membership of the person or in one. */

import { contradictionsBetween, contradictionsOf, type Described } from '../../registry/likeness.ts';
import { isErasedNumber } from '../../registry/stored/erasures.ts';
import {
  addRedirect,
  endRedirect,
  REPLACED_NUMBERS,
  redirectOf,
} from '../../registry/stored/former-identifiers.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { doubtIdentityCard } from '../../values/identity-card.ts';
import { asMessage, type Message, say } from '../../values/message.ts';
import type { ComparedPeople, CorrectionRefused, ReplacementOptions } from '../correction-types.ts';
import { type MemberPair, mergePairs, notePairs, stagePairs, TOUCHED_BY_MERGE } from './merge-pairs.ts';
import { type Correction, type CorrectionPlan, refuse } from './run-correction.ts';

interface Holder extends Described {
  readonly id: number;
  readonly cooperativeId: number;
}

interface Replacement extends ReplacementOptions {
  readonly old: string;
  readonly current: string;
  readonly year: number;
}

export const replaceNumber = (db: Connection, replacement: Replacement): Correction => ({
  kind: 'nid_replace',
  options: {
    release: replacement.releases === true,
    ...(replacement.samePerson === true && { same_person: true }),
  },
  decide() {
    const people = readPeople(db, replacement);
    return findFault(db, replacement, people) ?? planReplacement(db, replacement, people);
  },
});

/** Lets a former number be given to another person. */
export const releaseNumber = (db: Connection, number: string): Correction => ({
  kind: 'nid_release',
  options: {},
  decide: () =>
    redirectOf(db, REPLACED_NUMBERS, number) === undefined
      ? refuse('This national ID is not a former one of anybody.')
      : {
          touched: {},
          notes: [say('This number finds nobody now, and can be given to somebody else.')],
          work: (correctionId) => void endRedirect(db, REPLACED_NUMBERS, number, correctionId),
        },
});

/** Memberships of the people in a replacement. */
interface People {
  /** Memberships that get the new number, and those of the same person that keep the old one. */
  readonly holders: readonly Holder[];
  readonly staying: readonly Holder[];
  /** Memberships of another person who holds or held the new number. */
  readonly others: readonly Holder[];
  /** True if the others have a different number now. */
  readonly isFormer: boolean;
  /**
   * Number that the holders get. If the new number is a former one of the same person, it is that person's
   * current number.
   */
  readonly given: string;
}

const holdersOf = (db: Connection, number: string): Holder[] =>
  db.rows<Holder>(
    `SELECT id, cooperative_id AS cooperativeId, full_name AS fullName, gender, date_of_birth AS dateOfBirth,
       mobile FROM main.members WHERE identity_card = ? ORDER BY id`,
    [number],
  );

function readPeople(db: Connection, { old, current, samePerson, memberId }: Replacement): People {
  const all = holdersOf(db, old);
  // Undefined also for a former number whose replacement was since changed over HTTP.
  const leadsTo = redirectOf<string>(db, REPLACED_NUMBERS, current) ?? old;
  const isFormer = leadsTo !== old;
  const isMeant = ({ id }: Holder) => memberId === undefined || id === memberId;
  const others = old === current ? [] : holdersOf(db, isFormer ? leadsTo : current);
  return {
    holders: all.filter(isMeant),
    staying: all.filter((each) => !isMeant(each)),
    others,
    isFormer,
    given: isFormer && samePerson === true && others.length > 0 ? leadsTo : current,
  };
}

function findFault(
  db: Connection,
  { old, current, releases, samePerson, memberId }: Replacement,
  people: People,
): CorrectionRefused | undefined {
  const { holders, staying, others, isFormer } = people;
  if (old === current) return refuse('Both national IDs are the same.');
  if (holders.length + staying.length === 0) {
    return redirectOf(db, REPLACED_NUMBERS, old) === undefined
      ? refuse('Nobody has the national ID that is to be replaced.')
      : refuse('This national ID was replaced before. Name the current one of the person.');
  }
  if (holders.length === 0)
    return refuse(
      say('Member {id} does not have the national ID that is to be replaced.', { id: memberId ?? '' }),
    );
  if ((isFormer || others.length === 0) && isErasedNumber(db, current))
    return refuse('The new national ID is that of a person who was erased.');
  if (isFormer && releases !== true && (samePerson !== true || others.length === 0))
    return asking(
      people,
      'The new national ID is a former one of somebody else. Use --same-person if both are one person; ' +
        '--release takes it from them.',
    );
  if (!isFormer && others.length > 0 && samePerson !== true)
    return asking(
      people,
      'The new national ID is that of somebody else. Use --same-person if both are one person; if not, ' +
        'it is not the right number.',
    );
  return undefined;
}

const asking = (people: People, message: string): CorrectionRefused => ({
  ...refuse(message),
  ...(people.others.length > 0 && { compared: compare(people) }),
});

const compare = ({ holders, others }: People): ComparedPeople => ({
  memberIds: [holders.map(({ id }) => id), others.map(({ id }) => id)],
  contradictions: contradictionsBetween(holders, others, contradictionsOf),
});

function planReplacement(db: Connection, replacement: Replacement, people: People): CorrectionPlan {
  const { old, current, releases, memberId, year } = replacement;
  const { holders, staying, others, isFormer, given } = people;
  const isJoined = others.length > 0 && (!isFormer || given !== current);
  const pairs = holders.flatMap(({ id, cooperativeId }) => {
    const same = isJoined ? others.find((other) => other.cooperativeId === cooperativeId) : undefined;
    return same === undefined ? [] : [{ from: id, into: same.id }];
  });
  stagePairs(db, pairs);
  // With --release the number is taken from its former holder; otherwise the replaced number is released.
  const isTaken = isFormer && !isJoined;
  const ids = holders.map(({ id }) => `SELECT ${id}`).join(' UNION ALL ');
  const compared = others.length === 0 ? undefined : compare(people);
  return {
    touched: { ...TOUCHED_BY_MERGE, members: `${ids} UNION ${TOUCHED_BY_MERGE.members}` },
    members: showHolders(holders, pairs),
    ...(compared && { compared, seen: [holders, others] }),
    // The replaced number remains in use, so an undo need not check whether another person has taken it.
    ...(staying.length > 0 && { options: { member: memberId } }),
    notes: [
      ...doubtIdentityCard(given, holders, year),
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
        given,
        old,
      ]);
      endRedirect(db, REPLACED_NUMBERS, given, correctionId);
      if (staying.length > 0) return;
      addRedirect(db, REPLACED_NUMBERS, [old, given], correctionId, releases !== true || isTaken);
    },
  };
}

/** Memberships with the replaced number, and those that some of them are merged into. */
const showHolders = (
  holders: readonly Holder[],
  pairs: readonly MemberPair[],
): NonNullable<CorrectionPlan['members']> =>
  holders.flatMap(({ id }): NonNullable<CorrectionPlan['members']> => {
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
