/**
 * Finds members who may be one person. Three passes select pairs, without comparing every member with every
 * other member, and people/likeness.ts scores each pair.
 */

import { CROWD, nameKeyOf, wordsOf } from '../import/checks/compare-people.ts';
import type { OperationScope } from '../journal/command-transaction.ts';
import { MERGED_MEMBERS, redirectSql } from '../registry/stored/former-ids.ts';
import type { FoundMember } from '../registry/stored/stored-data-types.ts';
import type { Connection } from '../sqlite/connection.ts';
import { ERASED_STATUS } from '../sqlite/counts.ts';
import { say } from '../values/message.ts';
import { type Correction, findMember, refuse, repeated } from './corrections/run-correction.ts';
import {
  type Crowd,
  judgePair,
  type LikelyDuplicate,
  type LikelyDuplicates,
  type Likeness,
  type Registered,
} from './likeness.ts';

// A dismissal records that two members are different people. It is a correction, so that it has a reason and
// a user, and can be undone.

const DISMISSAL_KIND = 'duplicates_dismiss';

/** Ids of the two members, stored with the dismissal. */
interface DismissalOptions {
  readonly one: number;
  readonly other: number;
}

export const dismissDuplicate = (
  { db }: OperationScope,
  { oneId, otherId }: { readonly oneId: number; readonly otherId: number },
): Correction => ({
  kind: DISMISSAL_KIND,
  options: { one: oneId, other: otherId } satisfies DismissalOptions,
  decide() {
    const [one, other] = [findMember(db, oneId), findMember(db, otherId)];
    if ('outcome' in one) return one;
    if ('outcome' in other) return other;
    if (one.identity_card === other.identity_card)
      return refuse('Both have one national ID, and so are one person.');
    const members = [oneId, otherId].map((id) => ({ id, fate: 'stays' as const }));
    const id = readDismissed(db).get(personPair(one.identity_card, other.identity_card));
    if (id !== undefined)
      return repeated(db, id, members, say('The pair was set aside before, by correction {id}.', { id }));
    return { touched: {}, members, work: () => undefined };
  },
});

/** Returns SQL of the current id of a member, who may have been merged since the dismissal. */
const memberNow = (name: keyof DismissalOptions): string => {
  const id = `json_extract(o.options, '$.${name}')`;
  return `coalesce((${redirectSql(MERGED_MEMBERS, id)}), ${id})`;
};

/** Returns a text for two national IDs, the same in either order. */
const personPair = (one: string, other: string): string =>
  one < other ? `${one} ${other}` : `${other} ${one}`;

/** Returns ids of dismissals by `personPair`, not by members: a dismissal applies in every cooperative. */
const readDismissed = (db: Connection): ReadonlyMap<string, number> =>
  new Map(
    db
      .rows<{ id: number; one: string; other: string }>(
        `SELECT o.id, a.identity_card AS one, b.identity_card AS other FROM main.operations o
         CROSS JOIN main.members a ON a.id = ${memberNow('one')}
         CROSS JOIN main.members b ON b.id = ${memberNow('other')}
         WHERE o.kind = '${DISMISSAL_KIND}' AND o.undone_at IS NULL`,
      )
      .map(({ id, one, other }) => [personPair(one, other), id]),
  );

// National IDs that are one slip apart: one digit differs, or two adjacent digits are swapped. Eight
// comparisons each leave out three adjacent places, and compare the rest. Every slip is within the three
// places that one of the comparisons leaves out.

const DIGITS = 16;
/** Odd multiplier with irregular bits, for hashing. */
const MIXER = 0x9e3779b1;

/** Unerased members: 28 bytes each, and about 12 more while they are compared. */
interface Numbered {
  readonly ids: Float64Array;
  /** Digits of national IDs, 16 per member. */
  readonly digits: Uint8Array;
  /** Bits for the words of each name. Names that share a word share a bit. */
  readonly words: Int32Array;
}

const ALL = `main.members WHERE status <> '${ERASED_STATUS}'`;

function readNumbered(db: Connection): Numbered {
  const count = db.count(ALL);
  const ids = new Float64Array(count);
  const digits = new Uint8Array(count * DIGITS);
  const words = new Int32Array(count);
  const read = db.raw.prepare(`SELECT id, identity_card, full_name FROM ${ALL}`).raw();
  let member = 0;
  for (const [id, card, name] of read.iterate() as Iterable<readonly [number, string, string]>) {
    ids[member] = id;
    for (let place = 0; place < DIGITS; place++)
      digits[member * DIGITS + place] = card.charCodeAt(place) - 48;
    for (const word of wordsOf(name)) words[member] = (words[member] as number) | bitOf(word);
    member++;
  }
  return { ids, digits, words };
}

