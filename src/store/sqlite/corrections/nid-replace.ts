/** Replaces a national ID that was wrong or was reissued, in every membership of the person. */
import { haveCommonWord } from '../../../domain/membership/names.ts';
import type { CorrectionRefused } from '../../contract/journal/corrections.ts';
import type { Connection } from '../engine/connection.ts';
import { addRedirect, endRedirect, REPLACED_NUMBERS, redirectOf } from '../identity/former-keys.ts';
import { isErasedNumber } from '../identity/identity-hash.ts';
import { noteBirthAndGender } from './differences.ts';
import { type MemberPair, mergePairs, notePairs, stagePairs, TOUCHED_BY_MERGE } from './merge.ts';
import { type Correction, type CorrectionPlan, refuse } from './run.ts';

interface Holder {
  readonly id: number;
  readonly cooperative_id: number;
  readonly full_name: string;
}

export interface Replacement {
  readonly old: string;
  readonly current: string;
  readonly releases: boolean;
}

export const replaceNumber = (db: Connection, replacement: Replacement): Correction => ({
  kind: 'nid_replace',
  options: { release: replacement.releases },
  decide: () => findFault(db, replacement) ?? planReplacement(db, replacement),
});

/** Lets a former number be given to somebody else. */
export const releaseNumber = (db: Connection, number: string): Correction => ({
  kind: 'nid_release',
  options: {},
  decide: () =>
    redirectOf(db, REPLACED_NUMBERS, number) === undefined
      ? refuse('This national ID is not a former one of anybody.')
      : {
          touched: {},
          notes: ['This number finds nobody now, and can be given to somebody else.'],
          work: (correctionId) => void endRedirect(db, REPLACED_NUMBERS, number, correctionId),
        },
});

const holdersOf = (db: Connection, number: string): Holder[] =>
  db.rows<Holder>(
    'SELECT id, cooperative_id, full_name FROM main.members WHERE identity_card = ? ORDER BY id',
    [number],
  );

function findFault(db: Connection, { old, current, releases }: Replacement): CorrectionRefused | undefined {
  if (old === current) return refuse('Both national IDs are the same.');
  if (holdersOf(db, old).length === 0) {
    return redirectOf(db, REPLACED_NUMBERS, old) === undefined
      ? refuse('Nobody has the national ID that is to be replaced.')
      : refuse('This national ID was replaced before. Name the current one of the person.');
  }
  if (holdersOf(db, current).length === 0 && isErasedNumber(db, current))
    return refuse('The new national ID is that of a person who was erased.');
  const found = redirectOf(db, REPLACED_NUMBERS, current);
  if (found === undefined || found === old || releases) return undefined;
  return refuse('The new national ID is a former one of somebody else. Use --release to take it from them.');
}

function planReplacement(db: Connection, { old, current, releases }: Replacement): CorrectionPlan {
  const [holders, others] = [holdersOf(db, old), holdersOf(db, current)];
  const pairs = holders.flatMap(({ id, cooperative_id }) => {
    const same = others.find((other) => other.cooperative_id === cooperative_id);
    return same === undefined ? [] : [{ from: id, into: same.id }];
  });
  stagePairs(db, pairs);
  // Then --release takes it from them; else it gives up the number that is replaced.
  const leadsTo = redirectOf<string>(db, REPLACED_NUMBERS, current);
  const isTaken = leadsTo !== undefined && leadsTo !== old;
  const ids = holders.map(({ id }) => `SELECT ${id}`).join(' UNION ALL ');
  const isOther = !others.every(({ full_name }) =>
    holders.some((holder) => haveCommonWord(holder.full_name, full_name)),
  );
  return {
    touched: { ...TOUCHED_BY_MERGE, members: `${ids} UNION ${TOUCHED_BY_MERGE.members}` },
    members: showHolders(holders, pairs),
    notes: [
      ...(isOther ? ['The new national ID is held under a name without a common word. Same person?'] : []),
      ...pairs.flatMap((pair) => noteBirthAndGender(db, pair)),
      ...(pairs.length === 0 ? [] : [mergedNote(pairs.length), ...notePairs(db)]),
    ],
    work(correctionId) {
      mergePairs(db, correctionId);
      db.run('UPDATE main.members SET identity_card = ? WHERE identity_card = ?', [current, old]);
      endRedirect(db, REPLACED_NUMBERS, current, correctionId);
      addRedirect(db, REPLACED_NUMBERS, [old, current], correctionId, !releases || isTaken);
    },
  };
}

/** Every membership of the number that is replaced, and those into which some are merged. */
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

const mergedNote = (count: number): string =>
  count === 1
    ? 'The person has a membership under both numbers in 1 cooperative: they are merged.'
    : `The person has memberships under both numbers in ${count} cooperatives: they are merged.`;
