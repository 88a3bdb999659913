/** Under what persons stand in the access ledger: numbers and ids of members, former ones too. */
import type { KnownNumber, OtherHolder, PersonTraces } from '../../contract/journal/held-data.ts';
import type { Connection } from '../engine/connection.ts';
import { MERGED_MEMBERS, REPLACED_NUMBERS, redirectSql } from '../identity/former-keys.ts';
import { findErasure } from '../identity/identity-hash.ts';
import { ERASED_STATUS } from '../schema/counts.ts';
import { identifyPerson, listOf } from './identify.ts';

export function findTraces(db: Connection, given: string): PersonTraces {
  const person = identifyPerson(db, given);
  const erasedAt = findErasure(db, given);
  if (person === undefined) {
    return {
      identityCards: [given],
      otherHolders: otherHolders(db, [given], []),
      memberIds: [],
      cooperativeIds: [],
      since: undefined,
      erasedAt,
    };
  }
  const rows = listOf(person.rows);
  /** Also of rows that are gone, such as merged ones. */
  const values = (column: string) => `SELECT ${column} AS value FROM main.members WHERE id IN (${rows})
    ${['old', 'new']
      .map(
        (side) => `UNION SELECT ${side} FROM main.changes WHERE entity = 'members' AND row_id IN (${rows})
          AND field = '${column}' AND ${side} IS NOT NULL`,
      )
      .join(' ')}`;
  const identityCards = [...new Set([given, ...person.numbers, ...person.mistaken])];
  return {
    identityCards,
    otherHolders: otherHolders(db, identityCards, person.rows),
    memberIds: person.rows,
    cooperativeIds: db.values<number>(values('cooperative_id')),
    since: db.value<number>(`SELECT min(value) FROM (${values('created_at')})`),
    erasedAt,
  };
}

const IS_NUMBER = "c.entity = 'members' AND c.field = 'identity_card'";

/** When each row began and stopped having its numbers. */
const HOLDERS = `
  SELECT c.row_id AS memberId, c.old AS identityCard, c.at AS until,
    coalesce(lag(c.at) OVER (PARTITION BY c.row_id ORDER BY c.id),
      (SELECT created_at FROM main.members WHERE id = c.row_id),
      (SELECT old FROM main.changes
       WHERE entity = 'members' AND row_id = c.row_id AND field = 'created_at' AND old IS NOT NULL), 0
    ) AS since
  FROM main.changes c WHERE ${IS_NUMBER} AND c.row_id IN (SELECT id FROM others)
  UNION ALL SELECT m.id, m.identity_card, NULL, coalesce(
      (SELECT c.at FROM main.changes c WHERE ${IS_NUMBER} AND c.row_id = m.id ORDER BY c.id DESC LIMIT 1),
      m.created_at)
  FROM main.members m WHERE m.id IN (SELECT id FROM others)`;

function otherHolders(
  db: Connection,
  identityCards: readonly string[],
  own: readonly number[],
): OtherHolder[] {
  const numbers = listOf(identityCards);
  return db.rows<OtherHolder>(
    `WITH others (id) AS (
       SELECT id FROM main.members WHERE identity_card IN (${numbers})
       UNION SELECT c.row_id FROM main.changes c WHERE ${IS_NUMBER} AND c.old IN (${numbers})
       EXCEPT VALUES ${[0, ...own].map((id) => `(${id})`).join(', ')})
     SELECT identityCard, memberId, since, until FROM (${HOLDERS}) WHERE identityCard IN (${numbers})`,
  );
}

/** What an import or a correction has replaced without a redirect is in the history. */
const KNOWN_NUMBERS = `
  SELECT * FROM (
    SELECT c.old AS number, m.identity_card AS current, c.at AS until
    FROM main.changes c CROSS JOIN main.members m ON m.id = c.row_id
    WHERE ${IS_NUMBER} AND c.old IS NOT NULL AND m.status <> '${ERASED_STATUS}' ORDER BY c.at)
  UNION ALL SELECT old, new, NULL FROM main.${REPLACED_NUMBERS.inForce}
  UNION ALL SELECT DISTINCT identity_card, identity_card, NULL FROM main.members
    WHERE status <> '${ERASED_STATUS}'`;

export const listNumbers = (db: Connection): Iterable<KnownNumber> =>
  db.raw.prepare(KNOWN_NUMBERS).iterate() as Iterable<KnownNumber>;

export function findNumbers(db: Connection, memberIds: Iterable<number>): Map<number, string> {
  const find = db.raw
    .prepare(
      `SELECT identity_card FROM main.members
       WHERE id = coalesce((${redirectSql(MERGED_MEMBERS, '@id')}), @id) AND status <> '${ERASED_STATUS}'`,
    )
    .pluck();
  const numbers = new Map<number, string>();
  for (const id of memberIds) {
    const number = find.get({ id }) as string | undefined;
    if (number !== undefined) numbers.set(id, number);
  }
  return numbers;
}