function bitOf(word: string): number {
  let hash = 0;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash, 31) + word.charCodeAt(i);
  return 1 << (Math.imul(hash, MIXER) >>> 27);
}

/** First of the three places that each comparison leaves out. */
const FIRST_PLACES = [0, 2, 4, 6, 8, 10, 12, 14];

/** Calls `visit` for members whose numbers are one slip apart and whose names may share a word. */
function findNearNumbers(db: Connection, visit: (one: number, other: number) => void): void {
  const { ids, digits, words } = readNumbered(db);
  const mayBeAlike = (one: number, other: number) =>
    ((words[one] as number) & (words[other] as number)) !== 0;
  for (const first of FIRST_PLACES) {
    for (const group of groupByRest(digits, first)) {
      group.forEach((one, i) => {
        for (const other of group.slice(0, i))
          if (mayBeAlike(one, other) && areOneSlipApart(digits, one, other))
            visit(ids[one] as number, ids[other] as number);
      });
    }
  }
}

/** Groups members whose numbers are equal outside three places, and rarely others: numbers are hashed. */
function groupByRest(digits: Uint8Array, first: number): Iterable<readonly number[]> {
  // A 32-bit hash of the remaining places is enough, because a later check compares the digits.
  const rests = new Int32Array(digits.length / DIGITS);
  for (let member = 0; member < rests.length; member++) {
    let rest = 0;
    for (let place = 0; place < DIGITS; place++)
      if (place < first || place > first + 2)
        rest = Math.imul(rest, MIXER) + (digits[member * DIGITS + place] as number);
    rests[member] = rest;
  }
  // Sorting puts equal hashes side by side. Most hashes are unique.
  const sorted = rests.toSorted();
  const shared = new Set(sorted.filter((rest, i) => rest === sorted[i - 1]));
  const alike: number[] = [];
  rests.forEach((rest, member) => {
    if (shared.has(rest)) alike.push(member);
  });
  return Map.groupBy(alike, (member) => rests[member]).values();
}

const PLACES = Array.from({ length: DIGITS }, (_, place) => place);

function areOneSlipApart(digits: Uint8Array, one: number, other: number): boolean {
  const at = (member: number, place: number) => digits[member * DIGITS + place];
  const different = PLACES.filter((place) => at(one, place) !== at(other, place));
  const [left = 0, right = 0] = different;
  if (different.length !== 2) return different.length === 1;
  return right === left + 1 && at(one, left) === at(other, right) && at(one, right) === at(other, left);
}

const MOST_PAIRS = 100_000;

interface Row extends Registered {
  readonly id: number;
}

interface Pair extends Likeness {
  readonly one: Row;
  readonly other: Row;
}

/** @param cooperativeCode restricts the result to pairs with a member of this cooperative */
export const findDuplicates = (db: Connection, cooperativeCode?: string): LikelyDuplicates =>
  db.transaction.deferred(() => {
    const cooperativeId = db.value<number | undefined>('SELECT id FROM main.cooperatives WHERE code = ?', [
      cooperativeCode ?? null,
    ]);
    const likely = openLikelyPairs(db, cooperativeId);
    const crowds = compareMembers(db, likely);
    const dismissed = readDismissed(db);
    const { pairs, dropped } = likely.list();
    const open = pairs.filter(
      ({ one, other }) => !dismissed.has(personPair(one.identityCard, other.identityCard)),
    );
    return { pairs: describePairs(db, open), dropped, dismissed: pairs.length - open.length, crowds };
  });

const orderOf = (a: Pair, b: Pair): number =>
  b.score - a.score || a.one.id - b.one.id || a.other.id - b.other.id;

type LikelyPairs = ReturnType<typeof openLikelyPairs>;

