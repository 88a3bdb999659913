/**
 * Finds members who may be one person. Three passes select the pairs to compare, none quadratic in the number
 * of members; registry/likeness.ts scores each pair.
 */

import { CROWD, judgePair, type Likeness, type Registered } from '../registry/likeness.ts';
import { nameKeyOf, wordsOf } from '../registry/members.ts';
import { MERGED_MEMBERS, redirectSql } from '../registry/stored/former-identifiers.ts';
import type {
  Contradictions,
  Crowd,
  FoundMember,
  LikelyDuplicate,
  LikelyDuplicates,
} from '../registry/stored/stored-data-types.ts';
import { type Connection, WAIT_MS } from '../sqlite/connection.ts';
import { ERASED_STATUS } from '../sqlite/counts.ts';
import { openDatabase } from '../sqlite/open-database.ts';
import { REGISTRY_SCHEMA } from '../sqlite/schemas.ts';
import type { Storage } from '../sqlite/storage.ts';
import { findContradictions } from './find-contradictions.ts';

// Dismissed pairs are derived from the corrections that have not been undone, like transfers, so that each
// has a reason, a user and an undo.

export const DISMISSAL_KIND = 'duplicates_dismiss';

/** Stored member ids of a dismissal. */
export interface DismissalOptions {
  readonly one: number;
  readonly other: number;
}

/** SQL of the current id of a member, which may have been merged since. */
const memberNow = (name: keyof DismissalOptions): string => {
  const id = `json_extract(o.options, '$.${name}')`;
  return `coalesce((${redirectSql(MERGED_MEMBERS, id)}), ${id})`;
};

/** Key of a pair, independent of its order. */
export const personPair = (one: string, other: string): string =>
  one < other ? `${one} ${other}` : `${other} ${one}`;

/**
 * Ids of corrections by the pairs of national IDs that they dismiss: these are two people in every
 * cooperative.
 */
export const readDismissed = (db: Connection): ReadonlyMap<string, number> =>
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

// National IDs one slip apart: one digit differs, or two neighbours are swapped. Either slip lies within
// three neighbouring places, so eight comparisons of the other places find all of them.

const DIGITS = 16;
/** Odd multiplier without a bit pattern. */
const MIXER = 0x9e3779b1;

/** Data of all members held in memory: 28 bytes each, and a dozen more during the comparison. */
interface Numbered {
  readonly ids: Float64Array;
  /** Digits of national IDs, 16 per member. */
  readonly digits: Uint8Array;
  /** Bitmap of the words of each name: names that share a word share a bit. */
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

/** First of the three places left out; consecutive ranges overlap in one place. */
const FIRST_PLACES = [0, 2, 4, 6, 8, 10, 12, 14];

/** Calls back with the ids of members whose numbers are one slip apart and whose names may share a word. */
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

/** @returns groups of members whose numbers agree outside three places, with a few false positives */
function groupByRest(digits: Uint8Array, first: number): Iterable<readonly number[]> {
  // A 32-bit hash of the other places suffices: later checks remove collisions.
  const rests = new Int32Array(digits.length / DIGITS);
  for (let member = 0; member < rests.length; member++) {
    let rest = 0;
    for (let place = 0; place < DIGITS; place++)
      if (place < first || place > first + 2)
        rest = Math.imul(rest, MIXER) + (digits[member * DIGITS + place] as number);
    rests[member] = rest;
  }
  // Sorting puts equal hashes side by side; most are unique.
  const sorted = rests.toSorted();
  const shared = new Set(sorted.filter((rest, i) => rest === sorted[i - 1]));
  const groups = new Map<number, number[]>();
  for (let member = 0; member < rests.length; member++) {
    const rest = rests[member] as number;
    if (!shared.has(rest)) continue;
    const group = groups.get(rest);
    if (group === undefined) groups.set(rest, [member]);
    else group.push(member);
  }
  return groups.values();
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

/**
 * Reads from one snapshot.
 * @param cooperativeCode restricts the result to pairs with a member there
 */
export const findDuplicates = (db: Connection, cooperativeCode?: string): LikelyDuplicates =>
  db.transaction.deferred(() => {
    const cooperativeId =
      cooperativeCode === undefined
        ? undefined
        : db.value<number | undefined>('SELECT id FROM main.cooperatives WHERE code = ?', [cooperativeCode]);
    const found = openFound(db, cooperativeId);
    const crowds = compareMembers(db, found);
    const dismissed = readDismissed(db);
    const { pairs, dropped } = found.list();
    const shown = pairs.filter(
      ({ one, other }) => !dismissed.has(personPair(one.identityCard, other.identityCard)),
    );
    return {
      pairs: describePairs(db, shown),
      dropped,
      dismissed: pairs.length - shown.length,
      crowds,
    };
  });

/** Most likely first, then by ids. */
const orderOf = (a: Pair, b: Pair): number =>
  b.score - a.score || a.one.id - b.one.id || a.other.id - b.other.id;

type Found = ReturnType<typeof openFound>;

/** Pairs found so far: for any two people, only the most likely pair of their memberships. */
function openFound(db: Connection, cooperativeId: number | undefined) {
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
    /** Marks a phone as shared by too many to identify anyone. */
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
      const known = best.get(key);
      if (known === undefined || orderOf(pair, known) < 0) best.set(key, pair);
      if (best.size >= 2 * MOST_PAIRS) prune();
    },
    list: () => {
      if (best.size > MOST_PAIRS) prune();
      return { pairs: sorted().map(([, pair]) => pair), dropped };
    },
  };
}

