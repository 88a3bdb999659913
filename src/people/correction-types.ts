/**
 * Interface and results of corrections. Each method runs in one transaction, which is recorded like an import
 * and can be undone by its id.
 */

import type { Subject } from '../access/access-ledger.ts';
import {
  CHANGED_ENTITIES,
  type ChangedEntity,
  type ChangedRows,
  type CorrectionOptions,
  type NamedMember,
} from '../registry/changes/correction-kinds.ts';
import { countEntities, ENTITY_NAMES } from '../registry/changes/labels.ts';
import type { EntryKind, EntrySelection } from '../registry/entries.ts';
import { formatDate, parsePastDate, startOfDay, type TimeZone } from '../values/date-time.ts';
import { type Awaitable, FieldError } from '../values/errors.ts';
import { hideIdentityCards, mayContainIdentityCard } from '../values/identity-card.ts';
import { asMessage, Message, mapTexts, say, type Text } from '../values/message.ts';
import { MAX_LENGTH, parseNamedCode, parseText } from '../values/text.ts';

/**
 * Two rows that cannot both exist where the correction would put them.
 * @typeParam Said a sentence
 */
export interface Collision<Said = Text> {
  readonly entity: ChangedEntity;
  /** Label of the row that would move: a member code, reference or account number. */
  readonly row: string;
  readonly message: Said;
}

export interface Transfer {
  readonly memberId: number;
  /** Code of the other cooperative. */
  readonly to: string;
  /** Code of the member in the other cooperative. */
  readonly memberCode: string;
  /** `YYYY-MM-DD`, not in the future. */
  readonly on: string;
  /** Start of that day in the registry's zone, in epoch seconds. */
  readonly startsAt: number;
}

/**
 * The person whose number is replaced, and the current or former holder of the new number, whom the
 * correction would make one person. Without personal data.
 */
export interface ComparedPeople {
  /** Ids of the memberships of each person. */
  readonly memberIds: readonly [replaced: readonly number[], holding: readonly number[]];
  /** Contradictions between the two in words; empty if there are none. */
  readonly contradictions: readonly string[];
}

export interface CorrectionDone<Said = Text> {
  readonly outcome: 'done';
  /** Id for the undo; null after a dry run. */
  readonly correctionId: number | null;
  /** Set after a dry run. Equal fingerprints mean the same values of the same rows. */
  readonly fingerprint?: string;
  /** Counts by entity with created, changed or removed rows. */
  readonly rows: { readonly [entity in ChangedEntity]?: ChangedRows };
  /**
   * Persons or members affected, or the owners of affected entries: personal data. Empty for other
   * corrections, and after an erasure.
   */
  readonly members: readonly NamedMember[];
  /** Points for the operator to check, without personal data. */
  readonly notes: readonly Said[];
  /** Previous holder of a new national ID. */
  readonly compared?: ComparedPeople;
  readonly isFinal?: boolean;
  /** True if nothing was done because an earlier correction, with this id, has done the same. */
  readonly isRepeated?: boolean;
  /** Time during which other writers were locked out, in milliseconds. */
  readonly lockMs: number;
  /** Error in the refresh of the read model after the commit. */
  readonly errorAfterCommit?: unknown;
}

/** Nothing was changed. */
export interface CorrectionRefused<Said = Text> {
  readonly outcome: 'refused';
  /** Without personal data. */
  readonly message: Said;
  /** All collisions; empty if the refusal has another reason. */
  readonly collisions: readonly Collision<Said>[];
  /** People whom the correction would make one: it needs the confirmation `samePerson`. */
  readonly compared?: ComparedPeople;
}

export type CorrectionResult<Said = Text> = CorrectionDone<Said> | CorrectionRefused<Said>;

/** Confirmations and scope of the replacement of a national ID. */
export interface ReplacementOptions {
  /**
   * The new number may be a former number of another person, which is then taken from them; otherwise the
   * replaced number is released instead of kept as a former one.
   */
  readonly releases?: boolean | undefined;
  /** The current or former holder of the new number is the same person. */
  readonly samePerson?: boolean | undefined;
  /** Restricts the new number to this membership; the others keep theirs. */
  readonly memberId?: number | undefined;
}