/** Collects pairs of memberships. Of all pairs of the same two people, only the most likely pair remains. */
function openLikelyPairs(db: Connection, cooperativeId: number | undefined) {
  const read = db.raw.prepare<[number], Row>(
    `SELECT id, cooperative_id AS cooperativeId, identity_card AS identityCard, full_name AS fullName, gender,
       date_of_birth AS dateOfBirth, mobile FROM main.members WHERE id = ?`,
  );
  const crowdedPhones = new Set<string>();
  let best = new Map<string, Pair>();
  let dropped = 0;
  const readRow = (id: number): Row => {
    const row = read.get(id) as Row;
    return row.mobile !== null && crowdedPhones.has(row.mobile) ? { ...row, mobile: null } : row;
  };
  const sorted = () => [...best].sort(([, a], [, b]) => orderOf(a, b));
  const prune = () => {
    dropped += best.size - MOST_PAIRS;
    best = new Map(sorted().slice(0, MOST_PAIRS));
  };
  return {
    readRow,
    /** Ignores a phone from now on, because too many people share it. */
    forgetPhone({ mobile }: Row): void {
      if (mobile !== null) crowdedPhones.add(mobile);
    },
    compare(first: Row, second: Row): void {
      const [one, other] = first.id < second.id ? [first, second] : [second, first];
      if (cooperativeId !== undefined && ![one.cooperativeId, other.cooperativeId].includes(cooperativeId))
        return;
      const likeness = judgePair(one, other);
      if (likeness === undefined) return;
      const key = personPair(one.identityCard, other.identityCard);
      const pair = { ...likeness, one, other };
      const previous = best.get(key);
      if (previous === undefined || orderOf(pair, previous) < 0) best.set(key, pair);
      if (best.size >= 2 * MOST_PAIRS) prune();
    },
    list: () => {
      if (best.size > MOST_PAIRS) prune();
      return { pairs: sorted().map(([, pair]) => pair), dropped };
    },
  };
}

/** SELECTs of groups with one phone or name, as JSON arrays of member ids. Erased members have no phone. */
const ONE_PHONE = `SELECT json_group_array(id) FROM main.members INDEXED BY members_mobile
  WHERE mobile IS NOT NULL GROUP BY mobile HAVING count(*) > 1`;
const ONE_NAME = `SELECT json_group_array(id) FROM main.members
  WHERE cooperative_id = ? AND date_of_birth IS NOT NULL
  GROUP BY date_of_birth, name_key(full_name) HAVING count(*) > 1`;

/** Compares the members of each group with each other, but only counts groups of too many people. */
function compareGroups(
  { readRow, compare, forgetPhone }: LikelyPairs,
  shared: Crowd['shared'],
  groups: readonly string[],
): Crowd {
  const crowd = { shared, groups: 0, members: 0 };
  for (const group of groups) {
    const members = (JSON.parse(group) as number[]).map(readRow);
    const people = new Set(members.map(({ identityCard }) => identityCard));
    if (people.size > CROWD) {
      crowd.groups++;
      crowd.members += members.length;
      if (shared === 'phone') forgetPhone(members[0] as Row);
      continue;
    }
    members.forEach((one, i) => {
      for (const other of members.slice(0, i)) compare(one, other);
    });
  }
  return crowd;
}

/** @returns the groups that were too large to compare */
function compareMembers(db: Connection, likely: LikelyPairs): Crowd[] {
  db.raw.function('name_key', { deterministic: true }, (name) => nameKeyOf(String(name)));
  const oneName = db.raw.prepare<[cooperative: number], string>(ONE_NAME).pluck();
  // Runs for each cooperative, because one statement for all would sort the names of all members.
  const namesakes = db.values<number>('SELECT id FROM main.cooperatives').flatMap((id) => oneName.all(id));
  const crowds = [
    compareGroups(likely, 'phone', db.values(ONE_PHONE)),
    compareGroups(likely, 'name', namesakes),
  ];
  findNearNumbers(db, (one, other) => likely.compare(likely.readRow(one), likely.readRow(other)));
  return crowds.filter(({ groups }) => groups > 0);
}

interface DescribedMember extends FoundMember {
  readonly active: number;
  readonly entries: number;
  readonly registeredAt: number;
}

const DESCRIBED = `SELECT m.id, c.code AS cooperativeCode, m.member_code AS memberCode,
    m.full_name AS fullName, m.status = 'active' AS active, m.registration_date AS registeredAt,
    (SELECT count(*) FROM main.production_entries WHERE member_id = m.id)
      + (SELECT count(*) FROM main.loans WHERE member_id = m.id)
      + (SELECT count(*) FROM main.savings_accounts a CROSS JOIN main.savings_transactions t
         ON t.account_id = a.id WHERE a.member_id = m.id) AS entries
  FROM main.members m CROSS JOIN main.cooperatives c ON c.id = m.cooperative_id WHERE m.id = ?`;

/** Decides which member of each pair to merge into the other. */
function describePairs(db: Connection, pairs: readonly Pair[]): LikelyDuplicate[] {
  const describe = db.raw.prepare<[number], DescribedMember>(DESCRIBED);
  return pairs.map(({ one, other, score, reasons }) => {
    const [into, from] = [one, other]
      .map(({ id }) => describe.get(id) as DescribedMember)
      .sort(
        (a, b) =>
          b.active - a.active || b.entries - a.entries || a.registeredAt - b.registeredAt || a.id - b.id,
      ) as [DescribedMember, DescribedMember];
    return { score, reasons, from, into };
  });
}