/**
 * SELECT of the ids, as JSON, of members who share a phone. Erased members have neither phone nor date of
 * birth.
 */
const ONE_PHONE = `SELECT json_group_array(id) FROM main.members INDEXED BY members_mobile
  WHERE mobile IS NOT NULL GROUP BY mobile HAVING count(*) > 1`;
/** SELECT of the ids, as JSON, of members who share name and date of birth in a cooperative. */
const ONE_NAME = `SELECT json_group_array(id) FROM main.members
  WHERE cooperative_id = ? AND date_of_birth IS NOT NULL
  GROUP BY date_of_birth, name_key(full_name) HAVING count(*) > 1`;

/**
 * Compares the members of each group, or only counts them if the group is a crowd.
 * @param groups ids as JSON
 */
function compareGroups(
  { readRow, compare, forgetPhone }: Found,
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

/**
 * Compares candidate pairs from three passes: shared phones, shared names and near numbers.
 * @returns the groups that were not compared
 */
function compareMembers(db: Connection, found: Found): Crowd[] {
  db.raw.function('name_key', { deterministic: true }, (name) => nameKeyOf(String(name)));
  const oneName = db.raw.prepare<[cooperative: number], string>(ONE_NAME).pluck();
  // One statement per cooperative: a single one would sort the names of all members.
  const namesakes = db.values<number>('SELECT id FROM main.cooperatives').flatMap((id) => oneName.all(id));
  const crowds = [
    compareGroups(found, 'phone', db.values(ONE_PHONE)),
    compareGroups(found, 'name', namesakes),
  ];
  findNearNumbers(db, (one, other) => found.compare(found.readRow(one), found.readRow(other)));
  return crowds.filter(({ groups }) => groups > 0);
}

/** Decides which member of each pair would be merged into the other. */
function describePairs(db: Connection, pairs: readonly Pair[]): LikelyDuplicate[] {
  const describe = db.raw.prepare<[number], Described>(DESCRIBED);
  return pairs.map(({ one, other, score, reasons }) => {
    const [into, from] = [one, other]
      .map(({ id }) => describe.get(id) as Described)
      .sort(
        (a, b) =>
          b.active - a.active || b.entries - a.entries || a.registeredAt - b.registeredAt || a.id - b.id,
      );
    return { score, reasons, from: toMember(from as Described), into: toMember(into as Described) };
  });
}

interface Described extends FoundMember {
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

const toMember = ({ id, cooperativeCode, memberCode, fullName }: Described): FoundMember => ({
  id,
  cooperativeCode,
  memberCode,
  fullName,
});

// Both searches on a connection of their own

export interface Duplicates {
  /** @param cooperativeCode restricts the result to pairs with a member there */
  findDuplicates(cooperativeCode?: string): LikelyDuplicates;
  /**
   * Persons whose memberships contradict each other.
   * @param cooperativeCode restricts the result to persons with a membership there
   */
  findContradictions(cooperativeCode?: string): Contradictions;
  close(): void;
}

/** @throws StorageError `unusable` if there is no registry */
export function openDuplicates(storage: Storage): Duplicates {
  const db = openDatabase(storage.readable(), { waitMs: WAIT_MS.command, schema: REGISTRY_SCHEMA });
  return {
    findDuplicates: (cooperativeCode) => findDuplicates(db, cooperativeCode),
    findContradictions: (cooperativeCode) => findContradictions(db, cooperativeCode),
    close: () => db.close(),
  };
}
