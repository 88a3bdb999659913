/** Finds persons with conflicting memberships. Two people may have been registered with one national ID. */

import type { OperationScope } from '../journal/command-transaction.ts';
import { FOUND_MEMBER } from '../registry/stored/stored-data.ts';
import type { Connection } from '../sqlite/connection.ts';
import { say } from '../values/message.ts';
import { refuseUnknown } from './corrections/persons-deceased.ts';
import { type Correction, refuse, repeated } from './corrections/run-correction.ts';
import {
  type Contradictions,
  type ContradictoryMember,
  type ContradictoryPerson,
  contradictionsBetween,
  type Described,
  gravelyContradict,
} from './likeness.ts';

// An acceptance is a correction that confirms a person in spite of conflicts. It is valid until it is undone,
// a confirmed value changes, or a membership is added (docs/correcting.md#conflicting-records).

const ACCEPTANCE_KIND = 'duplicates_same_person';

interface AcceptanceOptions {
  /** Ids of all memberships of the person at that time. */
  readonly members: readonly number[];
}

export const acceptContradictions = (
  { db }: OperationScope,
  { nid }: { readonly nid: string },
): Correction => ({
  kind: ACCEPTANCE_KIND,
  options: {},
  decide() {
    const ids = db.values<number>('SELECT id FROM main.members WHERE identity_card = ? ORDER BY id', [nid]);
    if (ids.length === 0) return refuseUnknown(db, nid);
    const memberships = openMemberships(db)(ids);
    if (contradictionsWithin(memberships).length === 0)
      return refuse('This person has no conflicting records.');
    const members = ids.map((id) => ({ id, fate: 'stays' as const }));
    const id = openAccepted(db)(ids);
    if (id !== undefined)
      return repeated(db, id, members, say('The person was checked before, by correction {id}.', { id }));
    const options: AcceptanceOptions = { members: ids };
    return { touched: {}, members, seen: memberships, options, work: () => undefined };
  },
});

const CONFIRMED_FIELDS = "'identity_card', 'full_name', 'gender', 'date_of_birth', 'mobile'";

/** Returns a function that finds the acceptance that is valid for all memberships in `ids`. */
function openAccepted(db: Connection): (ids: readonly number[]) => number | undefined {
  const acceptances = db
    .rows<{ id: number; lastChange: number; options: string }>(
      `SELECT id, last_change AS lastChange, options FROM main.operations
       WHERE kind = '${ACCEPTANCE_KIND}' AND undone_at IS NULL ORDER BY id`,
    )
    .map(({ options, ...acceptance }) => {
      const { members } = JSON.parse(options) as AcceptanceOptions;
      return { ...acceptance, members: new Set(members) };
    });
  const byMember = new Map(
    acceptances.flatMap((acceptance) => [...acceptance.members].map((id) => [id, acceptance])),
  );
  const changed = db.raw
    .prepare<[number, number]>(
      `SELECT 1 FROM main.changes c INDEXED BY changes_row WHERE c.entity = 'members' AND c.row_id = ?
         AND c.id > ? AND c.field IN (${CONFIRMED_FIELDS}) LIMIT 1`,
    )
    .pluck();
  return (ids) => {
    const acceptance = byMember.get(ids[0] ?? 0);
    if (acceptance === undefined) return undefined;
    const { id, lastChange, members } = acceptance;
    const isUnchanged = (member: number) =>
      members.has(member) && changed.get(member, lastChange) === undefined;
    return ids.every(isUnchanged) ? id : undefined;
  };
}

const MOST_PERSONS = 100_000;

function openMemberships(db: Connection) {
  const read = db.raw.prepare<[number], ContradictoryMember>(
    `SELECT ${FOUND_MEMBER}, m.gender, m.date_of_birth AS dateOfBirth, m.mobile
     FROM main.members m CROSS JOIN main.cooperatives c ON c.id = m.cooperative_id WHERE m.id = ?`,
  );
  return (ids: readonly number[]) => ids.map((id) => read.get(id) as ContradictoryMember);
}

const contradictionsWithin = (memberships: readonly Described[]): string[] =>
  contradictionsBetween(memberships, memberships, gravelyContradict);

/** SELECT of the persons with several memberships, each person as a JSON array of member ids. */
const OF_ONE_PERSON = `SELECT json_group_array(id) FROM main.members INDEXED BY members_person
  GROUP BY identity_card HAVING count(*) > 1`;

/** @param cooperativeCode restricts the result to persons with a membership in this cooperative */
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
      if (
        cooperativeCode !== undefined &&
        !members.some((member) => member.cooperativeCode === cooperativeCode)
      )
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
