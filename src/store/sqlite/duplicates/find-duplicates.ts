/**
 * Finds members who may be one person. Three passes decide whom to compare, none of which grows with the
 * square of the members; domain/membership/duplicates.ts decides whether two are alike.
 */
import { CROWD, judgePair, type Likeness, type Registered } from '../../../domain/membership/duplicates.ts';
import { nameKeyOf } from '../../../domain/membership/names.ts';
import type {
  Crowd,
  FoundMember,
  LikelyDuplicate,
  LikelyDuplicates,
} from '../../contract/journal/held-data.ts';
import type { Connection } from '../engine/connection.ts';
import { personPair, readDismissed } from './dismissed.ts';
import { findNearNumbers } from './near-numbers.ts';

/** Kept of those found. */
const MOST_PAIRS = 100_000;

interface Row extends Registered {
  readonly id: number;
}

interface Pair extends Likeness {
  readonly one: Row;
  readonly other: Row;
}

/** Reads one snapshot. @param cooperativeCode only pairs of which one is a member there */
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

/** The likelier first, of equal ones those who were registered first. */
const orderOf = (a: Pair, b: Pair): number =>
  b.score - a.score || a.one.id - b.one.id || a.other.id - b.other.id;

type Found = ReturnType<typeof openFound>;

/** The pairs found so far: of two people the likeliest pair of their memberships. */
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
    /** A phone that says nothing of a person. */
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

/** SELECT of the ids of members with one phone, as JSON; what is erased has neither a phone nor a date. */
const ONE_PHONE = `SELECT json_group_array(id) FROM main.members INDEXED BY members_mobile
  WHERE mobile IS NOT NULL GROUP BY mobile HAVING count(*) > 1`;
/** The same of those with one name and date of birth in a cooperative. */
const ONE_NAME = `SELECT json_group_array(id) FROM main.members
  WHERE cooperative_id = ? AND date_of_birth IS NOT NULL
  GROUP BY date_of_birth, name_key(full_name) HAVING count(*) > 1`;

/** Compares the people of each group, or counts it where it is a crowd. @param groups ids, as JSON */
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

/** Gives pairs to be judged, in three ways. @returns whom it has not compared */
function compareMembers(db: Connection, found: Found): Crowd[] {
  db.raw.function('name_key', { deterministic: true }, (name) => nameKeyOf(String(name)));
  const oneName = db.raw.prepare<[cooperative: number], string>(ONE_NAME).pluck();
  // Not in one statement: it would sort the names of all members.
  const namesakes = db.values<number>('SELECT id FROM main.cooperatives').flatMap((id) => oneName.all(id));
  const crowds = [
    compareGroups(found, 'phone', db.values(ONE_PHONE)),
    compareGroups(found, 'name', namesakes),
  ];
  findNearNumbers(db, (one, other) => found.compare(found.readRow(one), found.readRow(other)));
  return crowds.filter(({ groups }) => groups > 0);
}

/** Decides who of the two would be merged into the other. */
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
