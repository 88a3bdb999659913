/** Finds persons whose memberships contradict each other: two people may have got one national ID. */
import {
  contradictionsBetween,
  type Described,
  gravelyContradict,
} from '../../../domain/membership/duplicates.ts';
import type {
  Contradictions,
  ContradictoryMember,
  ContradictoryPerson,
} from '../../contract/journal/held-data.ts';
import type { Connection } from '../engine/connection.ts';
import { openAccepted } from './accepted.ts';

/** Kept of those found. */
const MOST_PERSONS = 100_000;

/** @returns what reads memberships by their ids */
export function openMemberships(db: Connection) {
  const read = db.raw.prepare<[number], ContradictoryMember>(
    `SELECT m.id, c.code AS cooperativeCode, m.member_code AS memberCode, m.full_name AS fullName, m.gender,
       m.date_of_birth AS dateOfBirth, m.mobile
     FROM main.members m CROSS JOIN main.cooperatives c ON c.id = m.cooperative_id WHERE m.id = ?`,
  );
  return (ids: readonly number[]) => ids.map((id) => read.get(id) as ContradictoryMember);
}

export const contradictionsWithin = (memberships: readonly Described[]): string[] =>
  contradictionsBetween(memberships, memberships, gravelyContradict);

/** SELECT of the ids of the memberships of each person who has several, as JSON; an erased one has one. */
const OF_ONE_PERSON = `SELECT json_group_array(id) FROM main.members INDEXED BY members_person
  GROUP BY identity_card HAVING count(*) > 1`;

/** Reads one snapshot. @param cooperativeCode only persons with a membership there */
export const findContradictions = (db: Connection, cooperativeCode?: string): Contradictions =>
  db.transaction.deferred(() => {
    const read = openMemberships(db);
    const acceptedBy = openAccepted(db);
    const persons: ContradictoryPerson[] = [];
    let [accepted, dropped] = [0, 0];
    for (const group of db.values<string>(OF_ONE_PERSON)) {
      const ids = (JSON.parse(group) as number[]).sort((one, other) => one - other);
      const members = read(ids);
      const contradictions = contradictionsWithin(members);
      if (contradictions.length === 0) continue;
      if (cooperativeCode !== undefined && !members.some((each) => each.cooperativeCode === cooperativeCode))
        continue;
      if (acceptedBy(ids) !== undefined) accepted++;
      else if (persons.length >= MOST_PERSONS) dropped++;
      else persons.push({ members, contradictions });
    }
    persons.sort(
      (one, other) =>
        other.contradictions.length - one.contradictions.length ||
        (one.members[0]?.id ?? 0) - (other.members[0]?.id ?? 0),
    );
    return { persons, accepted, dropped };
  });
