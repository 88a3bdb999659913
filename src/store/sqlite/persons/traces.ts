/** Under what persons stand in the access ledger: numbers and ids of members, former ones too. */
import type { KnownNumber, PersonTraces } from '../../ports/journal/held-data.ts';
import type { Connection } from '../engine/connection.ts';
import { ERASED_STATUS } from '../identity/erased-rows.ts';
import { MERGED_MEMBERS, REPLACED_NUMBERS, redirectSql } from '../identity/former-keys.ts';
import { findErasure } from '../identity/identity-hash.ts';
import { identifyPerson, listOf } from './identify.ts';

export function findTraces(db: Connection, given: string): PersonTraces {
  const person = identifyPerson(db, given);
  const erasedAt = findErasure(db, given);
  if (person === undefined)
    return { identityCards: [given], memberIds: [], cooperativeIds: [], since: undefined, erasedAt };
  const rows = listOf(person.rows);
  /** Also of rows that are gone, such as merged ones. */
  const values = (column: string) => `SELECT ${column} AS value FROM main.members WHERE id IN (${rows})
    ${['old', 'new']
      .map(
        (side) => `UNION SELECT ${side} FROM main.changes WHERE entity = 'members' AND row_id IN (${rows})
          AND field = '${column}' AND ${side} IS NOT NULL`,
      )
      .join(' ')}`;
  return {
    identityCards: [...new Set([given, ...person.numbers])],
    memberIds: person.rows,
    cooperativeIds: db.values<number>(values('cooperative_id')),
    since: db.value<number>(`SELECT min(value) FROM (${values('created_at')})`),
    erasedAt,
  };
}

/** What an import or a correction has replaced without a redirect is in the history. */
const KNOWN_NUMBERS = `
  SELECT DISTINCT identity_card AS number, identity_card AS current FROM main.members
    WHERE status <> '${ERASED_STATUS}'
  UNION ALL SELECT old, new FROM main.${REPLACED_NUMBERS.inForce}
  UNION ALL SELECT c.old, m.identity_card FROM main.changes c CROSS JOIN main.members m ON m.id = c.row_id
    WHERE c.entity = 'members' AND c.field = 'identity_card' AND c.old IS NOT NULL
      AND m.status <> '${ERASED_STATUS}'`;

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
