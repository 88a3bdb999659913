/**
 * Declares the corrections and their values, and runs corrections (docs/correcting.md). Every correction is
 * recorded as an operation, and can be undone unless it is an erasure.
 */

import type { Subject } from '../../access/access-ledger.ts';
import { type OperationScope, openOperations } from '../../journal/command-transaction.ts';
import type { EntryKind, EntrySelection } from '../../registry/entries.ts';
import type { Storage } from '../../sqlite/storage.ts';
import { formatDate, parsePastDate, startOfDay, type TimeZone } from '../../values/date-time.ts';
import { type Awaitable, FieldError } from '../../values/errors.ts';
import type { CorrectionResult } from '../correction-result.ts';
import { acceptContradictions } from '../find-contradictions.ts';
import { dismissDuplicate } from '../find-duplicates.ts';
import { removeEntries } from './entries-remove.ts';
import { moveMember } from './members-move.ts';
import { transferMember } from './members-transfer.ts';
import { mergeCooperatives, mergeMembers } from './merges.ts';
import { releaseNumber, replaceNumber } from './nid-replace.ts';
import { recordDeath } from './persons-deceased.ts';
import { erasePerson } from './persons-erase.ts';
import { type AgreedOptions, type Correction, type Day, runCorrection } from './run-correction.ts';

interface Values {
  readonly number: string;
  /** National ID of a person. The user may give a membership of the person instead. */
  readonly holder: string;
  readonly member: number;
  readonly optionalMember: number | undefined;
  readonly code: string;
  readonly memberCode: string;
  /** In the past or today. */
  readonly day: Day;
}
type Kind = keyof Values;
type Takes = { readonly [name: string]: Kind };
type Correct<V> = (scope: OperationScope, values: V, options: AgreedOptions) => Correction;

/** Lets the compiler check that the kinds in `takes` fit the values that `correct` expects. */
const correction = <const T extends Takes, C extends Correct<{ readonly [N in keyof T]: Values[T[N]] }>>(
  takes: T,
  correct: C,
) => ({ takes, correct });

export const CORRECTIONS = {
  replaceIdentityCard: correction(
    { old: 'holder', current: 'holder', memberId: 'optionalMember' },
    replaceNumber,
  ),
  releaseIdentityCard: correction({ former: 'number' }, releaseNumber),
  mergeMembers: correction({ fromId: 'member', intoId: 'member' }, mergeMembers),
  moveMember: correction({ memberId: 'member', code: 'code' }, moveMember),
  transferMember: correction(
    { memberId: 'member', to: 'code', memberCode: 'memberCode', on: 'day' },
    transferMember,
  ),
  dismissDuplicate: correction({ oneId: 'member', otherId: 'member' }, dismissDuplicate),
  acceptContradictions: correction({ nid: 'holder' }, acceptContradictions),
  mergeCooperatives: correction({ fromCode: 'code', intoCode: 'code' }, mergeCooperatives),
  recordDeath: correction({ nid: 'number', on: 'day' }, recordDeath),
  erasePerson: correction({ nid: 'number' }, erasePerson),
};

export type CorrectionName = keyof typeof CORRECTIONS;
export type CorrectionStore = ReturnType<typeof openCorrections>;

/**
 * The methods throw a RegistryError `unavailable` if other processes keep the lock or the disk is full.
 * @throws StorageError `unusable` if there is no registry
 */
export function openCorrections(storage: Storage, waitMs?: number) {
  const scope = openOperations(storage, storage.pathForOpening(), waitMs);
  return {
    run<N extends CorrectionName>(
      name: N,
      values: Parameters<(typeof CORRECTIONS)[N]['correct']>[1],
      options: AgreedOptions,
    ): CorrectionResult {
      const correct: Correct<never> = CORRECTIONS[name].correct;
      return runCorrection(scope, correct(scope, values as never, options), options);
    },
    removeEntries: (kind: EntryKind, selection: EntrySelection, options: AgreedOptions): CorrectionResult =>
      runCorrection(scope, removeEntries(scope, kind, selection), options),
    close: () => scope.db.close(),
  };
}

export interface PreparedCorrection {
  /** National IDs and members that the correction names. The correction shows no other persons. */
  readonly names: Required<Pick<Subject, 'identityCards' | 'memberIds'>>;
  readonly run: (store: CorrectionStore, options: AgreedOptions) => CorrectionResult;
}

/** For each kind of value, a function that reads a value by its name. Errors are worded for the user. */
type Readers = { readonly [K in Kind]: (name: string) => Awaitable<Values[K]> } & {
  /** Returns the ids of all memberships of the person who has, or had, the number. */
  readonly membersOf: (identityCard: string) => Awaitable<readonly number[]>;
};

/**
 * Reads members last: after an error in another value, no search for a member is recorded as an access.
 * @throws errors of the readers
 */
export async function prepareCorrection(name: CorrectionName, readers: Readers): Promise<PreparedCorrection> {
  const takes: readonly (readonly [string, Kind])[] = Object.entries(CORRECTIONS[name].takes);
  const values: { [name: string]: Values[Kind] } = {};
  const takenOf = (...kinds: Kind[]) => takes.filter(([, kind]) => kinds.includes(kind));
  const members = takenOf('member', 'optionalMember', 'holder');
  for (const [field, kind] of [...takes.filter((value) => !members.includes(value)), ...members])
    values[field] = await readers[kind](field);
  const valuesOf = <T>(...kinds: Kind[]): T[] =>
    takenOf(...kinds).flatMap(([field]) => (values[field] ?? []) as T | []);
  const memberIds = new Set(valuesOf<number>('member', 'optionalMember'));
  for (const holder of valuesOf<string>('holder'))
    for (const id of await readers.membersOf(holder)) memberIds.add(id);
  return {
    names: { identityCards: valuesOf<string>('number', 'holder'), memberIds: [...memberIds] },
    run: (store, options) => store.run(name, values as never, options),
  };
}

export function parseDay(text: string, zone: TimeZone, nowSeconds: number): Day | FieldError {
  const date = parsePastDate(text, formatDate(nowSeconds, zone));
  return date instanceof FieldError ? date : { date, startsAt: startOfDay(date, zone) };
}
