/** Who somebody is: the rows and the national IDs of a person, and the kept responses about them. */
import type { Connection } from '../engine/connection.ts';
import { MERGED_MEMBERS, REPLACED_NUMBERS, redirectOf, redirectSql } from '../identity/former-keys.ts';
import { ownedIdsSql } from '../schema/tables.ts';

export interface Person {
  readonly identityCard: string;
  /** The ids of the memberships. */
  readonly members: readonly number[];
  /** These, and the ids of members that were merged into them. */
  readonly rows: readonly number[];
  /** Every national ID under which the person was registered, but for those that somebody else has now. */
  readonly numbers: readonly string[];
  /** Those that somebody else has now: they were a mistake. */
  readonly mistaken: readonly string[];
}

/** A list for an SQL text. @param values ids, or national IDs */
export const listOf = (values: readonly (string | number)[]): string =>
  values.map((value) => (typeof value === 'number' ? value : `'${value}'`)).join(', ');

/** The ids of a person's memberships, in order. */
const membersOf = (db: Connection, identityCard: string): number[] =>
  db.values<number>('SELECT id FROM main.members WHERE identity_card = ? ORDER BY id', [identityCard]);

/** The ids of members that were merged into these. */
const mergedInto = (db: Connection, members: readonly number[]): number[] =>
  db.values<number>(
    `SELECT DISTINCT id FROM main.${MERGED_MEMBERS.table} WHERE into_id IN (${listOf(members)})`,
  );

/** Numbers that lead to this one. */
export const formerNumbers = (db: Connection, identityCard: string): string[] =>
  db.values<string>(
    `SELECT old FROM main.${REPLACED_NUMBERS.table} WHERE new = ? AND ended_by IS NULL
     ORDER BY correction_id, old`,
    [identityCard],
  );

/**
 * @param given the current national ID, or one that leads to it
 * @returns undefined when nobody has it
 */
export function identifyPerson(db: Connection, given: string): Person | undefined {
  const identityCard = redirectOf<string>(db, REPLACED_NUMBERS, given) ?? given;
  const members = membersOf(db, identityCard);
  return members.length === 0 ? undefined : personOf(db, identityCard, members);
}

/** The person that these memberships are of. @param identityCard their current national ID */
export function personOf(db: Connection, identityCard: string, members: readonly number[]): Person {
  const rows = [...members, ...mergedInto(db, members)];
  const recorded = (column: 'old' | 'new') => `SELECT ${column} FROM main.changes
    WHERE entity = 'members' AND field = 'identity_card' AND row_id IN (${listOf(rows)})
      AND ${column} IS NOT NULL`;
  const ofRows = db.values<string>(`${recorded('old')} UNION ${recorded('new')}`);
  const all = new Set([identityCard, ...formerNumbers(db, identityCard), ...ofRows]);
  const isOfAnother = db.raw.prepare(OF_ANOTHER.replaceAll('%', listOf(members)));
  const mistaken = [...all].filter((number) => isOfAnother.get({ number }) !== undefined);
  const numbers = [...all].filter((number) => !mistaken.includes(number));
  return { identityCard, members, rows, numbers, mistaken };
}

/** A number that finds somebody else was a mistake in these rows, and stays theirs. */
const OF_ANOTHER = `SELECT 1 FROM main.members WHERE identity_card = @number AND id NOT IN (%)
  UNION ALL SELECT 1 FROM main.members m
  WHERE m.identity_card = (${redirectSql(REPLACED_NUMBERS, '@number')}) AND m.id NOT IN (%)`;

/** A new entry has no address: the response is known by its id and a field that no other response has. */
const ENTRY_RESPONSES = [
  { entity: 'production', field: 'delivered_at' },
  { entity: 'savings', field: 'transacted_at' },
] as const;

/** FROM and WHERE of the responses about a person: by what they have created, and by the numbers in them. */
export function keptResponsesSql({ rows, numbers }: Person): string {
  const loans = `SELECT id FROM main.loans WHERE member_id IN (${listOf(rows)})`;
  const created = [
    ...rows.map((id) => `SELECT '/members/${id}' AS path`),
    `SELECT '/loans/' || id FROM (${loans})`,
    `SELECT '/payments/' || id FROM main.payments WHERE loan_id IN (${loans})`,
  ];
  const named = numbers.map((number) => ` OR instr(body, '${number}') > 0`).join('');
  const entries = ENTRY_RESPONSES.map(
    ({ entity, field }) =>
      ` OR location IS NULL AND body ->> '$.${field}' IS NOT NULL
        AND CAST(body ->> '$.id' AS INTEGER) IN (${ownedIdsSql(entity, listOf(rows))})`,
  ).join('');
  return `main.idempotent_responses WHERE EXISTS (SELECT 1 FROM (${created.join(' UNION ALL ')})
      WHERE substr(location, -length(path)) = path)${named}${entries}`;
}