/**
 * Every method throws a RegistryError: `invalid` for a malformed reason or national ID, `unavailable` if
 * other writers keep the lock or the disk is full.
 */
export interface CorrectionStore {
  /**
   * Gives every membership of `old` the number `current`; `old` still finds the person. If someone holds
   * `current`, this is refused without `samePerson`; with it, both become one person, and two memberships in
   * one cooperative are merged.
   */
  replaceIdentityCard(
    old: string,
    current: string,
    options: CorrectionOptions & ReplacementOptions,
  ): CorrectionResult;
  /** Releases a former number, so that it finds nobody and can be given to another person. */
  releaseIdentityCard(former: string, options: CorrectionOptions): CorrectionResult;
  /**
   * Gives everything of one member to the other, who keeps their own values and gets those that they lack.
   * Both must belong to one cooperative or have the same national ID.
   */
  mergeMembers(fromId: number, intoId: number, options: CorrectionOptions): CorrectionResult;
  /**
   * Ends a membership, which keeps its entries, and begins one of the same person in another cooperative.
   * Imports refuse later entries of the old one.
   */
  transferMember(transfer: Transfer, options: CorrectionOptions): CorrectionResult;
  /** Records that two members are not one person. Repeated, it returns the earlier correction. */
  dismissDuplicate(oneId: number, otherId: number, options: CorrectionOptions): CorrectionResult;
  /**
   * Records that contradictory memberships belong to one person. Repeated, it returns the earlier correction.
   */
  acceptContradictions(identityCard: string, options: CorrectionOptions): CorrectionResult;
  /** Moves a member with everything to the cooperative with this code. */
  moveMember(memberId: number, code: string, options: CorrectionOptions): CorrectionResult;
  /** Moves all members, merging those who are in both cooperatives, and dissolves the emptied cooperative. */
  mergeCooperatives(fromCode: string, intoCode: string, options: CorrectionOptions): CorrectionResult;
  /**
   * Sets the status `deceased` and the date of death in every membership.
   * @param date `YYYY-MM-DD`, not in the future
   */
  recordDeath(identityCard: string, date: string, options: CorrectionOptions): CorrectionResult;
  /**
   * Removes everything that identifies a person from every membership and its history. Hashes of the numbers
   * are kept so that an import does not bring the person back. Cannot be undone.
   */
  erasePerson(identityCard: string, options: CorrectionOptions): CorrectionResult;
  /** Removes the selected entries of a kind; loans only if they have no payments. */
  removeEntries(kind: EntryKind, selection: EntrySelection, options: CorrectionOptions): CorrectionResult;
  close(): void;
}

// Results and refusals of corrections as text

/** Limit of collisions shown; the rest is only counted. */
const SHOWN_COLLISIONS = 20;

/** Some cooperatives use national IDs as codes. */
const withoutNumbers = (text: string): Text =>
  mayContainIdentityCard(text)
    ? new Message(hideIdentityCards(text, '{hidden}'), { hidden: asMessage('(hidden)') })
    : text;

/** Hides national IDs in all placeholders of a message. */
const hideIn = (text: Text): Message =>
  typeof text === 'string' ? asMessage(withoutNumbers(text)) : mapTexts(text, withoutNumbers);

function formatMember({
  id,
  cooperativeCode: cooperative,
  memberCode,
  fullName,
  fate,
}: NamedMember): Message {
  const [code, name] = [withoutNumbers(memberCode), withoutNumbers(fullName)];
  const values = { id, cooperative, code, name };
  return fate === 'changes'
    ? say('  member {id}: {cooperative} {code}, {name}', values)
    : say('  member {id}: {cooperative} {code}, {name} ({fate})', { ...values, fate: asMessage(fate) });
}

