/** What the registry holds, row by row and with every value: for the operator's commands. */
import type { EntryKind, EntrySelection } from '../../../domain/entries/entries.ts';
import type { CooperativeSummary } from '../../../domain/membership/cooperatives.ts';
import type { Described, Likeness } from '../../../domain/membership/duplicates.ts';
import type { Page, PageRequest } from '../../../domain/values/page.ts';
import type { StagedValue } from '../import/import-session.ts';
import type { ChangedEntity } from './corrections.ts';
import type { HistoryEntry } from './history.ts';

/**
 * The values of a row by the names of bodies and import files: as stored, so amounts in minor units, weights
 * in grams and instants in epoch seconds; ids and counts as text.
 */
export interface HeldRow {
  readonly [field: string]: StagedValue;
}

/** A membership with everything that belongs to it; each list in order of id. */
export interface HeldMembership {
  readonly member: HeldRow;
  readonly deliveries: readonly HeldRow[];
  readonly loans: readonly HeldRow[];
  /** On these loans. */
  readonly payments: readonly HeldRow[];
  readonly savingsAccounts: readonly HeldRow[];
  readonly savingsTransactions: readonly HeldRow[];
}

/** A change of one of the rows of a person, or of a row that was merged into one. */
export interface HeldChange extends HistoryEntry {
  readonly entity: ChangedEntity;
  /** What people call the row. */
  readonly row: string;
}

/** What a member may be named by; each that is given finds members. */
export interface MemberName {
  readonly id?: number;
  readonly memberCode?: string;
  /** Also a former one. */
  readonly identityCard?: string;
  /**
   * Somebody looks for it: a code or reference that nobody has is tried in upper case, and a code then finds
   * whom its members were merged into. What a correction is about is named exactly.
   */
  readonly isTyped?: true;
  /** Of a delivery, savings transaction, loan or payment: whose it is. */
  readonly reference?: string;
  /** Only members of this cooperative. */
  readonly cooperativeCode?: string;
}

/** A member that was found by a name. */
export interface FoundMember {
  readonly id: number;
  readonly cooperativeCode: string;
  readonly memberCode: string;
  readonly fullName: string;
}

/** What a list of a cooperative can be in order of: texts from A, days and amounts from the largest. */
export const ROW_ORDERS = ['name', 'code', 'day', 'what', 'amount', 'left', 'reference', 'loan'] as const;
export type RowOrder = (typeof ROW_ORDERS)[number];

/** A page in the order that the list says, or another one of those that it has. */
export interface OrderedRequest extends PageRequest {
  readonly order?: RowOrder | undefined;
}

/** Kinds of rows that are recorded of the members of a cooperative. */
export type RecordedKind = EntryKind | 'payments';

/** One of them, with the member whose it is. */
export interface RecordedRow extends FoundMember {
  /** As text. */
  readonly rowId: string;
  readonly reference: string;
  /** Epoch seconds of the delivery, transaction or payment; of a loan, null before it has begun. */
  readonly at: number | null;
  /** Product, kind of transaction, status of the loan, way of payment; `void` of a void payment. */
  readonly what: string | null;
  /** Grams of a delivery, otherwise in minor units; what was paid out of savings is below zero. */
  readonly amount: number;
  /** The reference of the loan of a payment. */
  readonly loan: string | null;
}

/** A loan whose end has passed before it was paid back. */
export interface LateLoan extends FoundMember {
  readonly reference: string;
  readonly amountMinor: number;
  readonly paidAmountMinor: number;
  /** Epoch seconds. */
  readonly endDate: number;
}

/** A member that a search by name has found. */
export interface NamedMember extends FoundMember {
  readonly status: string;
}

/** Everything about a person, in all cooperatives and statuses. */
export interface HeldPerson {
  readonly identityCard: string;
  /** Numbers that still find the person. */
  readonly formerIdentityCards: readonly string[];
  readonly memberships: readonly HeldMembership[];
  /** The origin of each row, then every change, the newest last. */
  readonly history: readonly HeldChange[];
  /** Responses that are kept for repeated requests and name the person. */
  readonly keptResponses: number;
}

/** Members who may be one person, registered under two national IDs. */
export interface LikelyDuplicate extends Likeness {
  /** The one of whom less would be lost: not active, with fewer entries, or registered later. */
  readonly from: FoundMember;
  readonly into: FoundMember;
}

/** What was not compared, because too many share it. */
export interface Crowd {
  readonly shared: 'phone' | 'name';
  /** How many phones, or names with a date of birth. */
  readonly groups: number;
  readonly members: number;
}

export interface LikelyDuplicates {
  /** The likeliest first; of two people, one pair of their memberships. */
  readonly pairs: readonly LikelyDuplicate[];
  /** Pairs beyond the number that is kept, the least likely ones. */
  readonly dropped: number;
  /** Pairs left out because somebody has set them aside. */
  readonly dismissed: number;
  readonly crowds: readonly Crowd[];
}

