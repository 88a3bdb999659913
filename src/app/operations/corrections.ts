/**
 * Every correction once: what it takes, whom it names and what it does (docs/correcting.md). Commands, the
 * desk and embedding programs each ask for what it takes in their own way.
 */
import type { Awaitable } from '../../domain/values/awaitable.ts';
import { formatDate, parsePastDate, startOfDay, type TimeZone } from '../../domain/values/date-time.ts';
import { FieldError } from '../../domain/values/errors.ts';
import { MAX_LENGTH, parseNamedCode, parseText } from '../../domain/values/text.ts';
import type { Subject } from '../../store/contract/access-ledger.ts';
import type {
  CorrectionOptions,
  CorrectionResult,
  CorrectionStore,
} from '../../store/contract/journal/corrections.ts';

/** What a correction takes, by kind. */
export interface Values {
  /** A national ID. */
  readonly number: string;
  /** The national ID of somebody who may also be named by one of their memberships. */
  readonly holder: string;
  /** The id of a member. */
  readonly member: number;
  /** The code of a cooperative. */
  readonly code: string;
  readonly memberCode: string;
  /** A day until today: `YYYY-MM-DD`, and when it begins in the registry's zone, in epoch seconds. */
  readonly day: { readonly date: string; readonly startsAt: number };
}
export type Kind = keyof Values;
type Takes = { readonly [name: string]: Kind };

/** What somebody may agree to: that a number is taken from others, that two people are one. */
export type Agreement = 'releases' | 'samePerson';
export type Agreements = { readonly [agreement in Agreement]?: boolean | undefined };

/** What it is given besides. */
export type Options = CorrectionOptions & Agreements;

export interface Correction<T extends Takes = Takes, M extends Takes = Takes> {
  readonly takes: T;
  /** What may be left out. */
  readonly mayTake: M;
  readonly agreements: readonly Agreement[];
  make(
    store: CorrectionStore,
    given: { readonly [N in keyof T]: Values[T[N]] } & { readonly [N in keyof M]?: Values[M[N]] },
    options: Options,
  ): CorrectionResult;
}

const correction = <const T extends Takes, const M extends Takes = Record<never, never>>(
  takes: T,
  make: Correction<T, M>['make'],
  { mayTake, agreements = [] }: { readonly mayTake?: M; readonly agreements?: readonly Agreement[] } = {},
): Correction<T, M> => ({ takes, mayTake: mayTake ?? ({} as M), agreements, make });

export const CORRECTIONS = {
  replaceIdentityCard: correction(
    { old: 'holder', current: 'holder' },
    (store, { old, current, memberId }, options) =>
      store.replaceIdentityCard(old, current, { ...options, memberId }),
    { mayTake: { memberId: 'member' }, agreements: ['releases', 'samePerson'] },
  ),
  releaseIdentityCard: correction({ former: 'number' }, (store, { former }, options) =>
    store.releaseIdentityCard(former, options),
  ),
  mergeMembers: correction({ fromId: 'member', intoId: 'member' }, (store, { fromId, intoId }, options) =>
    store.mergeMembers(fromId, intoId, options),
  ),
  moveMember: correction({ memberId: 'member', code: 'code' }, (store, { memberId, code }, options) =>
    store.moveMember(memberId, code, options),
  ),
  transferMember: correction(
    { memberId: 'member', to: 'code', memberCode: 'memberCode', on: 'day' },
    (store, { on, memberId, to, memberCode }, options) =>
      store.transferMember({ memberId, to, memberCode, on: on.date, startsAt: on.startsAt }, options),
  ),
  dismissDuplicate: correction({ oneId: 'member', otherId: 'member' }, (store, { oneId, otherId }, options) =>
    store.dismissDuplicate(oneId, otherId, options),
  ),
  acceptContradictions: correction({ nid: 'holder' }, (store, { nid }, options) =>
    store.acceptContradictions(nid, options),
  ),
  mergeCooperatives: correction(
    { fromCode: 'code', intoCode: 'code' },
    (store, { fromCode, intoCode }, options) => store.mergeCooperatives(fromCode, intoCode, options),
  ),
  recordDeath: correction({ nid: 'number', on: 'day' }, (store, { nid, on }, options) =>
    store.recordDeath(nid, on.date, options),
  ),
  erasePerson: correction({ nid: 'number' }, (store, { nid }, options) => store.erasePerson(nid, options)),
};

export interface PreparedCorrection {
  /** The numbers and members that were given. Whom the correction shows is among them. */
  readonly names: Required<Pick<Subject, 'identityCards' | 'memberIds'>>;
  readonly run: (store: CorrectionStore, options: Options) => CorrectionResult;
}

/** How what was given by a name is read; each throws what its caller shows. */
export type Readers = { readonly [K in Kind]: (name: string) => Awaitable<Values[K]> } & {
  /** Whether what may be left out was given. */
  readonly isGiven: (name: string) => boolean;
  /** The memberships of whoever has a number, or had it, where a caller shows them. */
  readonly membersOf?: (identityCard: string) => Awaitable<readonly number[]>;
};

/** Reads all that a correction takes, members last: to look for one is recorded. @throws as the readers */
export async function prepareCorrection(
  { takes, mayTake, make }: Correction,
  readers: Readers,
): Promise<PreparedCorrection> {
  const given: { [name: string]: Values[Kind] } = {};
  const isFound = ([, kind]: readonly [string, Kind]) => kind === 'member' || kind === 'holder';
  const optional = Object.entries(mayTake).filter(([name]) => readers.isGiven(name));
  const all = [...Object.entries(takes), ...optional];
  for (const [name, kind] of [...all.filter((each) => !isFound(each)), ...all.filter(isFound)])
    given[name] = await readers[kind](name);
  const valuesOf = <T>(...kinds: Kind[]): T[] =>
    all.flatMap(([name, kind]) => (kinds.includes(kind) ? [given[name] as T] : []));
  const memberIds = new Set(valuesOf<number>('member'));
  for (const holder of valuesOf<string>('holder'))
    for (const id of (await readers.membersOf?.(holder)) ?? []) memberIds.add(id);
  return {
    names: { identityCards: valuesOf<string>('number', 'holder'), memberIds: [...memberIds] },
    run: (store, options) => make(store, given, options),
  };
}

/** Of the kinds that are read alike whoever asks. @param nowSeconds until when a day is past */
export const parsersOf = (zone: TimeZone, nowSeconds: number) => ({
  code: parseNamedCode,
  memberCode: (text: string) => parseText(text, MAX_LENGTH.memberCode),
  day(text: string): Values['day'] | FieldError {
    const date = parsePastDate(text, formatDate(nowSeconds, zone));
    return date instanceof FieldError ? date : { date, startsAt: startOfDay(date, zone) };
  },
});