function formatRows({ rows, isFinal = false }: CorrectionDone): Message[] {
  const lines = CHANGED_ENTITIES.flatMap((entity) => {
    const { created = 0, changed = 0, removed = 0 } = rows[entity] ?? {};
    const count = (n: number) => ({ rows: countEntities(entity, n) });
    return [
      ...(created > 0 ? [say('  {rows} created', count(created))] : []),
      ...(changed > 0 && isFinal ? [say('  {rows} erased', count(changed))] : []),
      ...(changed > 0 && !isFinal ? [say('  {rows} changed', count(changed))] : []),
      ...(removed > 0 ? [say('  {rows} removed', count(removed))] : []),
    ];
  });
  return lines.length === 0 ? [say('  No row changes.')] : lines;
}

export const formatChanges = (result: CorrectionDone): Message[] => [
  ...result.members.map(formatMember),
  ...formatRows(result),
  ...result.notes.map((note) => say('  Note: {note}', { note: hideIn(note) })),
  ...(result.isFinal === true ? [say('It cannot be undone.')] : []),
];

/** @returns lines */
export function formatRefused({ message, collisions }: CorrectionRefused): Message[] {
  const shown = collisions.slice(0, SHOWN_COLLISIONS);
  const rest = collisions.length - shown.length;
  return [
    say('{message} Nothing was changed.', { message: hideIn(message) }),
    ...shown.map(({ entity, row, message: why }) =>
      say('  {entity} {row}: {message}', {
        entity: asMessage(ENTITY_NAMES[entity]),
        row: withoutNumbers(row),
        message: hideIn(why),
      }),
    ),
    ...(rest > 0 ? [say('  {rest} more; --json lists all of them.', { rest })] : []),
  ];
}

// Declarations of all corrections: the values that each takes, and its method of the store
// (docs/correcting.md). Commands and the desk each read the values in their own way.

export interface Values {
  readonly number: string;
  /** National ID of a person, who may also be named by a membership. */
  readonly holder: string;
  readonly member: number;
  readonly code: string;
  readonly memberCode: string;
  /** Day in the past or today: `YYYY-MM-DD`, and its start in the registry's zone in epoch seconds. */
  readonly day: { readonly date: string; readonly startsAt: number };
}
export type Kind = keyof Values;
type Takes = { readonly [name: string]: Kind };

/** Confirmations: a number may be taken from others; two people are one. */
export type Agreement = 'releases' | 'samePerson';
type Agreements = { readonly [agreement in Agreement]?: boolean | undefined };

export type Options = CorrectionOptions & Agreements;

export interface Correction<T extends Takes = Takes, M extends Takes = Takes> {
  readonly takes: T;
  /** Optional values. */
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
  /** Numbers and members given; includes everyone that the correction shows. */
  readonly names: Required<Pick<Subject, 'identityCards' | 'memberIds'>>;
  readonly run: (store: CorrectionStore, options: Options) => CorrectionResult;
}

/** Readers of each kind of value by its name; they throw errors meant for their caller's users. */
export type Readers = { readonly [K in Kind]: (name: string) => Awaitable<Values[K]> } & {
  readonly isGiven: (name: string) => boolean;
  /** Memberships of a number's current or former holder, for callers that show them. */
  readonly membersOf?: (identityCard: string) => Awaitable<readonly number[]>;
};

/**
 * Reads all values of a correction. Members come last because looking them up is recorded.
 * @throws as the readers
 */
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

/**
 * Parsers of kinds that all callers read alike.
 * @param nowSeconds the present, for days in the past
 */
export const parsersOf = (zone: TimeZone, nowSeconds: number) => ({
  code: parseNamedCode,
  memberCode: (text: string) => parseText(text, MAX_LENGTH.memberCode),
  day(text: string): Values['day'] | FieldError {
    const date = parsePastDate(text, formatDate(nowSeconds, zone));
    return date instanceof FieldError ? date : { date, startsAt: startOfDay(date, zone) };
  },
});