/** A membership of a person whose memberships contradict each other. */
export interface ContradictoryMember extends FoundMember, Described {}

export interface ContradictoryPerson {
  /** All of the person, in order of id. */
  readonly members: readonly ContradictoryMember[];
  /** In words, without personal data. */
  readonly contradictions: readonly string[];
}

export interface Contradictions {
  /** Those with the most contradictions first. */
  readonly persons: readonly ContradictoryPerson[];
  /** Left out because somebody has said that they are one person, and nothing has changed since. */
  readonly accepted: number;
  /** Persons beyond the number that is kept. */
  readonly dropped: number;
}

/** Somebody else who has, or had, a national ID of a person: what was read of it then is not the person's. */
export interface OtherHolder {
  readonly identityCard: string;
  readonly memberId: number;
  /** Epoch seconds. */
  readonly since: number;
  /** Null: now. */
  readonly until: number | null;
}

/** Under what a person may stand in the access ledger. */
export interface PersonTraces {
  /** Every number under which the person is or was registered, the one that was asked for first. */
  readonly identityCards: readonly string[];
  readonly otherHolders: readonly OtherHolder[];
  /** Members who are or were the person: also those that were merged. */
  readonly memberIds: readonly number[];
  /** Where one of these is or was. */
  readonly cooperativeIds: readonly number[];
  /** When the first of these was registered, in epoch seconds; undefined for nobody, and after an erasure. */
  readonly since: number | undefined;
  /** Of a person who was erased, in epoch seconds: where, is not known any more. */
  readonly erasedAt: number | undefined;
}

/** A national ID that leads, or has led, to a person. */
export interface KnownNumber {
  readonly number: string;
  /** The one that the person has now. */
  readonly current: string;
  /** When somebody stopped having it, in epoch seconds; null: it leads to them now. */
  readonly until: number | null;
}

export interface HeldDataStore {
  /** All, in order of code. */
  listCooperatives(): readonly CooperativeSummary[];
  /** The values that cooperatives have for each of these, in order. */
  listPlaces(): { readonly district: readonly string[]; readonly province: readonly string[] };
  /** Of the deliveries of a cooperative, in order. */
  listProducts(cooperativeId: number): readonly string[];
  /** @returns undefined when nobody has or had the number */
  findPerson(identityCard: string): HeldPerson | undefined;
  /** Also of a number that nobody has: then it is the only trace. */
  findTraces(identityCard: string): PersonTraces;
  /** Every number of everybody: former ones in the order in which they ended, then those of now. */
  listNumbers(): Iterable<KnownNumber>;
  /** The numbers of now by the ids of members, also of merged ones; those that are nobody's are left out. */
  findNumbers(memberIds: Iterable<number>): ReadonlyMap<number, string>;
  /** In order of id, without those who were erased. */
  findMembers(name: MemberName): readonly FoundMember[];
  /**
   * Those whose names have words that begin so, in order of id, up to a limit.
   * @throws RegistryError `unavailable` while the names of an import are missing in the index
   */
  searchMembers(words: readonly string[]): readonly NamedMember[];
  /**
   * The ids of those whose names would be found with one letter of the words put right, up to a limit.
   * @throws RegistryError as `searchMembers`
   */
  listSimilar(words: readonly string[], most: number): readonly number[];
  /** Of these numbers, those that somebody has. */
  listHeldNumbers(identityCards: readonly string[]): readonly string[];
  /** @returns undefined when there is no member with this id, or an erased one */
  findMembership(memberId: number): HeldMembership | undefined;
  /**
   * Active members of a cooperative who have delivered nothing since an instant, in order of id.
   * @param since epoch seconds
   */
  listWithoutDelivery(cooperativeId: number, since: number, request: OrderedRequest): Page<FoundMember>;
  /**
   * Loans of a cooperative that should have been paid back by an instant and are not, the longest ago first.
   * @param at epoch seconds
   */
  listLateLoans(cooperativeId: number, at: number, request: OrderedRequest): Page<LateLoan>;
  /** Rows of a cooperative, the last recorded first. @param memberCode only of the member with this code */
  listRecorded(
    kind: RecordedKind,
    cooperativeId: number,
    memberCode: string | undefined,
    request: OrderedRequest,
  ): Page<RecordedRow>;
  /** In order of id; empty when nothing is selected. */
  listEntries(kind: EntryKind, selection: EntrySelection): readonly HeldRow[];
  /** @param cooperativeCode only pairs of which one is a member there */
  findDuplicates(cooperativeCode?: string): LikelyDuplicates;
  /** Persons whose memberships contradict each other. @param cooperativeCode only of persons who are there */
  findContradictions(cooperativeCode?: string): Contradictions;
  close(): void;
}
