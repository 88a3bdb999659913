/**
 * Finds members who may be one person. Three passes decide whom to compare, none of which grows with the
 * square of the members; domain/membership/duplicates.ts decides whether two are alike.
 */
import { judgePair, type Likeness, type Registered } from '../../../domain/membership/duplicates.ts';
import type { Crowd, FoundMember, LikelyDuplicate, LikelyDuplicates } from '../../ports/journal/held-data.ts';
import type { Connection } from '../engine/connection.ts';
import { type ComparedMembers, DIGITS, readComparedMembers } from './compared-members.ts';
import { personPair, readDismissed } from './dismissed.ts';
import { openGrouping } from './grouping.ts';
import { findNearNumbers } from './near-numbers.ts';

/** More people with one phone, or one name and date of birth in a cooperative, are no family. */
export const CROWD = 20;
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
    /** A phone that says nothing of a person. */
    forgetPhone(id: number): void {
      const { mobile } = readRow(id);
      if (mobile !== null) crowdedPhones.add(mobile);
    },
    compare(oneId: number, otherId: number): void {
      const [one, other] = [readRow(Math.min(oneId, otherId)), readRow(Math.max(oneId, otherId))];
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

/** Compares within a group, or counts it where it is a crowd. @returns what groups are given to */
function openGroup(
  { ids, digits }: ComparedMembers,
  { compare }: Found,
  shared: Crowd['shared'],
  onCrowd: (member: number) => void = () => undefined,
) {
  const crowd = { shared, groups: 0, members: 0 };
  const cardOf = (member: number) => digits.subarray(member * DIGITS, (member + 1) * DIGITS).join('');
  const visit = (group: readonly number[]): void => {
    const people = new Map(group.map((member) => [member, cardOf(member)]));
    if (new Set(people.values()).size > CROWD) {
      crowd.groups++;
      crowd.members += group.length;
      onCrowd(group[0] as number);
      return;
    }
    group.forEach((one, i) => {
      for (const other of group.slice(0, i))
        if (people.get(one) !== people.get(other)) compare(ids[one] as number, ids[other] as number);
    });
  };
  return { crowd, visit };
}

/** Gives pairs to be judged, in three ways. @returns whom it has not compared */
function compareMembers(db: Connection, found: Found): Crowd[] {
  const members = readComparedMembers(db);
  const { ids, phones, namesakes } = members;
  const group = openGrouping(members.count);
  const byPhone = openGroup(members, found, 'phone', (member) => found.forgetPhone(ids[member] as number));
  group(
    (member) => phones[member] || undefined,
    (one, other) => phones[one] === phones[other],
    byPhone.visit,
  );
  const byName = openGroup(members, found, 'name');
  group(
    (member) => namesakes[member] || undefined,
    (one, other) => namesakes[one] === namesakes[other],
    byName.visit,
  );
  findNearNumbers(members, group, (one, other) => found.compare(ids[one] as number, ids[other] as number));
  return [byPhone.crowd, byName.crowd].filter(({ groups }) => groups > 0);
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
